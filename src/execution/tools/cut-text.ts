/**
 * Long texts with the middle left out. The beginning says what was done and the end how it came out, so of a test run
 * both are needed, and the end more.
 */
const HEAD_SHARE = 0.4;

export interface CutText {
  readonly text: string;
  /** How many lines were left out; 0 when the text is whole. A line that is cut inside counts. */
  readonly leftOut: number;
}

/** At most about `limit` characters of a text, cut at the ends of lines; `note` says what stands in the gap. */
export function cutText(text: string, limit: number, note: (leftOut: number) => string): CutText {
  if (text.length <= limit) return { text, leftOut: 0 };
  const head = headOf(text, Math.floor(limit * HEAD_SHARE));
  const tail = tailOf(text, limit - Math.floor(limit * HEAD_SHARE));
  const between = text.slice(head.length, text.length - tail.length);
  const leftOut = between.split("\n").length - (between.endsWith("\n") ? 1 : 0);
  const gap = `${head === "" || head.endsWith("\n") ? "" : "\n"}${note(leftOut)}\n`;
  return { text: `${head}${gap}${tail}`.toWellFormed(), leftOut };
}

/** Up to the last line that fits; of one line that is too long, as much as fits. */
function headOf(text: string, limit: number): string {
  const end = text.lastIndexOf("\n", limit - 1) + 1;
  return end === 0 ? text.slice(0, limit) : text.slice(0, end);
}

function tailOf(text: string, limit: number): string {
  const first = text.length - limit;
  const begin = text.indexOf("\n", first - 1) + 1;
  return begin === 0 || begin === text.length ? text.slice(first) : text.slice(begin);
}

/** The last lines of a text, for an error that people read. */
export function lastLines(text: string, lines = 20, characters = 4_000): string {
  return text.trimEnd().slice(-characters).split("\n").slice(-lines).join("\n").toWellFormed();
}
