/** A diff with colors and the changed words of a line, and its files as a table. */
import type * as z from "zod";
import type { PlanDiffFacts } from "../../app/queries/diff-facts.ts";
import { parsePatch, type PatchFile, type PatchHunk } from "../../domain/text/git-patch.ts";
import { sequenceDiff } from "../../domain/text/sequence-diff.ts";
import { painter, type Screen } from "../terminal/render.ts";
import { fit, joined, type Text } from "../terminal/terminal-text.ts";
import { toned, type Element, type Tone } from "../terminal/view.ts";

export type DiffFacts = z.output<typeof PlanDiffFacts>;
type ChangedFile = DiffFacts["files"][number];

const CHANGE_TONES = { added: "good", deleted: "bad", modified: "warn", mode: "dim" } as const;

/** As git counts them: a renamed file is one. */
export function shownFiles(files: readonly ChangedFile[]): ChangedFile[] {
  const sources = new Set(
    files.flatMap(({ resource, renamedFrom }) => (renamedFrom === null ? [] : [`${resource}\n${renamedFrom}`])),
  );
  return files.filter(({ resource, path, change }) => change !== "deleted" || !sources.has(`${resource}\n${path}`));
}

export function fileTable(files: readonly ChangedFile[]): Element {
  return {
    kind: "table",
    title: "Changes",
    columns: [{ keep: "Path" }, "Resource", "Change", "+", "−", "Steps"],
    rows: shownFiles(files).map((file) => [
      file.renamedFrom === null ? file.path : `${file.renamedFrom} → ${file.path}`,
      file.resource,
      file.renamedFrom === null ? toned(file.change, CHANGE_TONES[file.change]) : toned("renamed", "warn"),
      file.binary ? "binary" : toned(String(file.insertions), "good"),
      file.binary ? "" : toned(String(file.deletions), "bad"),
      file.steps.join(", "),
    ]),
    empty: "No changes.",
  };
}

/** The lines below the header of a file (without a hunk) or of a hunk (its number in the file). */
export type Remarks = (file: PatchFile, hunk: number | undefined) => readonly string[];

/** For a person, the bytes of a binary file say nothing; `exact`: a program reads it. */
export function colored(
  patch: string,
  screen: Screen,
  { remarks = () => [], exact = true }: { readonly remarks?: Remarks; readonly exact?: boolean } = {},
): Text {
  const paint = painter(screen);
  const lines: Text[] = parsePatch(patch).flatMap((file) => [
    ...headerLines(file, exact).map((line) => paint(lineEnd(line, ""), headerTone(line))),
    ...remarks(file, undefined).map((line) => paint(`  ${line}`, "dim")),
    ...file.hunks.flatMap((hunk, index) => [
      paint(lineEnd(hunk.header, ""), "dim"),
      ...remarks(file, index + 1).map((line) => paint(`  ${line}`, "dim")),
      ...hunkLines(hunk, screen),
    ]),
  ]);
  return lines.length === 0 ? "" : [...joined(lines, "\n"), "\n"];
}

function headerLines({ header, isBinary }: PatchFile, exact: boolean): readonly string[] {
  if (!isBinary || exact) return header;
  const at = header.indexOf("GIT binary patch");
  return [...header.slice(0, at), "Binary file: --output FILE writes a patch that has its bytes."];
}

function headerTone(line: string): Tone {
  return /^(?:diff |\+\+\+|---)/.test(line) ? "strong" : "dim";
}

/** Lines that replace as many others show which words changed. */
export function hunkLines({ lines }: Pick<PatchHunk, "lines">, screen: Screen): Text[] {
  const paint = painter(screen);
  const drawn: Text[] = lines.map((line) => {
    const tone = line.startsWith("+") ? "good" : line.startsWith("-") ? "bad" : undefined;
    return tone === undefined ? lineEnd(line, "") : paint(lineEnd(line, "^M"), tone);
  });
  if (paint("", "good") === "") return drawn;
  for (const [from, count] of replacedRuns(lines)) {
    for (let index = 0; index < count; index += 1) {
      const [old = "", now = ""] = [lines[from + index], lines[from + count + index]];
      const words = changedWords(lineEnd(old, "^M").slice(1), lineEnd(now, "^M").slice(1));
      if (words === undefined) continue;
      drawn[from + index] = [
        paint("-", "bad"),
        ...words.old.map((part) => paint(part.text, part.changed ? "bad word" : "bad")),
      ];
      drawn[from + count + index] = [
        paint("+", "good"),
        ...words.now.map((part) => paint(part.text, part.changed ? "good word" : "good")),
      ];
    }
  }
  return drawn;
}

/** Where as many lines are added as were removed just above, and how many. */
function replacedRuns(lines: readonly string[]): (readonly [from: number, count: number])[] {
  const signs = lines.map((line) => line.charAt(0)).join("");
  return [...signs.matchAll(/(-+)(\++)/g)].flatMap(({ index, 1: old = "", 2: now = "" }) =>
    old.length === now.length ? [[index, old.length] as const] : [],
  );
}

interface Words {
  readonly text: string;
  readonly changed: boolean;
}

/** Longer lines are data, in which marks would not help. */
const LONGEST_LINE = 1_000;

/** Undefined where most of the line is another one: then marks would say nothing. */
function changedWords(old: string, now: string): { old: Words[]; now: Words[] } | undefined {
  if (old.length > LONGEST_LINE || now.length > LONGEST_LINE) return undefined;
  const [a, b] = [wordsOf(old), wordsOf(now)];
  const replaced = sequenceDiff(a, b);
  const size = (words: readonly string[]): number => words.join("").replaceAll(/\s/g, "").length;
  const common = size(a) - replaced.reduce((sum, { oldFrom, oldTo }) => sum + size(a.slice(oldFrom, oldTo)), 0);
  if (common * 3 < Math.max(size(a), size(b))) return undefined;
  return {
    old: parts(
      a,
      replaced.map(({ oldFrom, oldTo }) => [oldFrom, oldTo] as const),
    ),
    now: parts(
      b,
      replaced.map(({ newFrom, newTo }) => [newFrom, newTo] as const),
    ),
  };
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_\p{M}]+|\s+|./gu) ?? [];
}

function parts(words: readonly string[], changed: readonly (readonly [number, number])[]): Words[] {
  const found: Words[] = [];
  let at = 0;
  const add = (to: number, isChanged: boolean): void => {
    if (to > at) found.push({ text: words.slice(at, to).join(""), changed: isChanged });
    at = to;
  };
  for (const [from, to] of changed) {
    add(from, false);
    add(to, true);
  }
  add(words.length, false);
  return found;
}

export function creditText({ step, tool, why }: NonNullable<DiffFacts["hunks"]>[number]["by"][number]): string {
  const reason = why === null ? "" : `: ${fit(why, LONGEST_REASON)}`;
  return `by ${step}${tool === null ? "" : ` › ${tool}`}${reason}`;
}

const LONGEST_REASON = 200;

/**
 * A line that ends in CR LF, as git shows it: a changed line end may be the whole change, elsewhere it says nothing.
 */
function lineEnd(line: string, mark: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) + mark : line;
}
