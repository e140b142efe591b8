/** Packs and trees that git itself reads and finds sound. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EXECUTABLE, LINK, REGULAR } from "../platform/file-state.ts";
import { GitPack, objectName } from "./git-pack.ts";
import { treesOf } from "./git-tree.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cleveragents-pack-"));
  for (const name of ["objects", "refs"]) await mkdir(join(directory, name));
  await writeFile(join(directory, "HEAD"), "ref: refs/heads/none\n");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function git(...args: string[]): Promise<Buffer> {
  const options = { cwd: directory, encoding: "buffer", maxBuffer: 1e9 } as const;
  return (await promisify(execFile)("git", ["--git-dir=.", ...args], options)).stdout;
}

test("contents of every size come back as they were, and git finds the pack sound", async () => {
  // Sizes around which the header takes another byte, and at which a stored block is full.
  const sizes = [0, 1, 15, 16, 2047, 2048, 3800, 65_534, 65_535, 65_536, 131_070, 262_143, 262_144, 5_000_000];
  const contents = sizes.map((size) => Buffer.from(Array.from({ length: size }, (_, index) => (index * size) % 251)));
  const names: string[] = [];
  {
    using pack = new GitPack(join(directory, "objects"), contents.length);
    for (const content of contents) names.push(pack.add("blob", content));
    // The same content again is the same object.
    expect(pack.add("blob", contents[3] ?? Buffer.of())).toBe(names[3]);
    pack.finish();
  }
  for (const [index, content] of contents.entries())
    expect((await git("cat-file", "blob", names[index] ?? "")).equals(content), `${content.byteLength} bytes`).toBe(
      true,
    );
  await git("fsck", "--full", "--strict", "--no-dangling");
});

test("trees are sorted and named as git does it", async () => {
  const content = Buffer.from("x");
  using blobs = new GitPack(join(directory, "objects"), 1);
  const object = blobs.add("blob", content);
  blobs.finish();
  const paths = [
    "a",
    "a.b",
    "a-b/c",
    "ab/b",
    "foo.txt",
    "foo/bar",
    "foo-bar",
    "ü/文",
    "z/z/z/z",
    "B",
    '"q',
    "with space/x",
  ];
  const modes = [REGULAR, EXECUTABLE, LINK];
  const files = paths.map((path, index) => ({ path, mode: modes[index % 3] ?? REGULAR, object }));
  const { top, trees } = treesOf(files);
  using pack = new GitPack(join(directory, "objects"), trees.size);
  for (const [name, tree] of trees) expect(pack.add("tree", tree)).toBe(name);
  pack.finish();
  const listed = (await git("ls-tree", "-r", "-z", top)).toString("utf8").split("\0").slice(0, -1);
  const expected = files.map(({ path, mode }) => `${mode.toString(8)} blob ${object}\t${path}`);
  expect(listed.toSorted()).toEqual(expected.toSorted());
  await git("fsck", "--full", "--strict", "--no-dangling");
  // The tree git makes of the same listing has the same name.
  const input = listed.map((line) => `${line}\0`).join("");
  const mine = promisify(execFile)("git", ["--git-dir=.", "update-index", "-z", "--index-info"], { cwd: directory });
  mine.child.stdin?.end(input);
  await mine;
  expect((await git("write-tree")).toString("utf8").trim()).toBe(top);
});

test("trees of thousands of levels do not fill the stack", () => {
  const object = objectName("blob", Buffer.from("x"));
  const { trees } = treesOf([{ path: `${"d/".repeat(20_000)}f`, mode: REGULAR, object }]);
  expect(trees.size).toBe(20_001);
});

test("a pack that is not complete is not finished", () => {
  using pack = new GitPack(join(directory, "objects"), 2);
  pack.add("blob", Buffer.from("x"));
  expect(() => pack.finish()).toThrow("1 of 2 objects were added");
});
