/**
 * An index that was rewritten here must be the one that git would have written, and one that is not understood is left
 * to git.
 */
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { git } from "../testing/git-repository.ts";
import { seededRandom } from "../testing/random.ts";
import { changeIndex, parseIndex, type IndexFile, type NewEntry } from "./index-file.ts";

const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

function repositoryWith(paths: readonly string[], format: "sha1" | "sha256" = "sha1"): string {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-test-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  git(root, "init", "--quiet", `--object-format=${format}`);
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${path}\n`);
  }
  git(root, "add", "--all");
  git(root, "commit", "--quiet", "--message=first");
  return root;
}

function read(root: string): IndexFile | undefined {
  const file = join(root, ".git", "index");
  return parseIndex(readFileSync(file), Math.floor(lstatSync(file).mtimeMs / 1000));
}

function change(root: string, changes: ReadonlyMap<string, NewEntry | undefined>): Buffer | undefined {
  const index = read(root);
  if (index === undefined) throw new Error("the index was not understood");
  return changeIndex(index, changes, ({ path, oid }) => heldIn(root, path, oid));
}

/** As git would compute it. */
function heldIn(root: string, path: string, oid: string): boolean {
  return git(root, "hash-object", "--no-filters", path).trim() === oid;
}

function entry(mode: string, oid: string, marks: Partial<NewEntry> = {}): NewEntry {
  return { mode, oid, stat: undefined, skipped: false, assumed: false, ...marks };
}

/** Everything that can be asked about an index; the tree is made with what the index remembers of trees. */
function factsOf(root: string): string {
  return [git(root, "ls-files", "-z", "-s", "-v"), git(root, "write-tree")].join("\n");
}

/** Git's own result of the same changes. */
function byGit(root: string, changes: ReadonlyMap<string, NewEntry | undefined>): string {
  for (const [path, now] of changes) if (now === undefined) git(root, "update-index", "--force-remove", path);
  for (const [path, now] of changes)
    if (now !== undefined) git(root, "update-index", "--add", "--cacheinfo", `${now.mode},${now.oid},${path}`);
  return factsOf(root);
}

const NAMES = ["a", "a.b", "a-b", "b", "ä", "c d", "z", "ab"];

describe.each(["sha1", "sha256"] as const)("with %s names", (format) => {
  test(`entries come, change and go as git would have it (seed ${SEED})`, () => {
    const random = seededRandom(SEED);
    const pick = <T>(list: readonly T[]): T => list[Math.trunc(random() * list.length)] as T;
    const paths = [...new Set(Array.from({ length: 60 }, () => `d/${pick(NAMES)}/${pick(NAMES)}/${pick(NAMES)}.txt`))];
    const root = repositoryWith([...paths, "top.txt", `${"deep/".repeat(200)}x`], format);
    const file = join(root, ".git", "index");
    const oids = git(root, "ls-files", "-s")
      .split("\n")
      .flatMap((line) => line.split(" ")[1] ?? []);
    for (let round = 0; round < 8; round += 1) {
      const changes = new Map<string, NewEntry | undefined>();
      for (let one = 0; one < 6; one += 1) {
        const gone = random() < 0.4;
        const path = random() < 0.5 ? pick(paths) : `d/${pick(NAMES)}/${pick(NAMES)}/new-${pick(NAMES)}`;
        changes.set(path, gone ? undefined : entry(pick(["100644", "100755", "120000"]), pick(oids)));
      }
      const made = change(root, changes);
      copyFileSync(file, `${file}.kept`);
      const expected = byGit(root, changes);
      copyFileSync(`${file}.kept`, file);
      if (made === undefined) throw new Error("nothing was in the way");
      writeFileSync(file, made);
      expect(factsOf(root)).toBe(expected);
      git(root, "fsck", "--cache", "--no-dangling");
    }
  });

  test("a file takes the place of a directory, and the other way round", () => {
    const root = repositoryWith(["dir/a", "dir/b", "file", "other/x"], format);
    const [oid = ""] = git(root, "rev-parse", "HEAD:file").split("\n");
    const changes = new Map([
      ["dir/a", undefined],
      ["dir/b", undefined],
      ["dir", entry("100644", oid)],
      ["file", undefined],
      ["file/below", entry("100644", oid)],
    ]);
    const made = change(root, changes);
    const expected = byGit(root, changes);
    writeFileSync(join(root, ".git", "index"), made ?? "");
    expect(factsOf(root)).toBe(expected);
  });
});

test("a file below a file, or in the place of a directory, is left to git", () => {
  const root = repositoryWith(["dir/a", "file"]);
  const one = entry("100644", git(root, "rev-parse", "HEAD:file").trim());
  expect(change(root, new Map([["file/below", one]]))).toBeUndefined();
  expect(change(root, new Map([["dir", one]]))).toBeUndefined();
  expect(
    change(
      root,
      new Map([
        ["file", one],
        ["file/below", one],
      ]),
    ),
  ).toBeUndefined();
  expect(
    change(
      root,
      new Map([
        ["dir/a", one],
        ["dir", one],
      ]),
    ),
  ).toBeUndefined();
  expect(
    change(
      root,
      new Map([
        ["new", one],
        ["new/below", one],
      ]),
    ),
  ).toBeUndefined();
});

test("marks are read and written", () => {
  const root = repositoryWith(["a", "b", "c"]);
  git(root, "update-index", "--skip-worktree", "a");
  git(root, "update-index", "--assume-unchanged", "b");
  const marks = (read(root)?.entries ?? []).map(({ path, skipped, assumed }) => [path, skipped, assumed]);
  expect(marks).toEqual([
    ["a", true, false],
    ["b", false, true],
    ["c", false, false],
  ]);
  git(root, "update-index", "--no-skip-worktree", "a");
  const oid = git(root, "rev-parse", "HEAD:a").trim();
  const changes = new Map([
    ["c", entry("100644", oid, { skipped: true })],
    ["a", entry("100644", oid, { assumed: true })],
  ]);
  writeFileSync(join(root, ".git", "index"), change(root, changes) ?? "");
  expect(git(root, "ls-files", "-v")).toBe("h a\nh b\nS c\n");
});

test("an entry with the times of its file is not read again; one whose file may have changed unseen is", () => {
  const root = repositoryWith(["mine", "theirs"]);
  const index = join(root, ".git", "index");
  // Long ago, all in one second: only the bytes tell whether a file matches the index.
  const then = 1_000_000_000;
  for (const path of ["mine", "theirs"]) utimesSync(join(root, path), then, then);
  git(root, "update-index", "--refresh");
  utimesSync(index, then, then);
  writeFileSync(join(root, "theirs"), "THEIRS\n");
  utimesSync(join(root, "theirs"), then, then);
  writeFileSync(join(root, "mine"), "new\n");
  const oid = git(root, "hash-object", "-w", "mine").trim();
  const stat = lstatSync(join(root, "mine"), { bigint: true });
  writeFileSync(index, change(root, new Map([["mine", entry("100644", oid, { stat })]])) ?? "");
  // By times alone, which `diff-files` compares.
  expect(git(root, "-c", "core.trustctime=false", "-c", "core.checkStat=minimal", "diff-files", "--name-only")).toBe(
    "theirs\n",
  );
  expect(git(root, "status", "--porcelain")).toBe("M  mine\n M theirs\n");
});

test.each([
  ["version 4", ["update-index", "--index-version", "4"]],
  ["split", ["update-index", "--split-index"]],
  ["with a cache of untracked files", ["update-index", "--force-untracked-cache"]],
])("an index %s is left to git", (_, args) => {
  const root = repositoryWith(["a", "b"]);
  expect(read(root)).toBeDefined();
  git(root, ...args);
  expect(read(root)).toBeUndefined();
});

test("an index that is damaged or empty is left to git", () => {
  const root = repositoryWith(["a"]);
  const bytes = readFileSync(join(root, ".git", "index"));
  for (const at of [2, 5, 30, bytes.byteLength - 3]) {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8((damaged.readUInt8(at) + 1) % 256, at);
    expect(parseIndex(damaged, 0)).toBeUndefined();
  }
  for (const size of [0, 11, 40]) expect(parseIndex(bytes.subarray(0, size), 0)).toBeUndefined();
});
