/**
 * Edits as models write them, each with a small mistake, and the file that was meant. The hunks are generated: from
 * places in the source files of installed packages, whose versions the lockfile fixes, some lines are taken and changed,
 * as an edit would. So the surroundings, the indentation and the repetitions are those of real code; the changes are
 * not.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "../src/testing/random.ts";

export interface CorpusEdit {
  readonly file: string;
  readonly old: string;
  readonly new: string;
  /** The file as it was meant; undefined when the edit must be refused. */
  readonly wanted: string | undefined;
}

/** A place in a file, and the lines that stand there afterwards. */
interface Hunk {
  readonly before: readonly string[];
  readonly old: readonly string[];
  readonly new: readonly string[];
  readonly after: readonly string[];
}

type Mistake = (hunk: Hunk, draw: (below: number) => number) => CorpusEdit | undefined;

const joined = (...parts: readonly (readonly string[])[]): string => parts.flat().join("\n");
const fileOf = ({ before, old, after }: Hunk): string => joined(before, old, after);
const wantedOf = ({ before, new: now, after }: Hunk): string => joined(before, now, after);

/** A mistake in what the model wrote, in both of its texts. */
function written(change: (lines: readonly string[], hunk: Hunk) => string | undefined): Mistake {
  return (hunk) => {
    const [old, now] = [change(hunk.old, hunk), change(hunk.new, hunk)];
    if (old === undefined || now === undefined) return undefined;
    return { file: fileOf(hunk), wanted: wantedOf(hunk), old, new: now };
  };
}

/** The model wrote everything well, and the file is another one than it seems. */
function inFile(change: (lines: readonly string[], draw: (below: number) => number) => readonly string[]): Mistake {
  return (hunk, draw) => {
    const changed: Hunk = {
      before: change(hunk.before, draw),
      old: change(hunk.old, draw),
      new: change(hunk.new, draw),
      after: change(hunk.after, draw),
    };
    if (joined(changed.old) === joined(hunk.old)) return undefined;
    return { file: fileOf(changed), wanted: wantedOf(changed), old: joined(hunk.old), new: joined(hunk.new) };
  };
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? "";
const filled = (lines: readonly string[]): string[] => lines.filter((line) => line.trim() !== "");

function commonIndent(lines: readonly string[]): string {
  const indents = filled(lines).map(indentOf);
  const shortest = indents.reduce((a, b) => (b.length < a.length ? b : a), indents[0] ?? "");
  return indents.every((indent) => indent.startsWith(shortest)) ? shortest : "";
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const TYPOGRAPHIC: Readonly<Record<string, string>> = { "'": "\u2019", '"': "\u201d", "-": "\u2013" };

/** How models get an edit slightly wrong. */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  "none: exact": written((lines) => joined(lines)),
  "a newline too many at the ends": written((lines) => `\n${joined(lines)}\n\n`),
  "indentation left out": written((lines, { old, new: now }) => {
    const common = commonIndent([...old, ...now]);
    return common === ""
      ? undefined
      : joined(lines.map((line) => line.slice(line.startsWith(common) ? common.length : 0)));
  }),
  "indentation of two more": written((lines) => joined(lines.map((line) => (line.trim() === "" ? line : `  ${line}`)))),
  // Copied from behind the indentation, in both texts.
  "first line without indentation": written((lines, { old }) => {
    const indent = indentOf(old[0] ?? "");
    return indent === "" || lines[0]?.startsWith(indent) !== true ? undefined : joined(lines).slice(indent.length);
  }),
  "spaces for the file's tabs": (hunk) => {
    const all = [...hunk.before, ...hunk.old, ...hunk.new, ...hunk.after];
    // Only where one width explains every indentation does the file with tabs stay the same code.
    const width = [4, 2].find((one) =>
      all.every((line) => indentOf(line).length % one === 0 && !line.startsWith("\t")),
    );
    if (width === undefined || indentOf(filled(hunk.old)[0] ?? "") === "") return undefined;
    const tabs = (lines: readonly string[]): string[] =>
      lines.map((line) => `${"\t".repeat(indentOf(line).length / width)}${line.trimStart()}`);
    const changed = { before: tabs(hunk.before), old: tabs(hunk.old), new: tabs(hunk.new), after: tabs(hunk.after) };
    return { file: fileOf(changed), wanted: wantedOf(changed), old: joined(hunk.old), new: joined(hunk.new) };
  },
  "LF for the file's CR LF": inFile((lines) => lines.map((line) => `${line}\r`)),
  "trailing blanks in the file": inFile((lines, draw) => lines.map((line) => (draw(3) === 0 ? `${line}  ` : line))),
  "blanks in blank lines": inFile((lines) => lines.map((line) => (line === "" ? "    " : line))),
  "typographic quotes and dashes": written((lines) => {
    const text = joined(lines);
    const changed = text.replaceAll(/['"-]/g, (character) => TYPOGRAPHIC[character] ?? character);
    return changed === text ? undefined : changed;
  }),
  "escaped twice": written((lines, { old }) =>
    escaped(joined(old)) === joined(old) ? undefined : escaped(joined(lines)),
  ),
  "a blank line left out": written((lines, { old }) => {
    const gap = old.findIndex((line, index) => line.trim() === "" && index > 0 && index < old.length - 1);
    const blank = lines.findIndex((line, index) => line.trim() === "" && index > 0 && index < lines.length - 1);
    return gap === -1 || blank === -1 ? undefined : joined(lines.toSpliced(blank, 1));
  }),
};

/** Edits that mean no one place. */
export const UNCLEAR: Readonly<Record<string, Mistake>> = {
  "two places": (hunk) => {
    const file = joined(hunk.before, hunk.old, hunk.after, hunk.old);
    return { file, wanted: undefined, old: joined(hunk.old), new: joined(hunk.new) };
  },
  "a line that is not there": (hunk, draw) => {
    const at = 1 + draw(hunk.old.length - 1);
    const stranger = `${indentOf(hunk.old[at] ?? "")}const stranger = ${draw(1_000_000)};`;
    return {
      file: fileOf(hunk),
      wanted: undefined,
      old: joined(hunk.old.toSpliced(at, 0, stranger)),
      new: joined(hunk.new),
    };
  },
};

/** So many hunks of different files, the same for the same seed and the same packages. */
export function hunks(root: string, count: number, seed: number): Hunk[] {
  const random = seededRandom(seed);
  const draw = (below: number): number => Math.floor(random() * below);
  const files = sourceFiles(root);
  const found: Hunk[] = [];
  for (let tries = 0; found.length < count && tries < count * 50; tries += 1) {
    const path = files[draw(files.length)];
    const hunk = path === undefined ? undefined : hunkOf(readFileSync(join(root, path), "utf8"), draw);
    if (hunk !== undefined) found.push(hunk);
  }
  return found;
}

const PACKAGES = [
  "commander/lib",
  "yaml/dist",
  "undici/lib",
  "zod/src",
  "picocolors",
  "@ai-sdk/openai/src",
  "web-tree-sitter",
];

function sourceFiles(root: string): string[] {
  const patterns = PACKAGES.flatMap((name) => [`node_modules/${name}/**/*.ts`, `node_modules/${name}/**/*.js`]);
  return globSync(patterns, { cwd: root }).sort();
}

function hunkOf(text: string, draw: (below: number) => number): Hunk | undefined {
  if (text.includes("\r") || text.length > 200_000 || /[\u2010-\u2015\u2018-\u201f\u2212\u00a0]/.test(text))
    return undefined;
  const lines = text.split("\n");
  const size = 2 + draw(9);
  const at = draw(Math.max(1, lines.length - size));
  const old = lines.slice(at, at + size);
  if (filled(old).length < 2 || old.length < size || old[0]?.trim() === "" || old.at(-1)?.trim() === "")
    return undefined;
  if (old.some((line) => line !== line.trimEnd())) return undefined;
  const block = joined(old);
  if (text.split(block).length !== 2 || filled(old).join("").length < 20) return undefined;
  const now = changedLines(old, draw);
  return { before: lines.slice(0, at), old, new: now, after: lines.slice(at + size) };
}

/** One to three small changes: a line replaced, added or removed. */
function changedLines(old: readonly string[], draw: (below: number) => number): string[] {
  let lines = [...old];
  for (let change = 0; change <= draw(3); change += 1) {
    const at = draw(lines.length);
    const line = lines[at] ?? "";
    if (line.trim() === "") continue;
    const indent = indentOf(line);
    const kind = draw(3);
    if (kind === 0) lines = lines.with(at, line.replace(/(\w+)(?=\W*$)/, "$1Changed"));
    else if (kind === 1)
      lines = lines.toSpliced(at + 1, 0, `${indent}call("new", ${draw(1000)});`, `${indent}  .then(done)`);
    else if (lines.length > 2) lines = lines.toSpliced(at, 1);
  }
  return joined(lines) === joined(old) ? [...old, `${indentOf(old.at(-1) ?? "")}added(${draw(1000)});`] : lines;
}
