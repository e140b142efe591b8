/** The user's index after an apply: edits stay visible and applied files are clean, with every writer of the index. */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FILE_EFFECTS, type FileEffects } from "../apply/file-effects.ts";
import { World } from "./testing/user-world.ts";

const VERSIONS = [
  ["we write", "2"],
  ["only git writes", "4"],
] as const;

/** Git takes a file for unchanged by its size and second, unless that is the second of the index or a later one. */
function editUnseen(world: World, path: string, content: string): void {
  const then = 1_000_000_000;
  const [file, index] = [join(world.repository, path), join(world.repository, ".git", "index")];
  utimesSync(file, then, then);
  world.git("update-index", "--refresh");
  writeFileSync(file, content);
  for (const one of [file, index]) utimesSync(one, then, then);
}

test.each(VERSIONS)(
  "an edit in the second in which the index was written stays visible in an index that %s",
  async (_, version) => {
    await using world = await World.make({ files: { "other.txt": "mine\n" } });
    for (const [key, value] of [
      ["core.trustctime", "false"],
      ["core.checkStat", "minimal"],
    ] as const)
      world.git("config", key, value);
    world.git("update-index", "--index-version", version);
    const id = await world.executed(["write_file", { resource: "api", path: "a.txt", content: "plan\n" }]);
    editUnseen(world, "other.txt", "MINE\n");
    await (await world.applier()).apply(id);
    expect(world.git("status", "--porcelain")).toBe(" M other.txt\n");
  },
);

test.each(VERSIONS)("what landed is clean without being read again, in an index that %s", async (_, version) => {
  await using world = await World.make({ files: { "dir/x.txt": "x\n", "gone.txt": "gone\n" } });
  world.git("update-index", "--index-version", version);
  const id = await world.executed(
    ["write_file", { resource: "api", path: "a.txt", content: "plan\n" }],
    ["write_file", { resource: "api", path: "new/b.txt", content: "b\n", mode: "755" }],
    ["delete_file", { resource: "api", path: "gone.txt" }],
  );
  await (await world.applier()).apply(id);
  // By the times in the index alone, which were written after the files.
  expect(world.git("diff-files", "--name-only")).toBe("");
  expect(world.git("diff-index", "--cached", "HEAD")).toBe("");
  expect(world.git("write-tree")).toBe(world.git("rev-parse", "HEAD^{tree}"));
  expect(readFileSync(join(world.repository, ".git", "index")).readUInt32BE(4)).toBe(Number(version));
});

test.each(VERSIONS)(
  "what landed is clean in an index that %s, however late everything is tidied up",
  async (_, version) => {
    await using world = await World.make();
    world.git("update-index", "--index-version", version);
    const id = await world.executed(["write_file", { resource: "api", path: "a.txt", content: "plan\n" }]);
    const removeTree: FileEffects["removeTree"] = (directory) => {
      // Git compares whole seconds.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
      FILE_EFFECTS.removeTree(directory);
    };
    await (await world.applier({ ...FILE_EFFECTS, removeTree })).apply(id);
    expect(world.git("diff-files", "--name-only")).toBe("");
  },
);

test("an edit in the moment before the index is written stays visible with any file times", async () => {
  await using world = await World.make();
  const id = await world.executed(["write_file", { resource: "api", path: "a.txt", content: "plan\n" }]);
  const link: FileEffects["link"] = (from, to) => {
    FILE_EFFECTS.link(from, to);
    if (readFileSync(from, "utf8") !== "plan\n") return;
    writeFileSync(from, "mine\n");
    utimesSync(from, 1_000_000_000, 1_000_000_000);
  };
  await (await world.applier({ ...FILE_EFFECTS, link })).apply(id);
  expect(world.read("a.txt")).toBe("mine\n");
  expect(world.git("status", "--porcelain")).toBe(" M a.txt\n");
});

test.each([
  ["goes to another branch", ["checkout", "--quiet", "-b", "other"], "another branch was checked out"],
  ["detaches HEAD", ["checkout", "--quiet", "--detach"], "another branch was checked out"],
  ["commits", ["commit", "--quiet", "--allow-empty", "--message=mine"], "main moved"],
  ["stages a removal", ["rm", "--quiet", "--cached", "a.txt"], "something was staged"],
] as const)("who %s in the moment before the index is locked is not overtaken", async (_, args, why) => {
  await using world = await World.make();
  const id = await world.executed(["write_file", { resource: "api", path: "a.txt", content: "plan\n" }]);
  let theirs = "";
  const look = (): string => world.git("log", "--format=%H %D", "--all") + world.git("status", "--porcelain");
  const link: FileEffects["link"] = (from, to) => {
    if (to.endsWith("index.lock") && theirs === "") {
      world.git(...args);
      theirs = look();
    }
    FILE_EFFECTS.link(from, to);
  };
  await expect((await world.applier({ ...FILE_EFFECTS, link })).apply(id)).rejects.toThrow(why);
  expect(look()).toBe(theirs);
  expect(world.read("a.txt")).toBe("one\ntwo\n");
});
