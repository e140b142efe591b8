/** The part that a model is shown of a file that it has just changed. */
import type { Tier } from "./edit-match.ts";
import { linesOf } from "./read-tool.ts";
import type { SyntaxCheck } from "./syntax-check.ts";

export type ChangedFile = {
  readonly path: string;
  readonly tier: Tier;
  /** The changed lines with those around them, numbered. */
  readonly shown: string;
  /** Where the file does not parse, when it did before. */
  readonly problems: readonly string[];
};

const AROUND = 3;
const LINES_SHOWN = 60;
const LINE_LENGTH = 300;

/** The lines of the ranges (from 1) with some around them, as read_file numbers them. */
export function changedLines(text: string, ranges: readonly (readonly [first: number, last: number])[]): string {
  const lines = linesOf(text);
  const wanted = new Set<number>();
  for (const [first, last] of ranges)
    for (let line = Math.max(1, first - AROUND); line <= Math.min(lines.length, last + AROUND); line += 1)
      wanted.add(line);
  const numbers = [...wanted].sort((a, b) => a - b);
  const shown: string[] = [];
  for (const [index, number] of numbers.slice(0, LINES_SHOWN).entries()) {
    if (index > 0 && number > (numbers[index - 1] ?? 0) + 1) shown.push("…");
    const line = (lines[number - 1] ?? "").replace(/\r$/, "");
    shown.push(`${number}→${line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH).toWellFormed()}…` : line}`);
  }
  if (numbers.length > LINES_SHOWN) shown.push(`[${numbers.length - LINES_SHOWN} more lines]`);
  return shown.join("\n");
}

const PROBLEMS_SHOWN = 5;

/** Problems of a file that had none before: those of a file that never parsed are not the edit's. */
export async function brokenSyntax(
  check: SyntaxCheck | undefined,
  path: string,
  before: string | undefined,
  after: string,
): Promise<string[]> {
  if (check === undefined) return [];
  const now = await check(path, after);
  if (now === undefined || now.length === 0) return [];
  const earlier = before === undefined ? [] : await check(path, before);
  if (earlier === undefined || earlier.length > 0) return [];
  return now.slice(0, PROBLEMS_SHOWN).map(({ line, message }) => `line ${line}: ${message}`);
}
