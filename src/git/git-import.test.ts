/**
 * Git makes the tree of an apply apart from everything the user sees; its contents must not depend on names or
 * settings.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { EXECUTABLE, LINK, REGULAR } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";
import { git } from "../testing/git-repository.ts";
import { treeWith, type MadeTree, type TreeChange } from "./git-import.ts";
import { blobName, treeDifferences, type TreeDifference } from "./git-objects.ts";

const NEW = Buffer.from("new\n");
const WISH = {
  contents: async function* (hashes: readonly string[]): AsyncGenerator<readonly [string, Uint8Array]> {
    for (const hash of hashes) if (hash === contentHash(NEW)) yield [hash, NEW];
  },
  missingError: (hash: string) => new Error(`${hash} is not there`),
};

function repositoryWith(files: Readonly<Record<string, string>>, format: "sha1" | "sha256" = "sha1"): string {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-test-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  git(root, "init", "--quiet", `--object-format=${format}`);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  git(root, "add", "--all");
  git(root, "commit", "--quiet", "--allow-empty", "--message=first");
  return root;
}

function changed(path: string, mode: number = REGULAR): TreeChange {
  return { path, after: { hash: contentHash(NEW), mode } };
}

function gone(path: string): TreeChange {
  return { path, after: undefined };
}

function make(root: string, changes: readonly TreeChange[]): Promise<MadeTree> {
  return treeWith(root, git(root, "rev-parse", "HEAD").trim(), changes, WISH);
}

function listed(root: string, tree: string): string[] {
  const lines = git(root, "ls-tree", "-r", "-z", tree).split("\0").slice(0, -1);
  return lines.map((line) => line.replace(/ blob \w+\t/, " ")).sort();
}

describe.each(["sha1", "sha256"] as const)("in a repository with %s names", (format) => {
  test("files come, change, go, and take each other's places", async () => {
    const root = repositoryWith({ "kept/a": "a\n", "kept/b": "b\n", "place/only": "x\n", file: "y\n" }, format);
    const { tree, blobs } = await make(root, [
      changed("kept/a"),
      changed("run", EXECUTABLE),
      changed("link", LINK),
      changed("place"),
      gone("place/only"),
      gone("file"),
      changed("file/below"),
    ]);
    expect(listed(root, tree)).toEqual(
      ["100644 kept/a", "100644 kept/b", "100755 run", "120000 link", "100644 place", "100644 file/below"].sort(),
    );
    const name = blobName(NEW, tree);
    expect([...blobs]).toEqual([[name, NEW]]);
    expect(git(root, "cat-file", "blob", name)).toBe("new\n");
    expect(git(root, "rev-parse", `${tree}:run`).trim()).toBe(name);
  });
});

test("nothing that the user sees has changed, and nothing is left in the repository but objects", async () => {
  const root = repositoryWith({ a: "a\n" });
  const seen = (): string[] =>
    readdirSync(join(root, ".git"), { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith("objects/"))
      .sort();
  const [before, refs] = [seen(), git(root, "for-each-ref")];
  await make(root, [changed("a"), changed("b")]);
  expect(seen()).toEqual(before);
  expect(git(root, "for-each-ref")).toBe(refs);
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a tree without files is the empty tree", async () => {
  const root = repositoryWith({ "only/file": "a\n" });
  const { tree } = await make(root, [gone("only/file")]);
  expect(tree).toBe(git(root, "hash-object", "-t", "tree", "/dev/null").trim());
  expect(listed(root, tree)).toEqual([]);
});

test("every name that git can hold arrives as it is", async () => {
  const names = [
    'quo"te',
    "back\\slash",
    "new\nline",
    "tab\there",
    " space ",
    "ümläut",
    '"whole"',
    "a\\nb",
    "-n",
    ":1",
  ];
  const root = repositoryWith({ other: "a\n" });
  const { tree } = await make(
    root,
    names.map((name) => changed(name)),
  );
  expect(listed(root, tree)).toEqual([...names, "other"].map((name) => `100644 ${name}`).sort());
});

test("names that differ in case only stay two, also where the file system takes them for one", async () => {
  const root = repositoryWith({ "Read.me": "a\n" });
  git(root, "config", "core.ignoreCase", "true");
  const { tree } = await make(root, [changed("read.me")]);
  expect(listed(root, tree)).toEqual(["100644 Read.me", "100644 read.me"]);
});

test("the reported differences are those of the trees, and the commit is the tree on top of the base", async () => {
  const root = repositoryWith({ a: "a\n", "d/x": "x\n", same: "new\n", 'odd "name"\n': "o\n", sub: "s\n" });
  const base = git(root, "rev-parse", "HEAD").trim();
  const changes = [
    changed("a"),
    gone("d/x"),
    changed("e/new"),
    changed("same"),
    gone('odd "name"\n'),
    changed("sub", LINK),
  ];
  const identity = {
    author: "Ann <ann@example.org> 1700000000 +0100",
    committer: "Bob <bob@example.org> 1700000001 +0000",
  };
  const message = "Ünï\n\nbody\n";
  const commit = { message, identity: () => Promise.resolve(identity) };
  const made = await treeWith(root, base, changes, { ...WISH, commit });
  const sorted = (list: readonly TreeDifference[] = []): TreeDifference[] =>
    list.toSorted((x, y) => (x.path < y.path ? -1 : 1));
  expect(sorted(made.differences)).toEqual(sorted(await treeDifferences(root, base, made.tree)));
  expect(git(root, "cat-file", "commit", made.commit ?? "")).toBe(
    `tree ${made.tree}\nparent ${base}\nauthor ${identity.author}\ncommitter ${identity.committer}\n\n${message}`,
  );
  const unnamed = { message, identity: () => Promise.resolve(undefined) };
  expect(await treeWith(root, base, changes, { ...WISH, commit: unnamed })).toMatchObject({
    tree: made.tree,
    commit: undefined,
  });
});

test("the files of a directory that a file replaces are found only by comparing the trees", async () => {
  const root = repositoryWith({ "d/x": "x\n", "d/y": "y\n" });
  const { differences } = await make(root, [gone("d/x"), changed("d")]);
  expect(differences).toBeUndefined();
});

test("a missing content ends it, and no object is left", async () => {
  const root = repositoryWith({ a: "a\n" });
  const objects = git(root, "count-objects", "-v");
  const lost = { path: "b", after: { hash: "0".repeat(64), mode: REGULAR } };
  await expect(make(root, [changed("a"), lost])).rejects.toThrow("0000 is not there");
  expect(git(root, "count-objects", "-v")).toBe(objects);
});
