import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { git, makeRepository } from "../../testing/git-repository.ts";
import { IndexMovedError, isIndexMoved, NotIndexedError } from "../model/index-errors.ts";
import { indexFileFor, removeIndex } from "../index/index-database.ts";
import { indexStatus } from "../index/index-status.ts";
import { openScopedIndex } from "../search/open-scoped-index.ts";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

const LEASE = "export class Lease {\n  renew(): void {}\n}\n";

describe("what changed", () => {
  test("a file that is written again while git lists is not taken for gone", async () => {
    using directory = new IndexedDirectory({ "lease.ts": LEASE, "note.txt": "one\n" });
    expect(await directory.sync()).toMatchObject({ files: 2 });
    rmSync(join(directory.root, "lease.ts"));
    const bin = join(directory.home, "bin");
    mkdirSync(bin);
    const real = execFileSync("sh", ["-c", "command -v git"]).toString().trim();
    writeFileSync(
      join(bin, "git"),
      `#!/bin/sh\nsleep 0.3; echo 'export {};' >'${directory.root}/lease.ts'; exec ${real} "$@"\n`,
      { mode: 0o755 },
    );
    vi.stubEnv("PATH", `${bin}:${process.env["PATH"] ?? ""}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await directory.sync()).toMatchObject({ files: 2, changed: 1, removed: 0 });
  });

  test("a file that is larger than is wanted now is a gap, though nothing happened to it", async () => {
    using directory = new IndexedDirectory({ "lease.ts": LEASE, "note.txt": "one\n" });
    // Files that were just written are read again, regardless of their stamps.
    using _ = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    expect(await directory.sync()).toMatchObject({ files: 2, gaps: [] });
    const smaller = await directory.sync({ maxFileSize: 10 });
    expect(smaller).toMatchObject({ files: 1, removed: 1, gaps: [{ path: "lease.ts" }] });
    expect(await directory.sync()).toMatchObject({ files: 2, added: 1, gaps: [] });
  });

  test("is found without reading the rest, and nothing is parsed twice", async () => {
    using directory = new IndexedDirectory({ "lease.ts": LEASE, "note.txt": "one\n" });
    const first = await directory.sync();
    expect(first).toMatchObject({
      files: 2,
      added: 2,
      changed: 0,
      removed: 0,
      parsed: 2,
      gaps: [],
      rebuilt: undefined,
    });
    const second = await directory.sync();
    expect(second).toMatchObject({
      files: 2,
      added: 0,
      changed: 0,
      removed: 0,
      parsed: 0,
      generation: first.generation,
    });

    directory.write("note.txt", "two\n");
    directory.write("copy.ts", LEASE);
    const third = await directory.sync();
    expect(third).toMatchObject({ files: 3, added: 1, changed: 1, removed: 0, parsed: 1 });
    expect(third.generation).toBeGreaterThan(first.generation);

    renameSync(join(directory.root, "copy.ts"), join(directory.root, "moved.ts"));
    rmSync(join(directory.root, "note.txt"));
    expect(await directory.sync()).toMatchObject({ files: 2, added: 1, changed: 0, removed: 2, parsed: 0 });
  });

  test("is not a new time or mode", async () => {
    using directory = new IndexedDirectory({ "lease.ts": LEASE });
    const { generation } = await directory.sync();
    utimesSync(join(directory.root, "lease.ts"), 1_000_000, 1_000_000);
    chmodSync(join(directory.root, "lease.ts"), 0o755);
    expect(await directory.sync()).toMatchObject({ changed: 0, generation });
  });

  test("is found when size and time are the same as before", async () => {
    using directory = new IndexedDirectory({ "note.txt": "one\n" });
    const file = join(directory.root, "note.txt");
    utimesSync(file, 1_000_000, 1_000_000);
    await directory.sync();
    forgetThatItIsNew(directory);
    writeFileSync(file, "two\n");
    utimesSync(file, 1_000_000, 1_000_000);
    using index = await directory.open();
    expect(index.files().map((found) => index.text(found))).toEqual(["two\n"]);
  });

  test("is found when it comes so soon that no time could tell", async () => {
    using directory = new IndexedDirectory({ "note.txt": "one\n" });
    const file = join(directory.root, "note.txt");
    const soon = Date.now() / 1_000 + 3_600;
    utimesSync(file, soon, soon);
    const { generation } = await directory.sync();
    // The file system's clock stands still: the stamp in the index is made to fit the file that was written meanwhile.
    writeFileSync(file, "two\n");
    const { mtimeNs, ctimeNs, ino } = statSync(file, { bigint: true });
    const stamp = [mtimeNs, ctimeNs, ino].map((value) => value.toString(36)).join(" ");
    using database = new DatabaseSync(directory.indexFile);
    expect(database.prepare("UPDATE entries SET stamp = ?").run(stamp).changes).toBe(1);
    expect((await directory.sync()).generation).toBeGreaterThan(generation);
  });

  test("leaves nothing behind of what it replaced", async () => {
    using directory = new IndexedDirectory({ "lease.ts": LEASE });
    await directory.sync();
    directory.write("lease.ts", "export const other = 1;\n");
    await directory.sync();
    using database = new DatabaseSync(directory.indexFile);
    for (const table of ["contents", "bodies", "links", "words", "names"]) {
      expect([table, database.prepare(`SELECT COUNT(*) AS rows FROM ${table}`).get()]).toEqual([table, { rows: 1 }]);
    }
    using index = await directory.open();
    expect(index.definitionsNamed("Lease")).toEqual([]);
    expect(index.searchText(["renew"], 5)).toEqual([]);
    expect(index.searchDefinitions(["lease"], 5)).toEqual([]);
  });
});

describe("which files count", () => {
  test("tracked ones and those git does not ignore; not what lies in another repository", async () => {
    using directory = new IndexedDirectory();
    makeRepository(directory.root);
    directory.write(".gitignore", "*.log\n/out/\n");
    directory.write("kept.log", "tracked although ignored\n");
    git(directory.root, "add", "--force", "kept.log", ".gitignore");
    git(directory.root, "commit", "--quiet", "--message=More");
    directory.write("debug.log", "ignored\n");
    directory.write("out/a.js", "ignored\n");
    directory.write("new.ts", "export const fresh = 1;\n");
    directory.write("gone.ts", "");
    git(directory.root, "add", "gone.ts");
    rmSync(join(directory.root, "gone.ts"));
    makeRepository(join(directory.root, "inner"));
    using index = await directory.open();
    expect(index.files().map(({ path }) => path)).toEqual([".gitignore", "README", "kept.log", "new.ts"]);
    expect(index.gaps()).toEqual([{ resource: "app", path: "inner", reason: "a repository of its own" }]);
  });

  test("a submodule is left out and named", async () => {
    using directory = new IndexedDirectory();
    makeRepository(directory.root);
    const other = makeRepository(join(directory.home, "other"));
    git(directory.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "vendor/other");
    const { gaps } = await directory.sync();
    expect(gaps).toEqual([{ path: "vendor/other", reason: "a repository of its own" }]);
  });

  test("in a plain directory the same rules hold, and installed packages are left out", async () => {
    using directory = new IndexedDirectory({
      ".gitignore": "secret.txt\n",
      "secret.txt": "x",
      "sub/.gitignore": "*.tmp\n",
      "sub/a.tmp": "x",
      "sub/a.ts": "x",
      "node_modules/left-pad/index.js": "x",
      ".git-blame-ignore-revs": "x",
    });
    using index = await directory.open();
    expect(index.files().map(({ path }) => path)).toEqual([
      ".git-blame-ignore-revs",
      ".gitignore",
      "sub/.gitignore",
      "sub/a.ts",
    ]);
  });

  test("a part of a checkout follows its rules; a directory that the checkout ignores stands for itself", async () => {
    using directory = new IndexedDirectory();
    makeRepository(directory.root);
    directory.write(".gitignore", "*.log\n/build/\n");
    directory.write("part/a.log", "x");
    directory.write("part/a.ts", "x");
    directory.write("build/b.log", "x");
    for (const [part, expected] of [
      ["part", ["a.ts"]],
      ["build", ["b.log"]],
    ] as const) {
      const root = join(directory.root, part);
      const indexFile = indexFileFor(directory.home, root);
      const { generation } = await directory.sync({ root, indexFile });
      using index = openScopedIndex({ trees: [directory.tree(generation, { index: indexFile })] });
      expect(index.files().map(({ path }) => path)).toEqual(expected);
    }
  });

  test("binary files are left out silently, too large ones are named, unless a larger limit is given", async () => {
    using directory = new IndexedDirectory({
      "logo.png": "not really",
      "data.weird": Buffer.from([1, 0, 2]),
      "large.txt": "x".repeat(1_048_577),
      "just.txt": "x".repeat(1_048_576),
    });
    const { files, binaries, gaps } = await directory.sync();
    expect({ files, binaries, gaps }).toEqual({
      files: 1,
      binaries: 2,
      gaps: [{ path: "large.txt", reason: "larger than 1 MiB" }],
    });
    expect(await directory.sync({ maxFileSize: 2_000_000 })).toMatchObject({ files: 2, added: 1, gaps: [] });
    expect(await directory.sync({ maxFileSize: 1_048_576 })).toMatchObject({ files: 1, removed: 1 });
  });

  test("links are not followed, nor is a directory that became one", async () => {
    using directory = new IndexedDirectory();
    makeRepository(directory.root);
    directory.write("src/a.ts", "export const inside = 1;\n");
    git(directory.root, "add", ".");
    git(directory.root, "commit", "--quiet", "--message=More");
    const outside = join(directory.home, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "a.ts"), "export const outside = 1;\n");
    renameSync(join(directory.root, "src"), join(directory.root, "source"));
    symlinkSync(outside, join(directory.root, "src"));
    symlinkSync(join(outside, "a.ts"), join(directory.root, "link.ts"));
    symlinkSync(".", join(directory.root, "loop"));
    using index = await directory.open();
    expect(index.files().map(({ path }) => path)).toEqual(["README", "source/a.ts"]);
    expect(index.definitionsNamed("outside")).toEqual([]);
  });
});

describe("sandboxes", () => {
  test("see their own edits, share equal contents, and do not see changes of the base", async () => {
    using directory = new IndexedDirectory({ "a.ts": "export const a = 1;\n", "b.ts": "export const b = 1;\n" });
    const base = await directory.sync();
    const overlay = { name: "plan-1", root: join(directory.home, "sandbox") };
    directory.write("a.ts", "export const a = 1;\n", overlay.root);
    directory.write("b.ts", "export const changed = 1;\n", overlay.root);
    directory.write("c.ts", "export const added = 1;\n", overlay.root);
    const { generation, parsed } = await directory.sync({ overlay });
    expect(parsed).toBe(2);
    rmSync(join(directory.root, "a.ts"));
    directory.write("b.ts", "export const moved = 1;\n");
    using before = openScopedIndex({ trees: [directory.tree(base.generation)] });
    expect(before.files().map(({ path }) => path)).toEqual(["a.ts", "b.ts"]);
    expect(before.definitionsNamed("changed")).toEqual([]);
    await directory.sync();
    using sandbox = openScopedIndex({ trees: [directory.tree(generation, { overlay: "plan-1" })] });
    expect(sandbox.files().map((file) => sandbox.text(file))).toEqual([
      "export const a = 1;\n",
      "export const changed = 1;\n",
      "export const added = 1;\n",
    ]);
    expect(indexStatus(directory.indexFile)).toMatchObject({ is: "indexed", files: 1, overlays: ["plan-1"] });
  });

  test.each([
    ["a repository beside the tree", (home: string) => ({ gitDir: join(home, "own.git") }), ["a.ts", "hidden.ts"]],
    ["no repository", () => "none" as const, ["a.ts", "hidden.ts"]],
    ["the one that is found", () => "found" as const, ["a.ts"]],
  ])("are listed by the rules of %s", async (_whose, repositoryOf, paths) => {
    using directory = new IndexedDirectory({ "a.ts": "export const a = 1;\n" });
    const root = join(directory.home, "sandbox");
    for (const name of ["a.ts", "hidden.ts"]) directory.write(name, "export const a = 1;\n", root);
    execFileSync("git", ["init", "--quiet", "--bare", "own.git"], { cwd: directory.home });
    execFileSync("git", ["init", "--quiet"], { cwd: root });
    // As a command may write it, to hide a file from the context or to lead elsewhere.
    directory.write(".git/info/exclude", "hidden.ts\n", root);
    const { generation } = await directory.sync({
      overlay: { name: "plan-1", root, repository: repositoryOf(directory.home) },
    });
    using sandbox = openScopedIndex({ trees: [directory.tree(generation, { overlay: "plan-1" })] });
    expect(sandbox.files().map(({ path }) => path)).toEqual(paths);
  });

  test("do not change how the base is ranked", async () => {
    using directory = new IndexedDirectory({
      "a.txt": "alpha beta beta",
      "b.txt": "alpha alpha beta",
      "c.txt": "gamma",
    });
    using index = await directory.open();
    const before = index.searchText(["alpha", "beta"], 9);
    const overlay = { name: "plan-1", root: join(directory.home, "sandbox") };
    for (let at = 0; at < 20; at += 1) directory.write(`${at}.txt`, `beta ${at}`, overlay.root);
    await directory.sync({ overlay });
    using again = await directory.open();
    expect(again.searchText(["alpha", "beta"], 9)).toEqual(before);
  });

  test("are forgotten at the next sync after their directory is gone", async () => {
    using directory = new IndexedDirectory({ "a.ts": "export const a = 1;\n" });
    await directory.sync();
    const overlays = ["one", "two"].map((name) => ({ name, root: join(directory.home, name) }));
    for (const overlay of overlays) {
      directory.write("a.ts", `export const ${overlay.name} = 1;\n`, overlay.root);
      await directory.sync({ overlay });
    }
    rmSync(join(directory.home, "one"), { recursive: true });
    await directory.sync();
    expect(indexStatus(directory.indexFile)).toMatchObject({ overlays: ["two"] });
    rmSync(join(directory.home, "two"), { recursive: true });
    await directory.sync();
    expect(indexStatus(directory.indexFile)).toMatchObject({ overlays: [], files: 1 });
    using database = new DatabaseSync(directory.indexFile);
    expect(database.prepare("SELECT COUNT(*) AS rows FROM contents").get()).toEqual({ rows: 1 });
  });
});

describe("a scope", () => {
  test("of another generation is refused, also across threads' words and after a rebuild", async () => {
    using directory = new IndexedDirectory({ "a.txt": "one" });
    const { generation } = await directory.sync();
    directory.write("a.txt", "two");
    await directory.sync();
    const scope = { trees: [directory.tree(generation)] };
    expect(() => openScopedIndex(scope)).toThrow(IndexMovedError);
    expect(isIndexMoved(new IndexMovedError("app", 1, 2).message)).toBe(true);
    expect(isIndexMoved("The index of something else")).toBe(false);
    await directory.sync({ rebuild: true });
    expect(() => openScopedIndex(scope)).toThrow(IndexMovedError);
  });

  test("that is open stays as it was, even when trees are synced or removed meanwhile", async () => {
    using directory = new IndexedDirectory({ "a.txt": "one" });
    using index = await directory.open();
    directory.write("a.txt", "two");
    await directory.sync();
    expect(index.files().map((file) => index.text(file))).toEqual(["one"]);
    await removeIndex(directory.indexFile);
    expect(index.files().map((file) => index.text(file))).toEqual(["one"]);
  });

  test("of a directory never indexed is an error, not an empty answer", async () => {
    using directory = new IndexedDirectory({ "a.txt": "one" });
    expect(indexStatus(directory.indexFile)).toEqual({ is: "never indexed" });
    expect(() => openScopedIndex({ trees: [directory.tree(1)] })).toThrow(NotIndexedError);
    const { generation } = await directory.sync();
    expect(() => openScopedIndex({ trees: [directory.tree(generation, { overlay: "nothing" })] })).toThrow(
      NotIndexedError,
    );
  });

  test("of a directory that is not there is an error", async () => {
    using directory = new IndexedDirectory();
    await expect(directory.sync({ root: join(directory.home, "nowhere") })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

/**
 * As if it had been written long before it was read; the system does not let a process set the time of the last change.
 */
function forgetThatItIsNew(directory: IndexedDirectory): void {
  using database = new DatabaseSync(directory.indexFile);
  database.exec("UPDATE entries SET racy = 0");
}
