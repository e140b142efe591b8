/**
 * Plans that began from uncommitted work: the plan's part is committed, the person's part stays as it was, on disk and
 * uncommitted.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Envelope } from "./testing/agents.ts";
import { contents, World, type Files, type Step } from "./testing/user-world.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const MINE = LINES.replace("one", "mine");
const FILES = { "both.txt": LINES, "other.txt": LINES };

const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
const edit = (path: string, old = "seven", now = "PLAN"): Step => api("edit_file", { path, old, new: now });

/** Executed through the command line, on top of what is not committed. */
async function executed(world: World, ...steps: readonly Step[]): Promise<string> {
  const id = await world.used(steps);
  const { exit_code, error } = await world.agents.json("plan", "execute", id, "--include-dirty");
  expect([exit_code, error]).toEqual([0, undefined]);
  return id;
}

async function dirtyWorld(dirty: Files): Promise<World> {
  const world = await World.make({ files: FILES });
  world.write(dirty);
  return world;
}

async function refused(world: World, id: string, message: string): Promise<void> {
  const before = world.everything();
  const answer: Envelope = await world.apply(id);
  expect(answer).toMatchObject({
    exit_code: 4,
    error: { code: "MERGE_CONFLICT", kept: "Nothing was changed, in any resource." },
  });
  expect(answer.error?.message).toContain(message);
  expect(world.everything()).toEqual(before);
}

test("the commit holds the plan's lines, the file both, and what is left to commit is the person's", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE, "untracked.txt": "mine\n", "other.txt": MINE });
  world.git("add", "other.txt");
  const id = await executed(world, edit("both.txt"), api("write_file", { path: "new.txt", content: "plan\n" }));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("show", "HEAD:both.txt")).toBe(LINES.replace("seven", "PLAN"));
  expect(world.read("both.txt")).toBe(MINE.replace("seven", "PLAN"));
  expect(world.git("diff", "--unified=0", "both.txt").split("\n").slice(4)).toEqual([
    "@@ -1 +1 @@",
    "-one",
    "+mine",
    "",
  ]);
  expect(world.git("status", "--porcelain")).toBe(" M both.txt\nM  other.txt\n?? untracked.txt\n");
  expect(world.git("show", "--name-only", "--format=").trim().split("\n")).toEqual(["both.txt", "new.txt"]);
  world.git("fsck", "--strict", "--no-dangling");
  expect(world.leftovers()).toEqual([]);
});

test("what was deleted, made executable or renamed without a commit stays so, and the plan's part lands", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  rmSync(join(world.repository, "other.txt"));
  const id = await executed(world, api("move_file", { path: "both.txt", to: "moved.txt" }), edit("a.txt", "two", "2"));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("show", "HEAD:moved.txt")).toBe(LINES);
  expect(world.read("moved.txt")).toBe(MINE);
  expect(world.git("status", "--porcelain")).toBe(" M moved.txt\n D other.txt\n");
});

test("a file that git does not know is a conflict until it is committed; then the plan's change of it lands", async () => {
  await using world = await dirtyWorld({ "draft.txt": MINE });
  const id = await executed(world, edit("draft.txt"));
  await refused(world, id, "api/draft.txt is not committed: commit it, and the plan's change can be applied to it");
  world.commit("draft");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.read("draft.txt")).toBe(MINE.replace("seven", "PLAN"));
  expect(world.git("status", "--porcelain")).toBe("");
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect(world.read("draft.txt")).toBe(MINE);
});

test("a file that was changed again, deleted, or made meanwhile where the plan makes one: nothing is touched", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  const id = await executed(world, edit("both.txt"), api("write_file", { path: "new.txt", content: "plan\n" }));
  world.write({ "both.txt": MINE.replace("four", "more") });
  await refused(world, id, "api/both.txt was changed since the plan began from it");
  rmSync(join(world.repository, "both.txt"));
  await refused(world, id, "api/both.txt was deleted since the plan began from it");
  world.write({ "both.txt": LINES });
  await refused(world, id, "api/both.txt was changed since the plan began from it");
  world.write({ "both.txt": MINE, "new.txt": "mine\n" });
  await refused(world, id, "api/new.txt is there already");
  rmSync(join(world.repository, "new.txt"));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("diff", "--name-only")).toBe("both.txt\n");
});

test("the lines that are not committed are not committed by the plan: changing them is a conflict until they are", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  const id = await executed(world, edit("both.txt", "mine", "PLAN"));
  await refused(world, id, "api/both.txt was changed by the plan in lines that are not committed");
  world.commit("mine");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.read("both.txt")).toBe(LINES.replace("one", "PLAN"));
  expect(world.git("status", "--porcelain")).toBe("");
});

test("staged changes on a touched path are a conflict, staged before the plan or after; unstaged, it lands", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  world.git("add", "both.txt");
  const id = await executed(world, edit("both.txt"));
  await refused(world, id, "api/both.txt has staged changes");
  world.git("reset", "--quiet", "both.txt");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("status", "--porcelain")).toBe(" M both.txt\n");
  expect(world.read("both.txt")).toBe(MINE.replace("seven", "PLAN"));
});

test("the branch moved meanwhile: by another file, by the dirty file itself, by another branch's work", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  const [first, second] = [await executed(world, edit("both.txt")), await executed(world, edit("both.txt", "four"))];
  world.write({ "other.txt": "theirs\n" });
  world.git("add", "other.txt");
  world.git("commit", "--quiet", "-m", "theirs");
  expect(await world.apply(first)).toMatchObject({ exit_code: 0 });
  expect(world.git("show", "HEAD:both.txt")).toBe(LINES.replace("seven", "PLAN"));
  expect(world.read("other.txt")).toBe("theirs\n");
  expect(world.git("status", "--porcelain")).toBe(" M both.txt\n");
  // Of two plans from one dirty file the second finds it changed.
  await refused(world, second, "api/both.txt was changed since the plan began from it");

  world.commit("mine");
  const third = await executed(world, edit("both.txt", "three"));
  const base = world.read("both.txt");
  world.commit("nothing");
  expect(await world.apply(third)).toMatchObject({ exit_code: 0 });
  expect(world.read("both.txt")).toBe(base.replace("three", "PLAN"));
  expect(world.git("status", "--porcelain")).toBe("");
});

test("committed as it was before the plan landed, the file gets the plan's part, and nothing is left to commit", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  const id = await executed(world, edit("both.txt"));
  world.commit("mine");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.read("both.txt")).toBe(MINE.replace("seven", "PLAN"));
  expect(world.git("status", "--porcelain")).toBe("");
});

test("what is the same on both sides already moves the file alone or nothing at all", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  const id = await executed(world, edit("both.txt"));
  // A person committed the plan's line in another place; the checkout's file was left as it is.
  const blob = LINES.replace("seven", "PLAN");
  world.write({ "../blob": blob });
  const oid = world.git("hash-object", "-w", "../blob").trim();
  world.git("update-index", "--cacheinfo", `100644,${oid},both.txt`);
  world.git("commit", "--quiet", "-m", "the plan's line");
  const commits = world.git("rev-list", "--count", "HEAD");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("rev-list", "--count", "HEAD")).toBe(commits);
  expect(world.read("both.txt")).toBe(MINE.replace("seven", "PLAN"));
  expect(world.git("status", "--porcelain")).toBe(" M both.txt\n");
});

test("undo: uncommitted lines in a touched file are a conflict, committed ones stay; in other files they do not matter", async () => {
  await using world = await dirtyWorld({ "both.txt": MINE });
  const id = await executed(world, edit("both.txt"), api("write_file", { path: "new.txt", content: "plan\n" }));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  const everything = world.everything();
  expect(await world.undo(id)).toMatchObject({
    exit_code: 4,
    error: {
      message: expect.stringContaining("api/both.txt has uncommitted changes"),
      kept: "Nothing was changed, in any resource.",
    },
  });
  expect(world.everything()).toEqual(everything);
  world.commit("mine");
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect(world.read("both.txt")).toBe(MINE);
  expect(existsSync(join(world.repository, "new.txt"))).toBe(false);
  expect(world.git("status", "--porcelain")).toBe("");
  expect(await world.redo(id)).toMatchObject({ exit_code: 0 });
  expect(world.read("both.txt")).toBe(MINE.replace("seven", "PLAN"));
});

test("undo with the person's part in other files brings back every byte, and leaves that part uncommitted", async () => {
  await using world = await dirtyWorld({ "other.txt": MINE, "untracked.txt": "mine\n" });
  const before = contents(world.repository);
  const status = world.git("status", "--porcelain");
  const id = await executed(world, edit("both.txt"));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect(contents(world.repository)).toEqual(before);
  expect(world.git("status", "--porcelain")).toBe(status);
});
