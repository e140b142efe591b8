/**
 * Changes that people made to real code: the words they described each with, the tree before it, and the lines that it
 * touched. Histories of public repositories are made from the versions of packages whose sources are in the registry:
 * two consecutive versions are a change, and the lines that the second adds to the changelog are its description. This
 * project's own history is the other source.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Source } from "../src/context/testing/answer-sets.ts";
import { fetched, sourcesIn, writeSources } from "./corpus.ts";
import type { BenchSize } from "./measure.ts";

/** Lines before the change, counted from 1, both included; of an insertion, the line that it follows. */
export type Hunk = readonly [first: number, last: number];

export interface Change {
  /** The package, or "this project". */
  readonly history: string;
  /** Nothing was tuned on it. */
  readonly heldOut: boolean;
  readonly name: string;
  readonly message: string;
  readonly touched: ReadonlyMap<string, readonly Hunk[]>;
  /** Writes the tree before the change. */
  readonly writeTree: (directory: string) => void;
}

interface PackageHistory {
  readonly name: string;
  readonly heldOut: boolean;
  readonly root: string;
  readonly leaveOut: readonly string[];
  readonly changelog: string;
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** By version. */
  readonly integrity: Readonly<Record<string, string>>;
}

const CHECKOUT = join(import.meta.dirname, "..");
const CODE = "**/*.{ts,tsx,js,mjs,cjs,py}";
const IS_CODE = /\.(?:[cm]?[jt]sx?|py)$/;
const MOST_FILES = 10;
const FEWEST_OWN_FILES = 2;
const LONGEST_MESSAGE = 1_500;

export function changes(size: BenchSize): readonly Change[] {
  if (size === "smoke") return [madeUpChange()];
  const [packages, own] = size === "full" ? [10, 40] : [3, 10];
  const histories = JSON.parse(
    readFileSync(join(import.meta.dirname, "context-history.json"), "utf8"),
  ) as readonly PackageHistory[];
  return [...histories.flatMap((one) => packageChanges(one, packages)), ...ownChanges(own)];
}

/** The latest `count`. */
function packageChanges(history: PackageHistory, count: number): readonly Change[] {
  const { name, heldOut, changelog } = history;
  return history.changes.slice(-count).flatMap(([from, to]) => {
    const [before, after] = [treeOf(history, from), treeOf(history, to)];
    const message = addedLines(join(before.directory, changelog), join(after.directory, changelog));
    const known = new Map(after.sources.map(({ path, text }) => [path, text]));
    const touched = new Map(
      before.sources
        .filter(({ path, text }) => known.has(path) && known.get(path) !== text)
        .map(({ path }) => [path, hunksBetween(join(before.root, path), join(after.root, path))] as const)
        .filter(([path, hunks]) => hunks.length > 0 && !/(?:^|\/)_?version\.[jt]s$/i.test(path)),
    );
    if (message === "" || touched.size === 0 || touched.size > MOST_FILES) return [];
    const writeTree = (directory: string): void => writeSources(before.sources, directory);
    return { history: name, heldOut, name: `${from} to ${to}`, message, touched, writeTree };
  });
}

interface PackageTree {
  readonly directory: string;
  readonly root: string;
  readonly sources: readonly Source[];
}

function treeOf({ name, root, leaveOut, integrity }: PackageHistory, version: string): PackageTree {
  const directory = fetched({ name, version, integrity: integrity[version] ?? "", root: "" });
  const sources = sourcesIn(join(directory, root), CODE, leaveOut).filter(({ path }) => !path.endsWith(".d.ts"));
  return { directory, root: join(directory, root), sources };
}

/** The lines that a changelog got, without headings, links, names and numbers of issues. */
function addedLines(before: string, after: string): string {
  const old = new Set(readFileSync(before, "utf8").split("\n"));
  const added = readFileSync(after, "utf8")
    .split("\n")
    .filter((line) => !old.has(line) && !line.startsWith("#"))
    .join("\n");
  return added
    .replaceAll(/\(\[?#?\d+\]?\([^)]*\)\)/g, "")
    .replaceAll(/\[[`#]?[\da-f#]{3,12}`?\]\([^)]*\)/g, "")
    .replaceAll(/\(?https?:\/\/[^\s)]*\)?/g, "")
    .replaceAll(/Thanks \[@[^\]]*\]!? ?-?/g, "")
    .replaceAll(/\n{2,}/g, "\n")
    .trim()
    .slice(0, LONGEST_MESSAGE);
}

function hunksBetween(before: string, after: string): readonly Hunk[] {
  // It ends with 1 when the files differ.
  const words = ["diff", "--no-index", "--no-color", "-U0", before, after];
  const { stdout } = spawnSync("git", words, { encoding: "utf8", maxBuffer: 1e8 });
  return hunksIn(stdout);
}

function hunksIn(diff: string): readonly Hunk[] {
  return Array.from(diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+/gm), ([, start = "1", length = "1"]) => {
    const first = Math.max(1, Number(start));
    return [first, Math.max(first, first + Number(length) - 1)];
  });
}

/** Every fourth of this project's commits that changed 2 to 10 code files; the latest first. */
function ownChanges(count: number): readonly Change[] {
  if (!existsSync(join(CHECKOUT, ".git"))) return [];
  const commits = git("log", "--no-merges", "--format=%H").trim().split("\n");
  const found: Change[] = [];
  for (const commit of commits.filter((_, at) => at % 4 === 0)) {
    if (found.length >= count) break;
    const touched = touchedBy(commit);
    if (touched.size < FEWEST_OWN_FILES || touched.size > MOST_FILES) continue;
    const message = git("log", "-1", "--format=%B", commit)
      .replaceAll(/^[A-Z][\w-]+-by:.*$/gm, "")
      .trim();
    found.push({
      history: "this project",
      heldOut: false,
      name: commit.slice(0, 9),
      message,
      touched,
      writeTree: (directory) => writeCommit(`${commit}^`, directory),
    });
  }
  return found;
}

function touchedBy(commit: string): ReadonlyMap<string, readonly Hunk[]> {
  const names = git("diff-tree", "--no-commit-id", "-r", "--no-renames", "--diff-filter=M", "--name-only", commit)
    .trim()
    .split("\n")
    .filter((path) => IS_CODE.test(path));
  if (names.length > MOST_FILES) return new Map(names.map((path) => [path, []]));
  return new Map(
    names.map((path) => [path, hunksIn(git("diff", "-U0", "--no-renames", `${commit}^`, commit, "--", path))]),
  );
}

function writeCommit(commit: string, directory: string): void {
  const archive = join(directory, "..", "tree.tar");
  mkdirSync(directory, { recursive: true });
  git("archive", "--format=tar", `--output=${archive}`, commit);
  const { status, stderr } = spawnSync("tar", ["-xf", archive, "-C", directory], { encoding: "utf8" });
  if (status !== 0) throw new Error(`tar failed: ${stderr.slice(-500)}`);
  rmSync(archive);
}

function git(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync("git", ["-C", CHECKOUT, ...words], { encoding: "utf8", maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`git ${words[0]} failed: ${stderr.slice(-500)}`);
  return stdout;
}

/** For a smoke test, which neither fetches anything nor needs a history. */
function madeUpChange(): Change {
  const sources = sourcesIn(join(CHECKOUT, "src", "code-index"), "**/*.ts", ["testing"]);
  return {
    history: "made up",
    heldOut: false,
    name: "made up",
    message: "text search: words in the path of a file weigh more",
    touched: new Map([["search/text-search.ts", [[1, 20]]]]),
    writeTree: (directory) => writeSources(sources, directory),
  };
}
