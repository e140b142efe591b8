/**
 * Where a text that is not in a file would most likely belong, so that a model can correct its edit without reading the
 * whole file again.
 */
import { plainTypography } from "./typography.ts";

export interface NearPlace {
  /** Number of the first line, from 1. */
  readonly line: number;
  /** The lines of the file beside those that were given. */
  readonly lines: readonly { readonly there: string; readonly given: string; readonly same: boolean }[];
}

const MOST = 3;
const LINES_SHOWN = 12;

export function nearestPlaces(text: string, wanted: string): NearPlace[] {
  const there = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const given = wanted
    .replace(/^(?:[ \t]*\r?\n)+|\s+$/g, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
  const scores = startScores(there.map(foldedLine), given.map(foldedLine));
  const best = [...scores].sort(([a, x], [b, y]) => y - x || a - b);
  const taken: number[] = [];
  for (const [start, score] of best) {
    if (score <= 0 || taken.length === MOST) break;
    if (taken.every((other) => Math.abs(other - start) >= given.length)) taken.push(start);
  }
  return taken.map((start) => ({
    line: start + 1,
    lines: given.slice(0, LINES_SHOWN).map((line, index) => {
      const own = there[start + index] ?? "";
      return { there: own, given: line, same: own === line };
    }),
  }));
}

function foldedLine(line: string): string {
  return plainTypography(line).replaceAll(/\s+/g, " ").trim();
}

/** For each line at which the text might begin, how much of it would be there. */
function startScores(there: readonly string[], given: readonly string[]): ReadonlyMap<number, number> {
  const scores = new Map<number, number>();
  const vote = (start: number, weight: number): void => {
    if (start >= 0 && start < there.length) scores.set(start, (scores.get(start) ?? 0) + weight);
  };
  const words = given.map(wordsOf);
  const known = new Map(given.flatMap((line, index) => (line === "" ? [] : [[line, index] as const])));
  for (const [at, line] of there.entries()) {
    if (line === "") continue;
    const same = known.get(line);
    // A long line says more than a bracket.
    if (same !== undefined) vote(at - same, Math.min(line.length, 40));
    const own = wordsOf(line);
    for (const [index, wanted] of words.entries()) {
      const likeness = likenessOf(own, wanted);
      if (likeness >= 0.5) vote(at - index, likeness * 10);
    }
  }
  return scores;
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.match(/[\p{L}\p{N}_]+/gu) ?? []);
}

function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const word of a) if (b.has(word)) common += 1;
  return (2 * common) / (a.size + b.size);
}

/** For a model: each line of the file with its number, and where `old` differs, what `old` has. */
export function placesText(places: readonly NearPlace[]): string {
  return places
    .map(({ line, lines }) => {
      const shown = lines.flatMap(({ there, given, same }, index) => {
        const own = `${line + index}→${there}`;
        return same ? [own] : [own, `   yours: ${given}`];
      });
      return `lines ${line}–${line + lines.length - 1}:\n${shown.join("\n")}`;
    })
    .join("\n");
}
