/**
 * Cuts a text into pieces of about forty lines, at the least indented line near that length that follows a blank line:
 * mostly where a definition ends. It needs no parser, so that texts of every kind are cut alike.
 */
export interface LineRange {
  /** Counted from 1, both included. */
  readonly startLine: number;
  readonly endLine: number;
}

const SHORTEST = 25;
const WANTED = 40;
const LONGEST = 55;

export function passagesOf(lines: readonly string[]): readonly LineRange[] {
  const passages: LineRange[] = [];
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  for (let start = 0; start < last;) {
    const end = last - start <= LONGEST ? last : bestCut(lines, start);
    passages.push({ startLine: start + 1, endLine: end });
    start = end;
  }
  return passages;
}

/** The position of the line that begins the next piece. */
function bestCut(lines: readonly string[], start: number): number {
  let best = start + WANTED;
  let least = Infinity;
  for (let at = start + SHORTEST; at <= start + LONGEST; at += 1) {
    const line = lines[at] ?? "";
    if (line.trim() === "") continue;
    const indent = line.length - line.trimStart().length;
    const cost = indent + (lines[at - 1]?.trim() === "" ? 0 : 4) + Math.abs(at - start - WANTED) / 16;
    if (cost < least) [best, least] = [at, cost];
  }
  return best;
}
