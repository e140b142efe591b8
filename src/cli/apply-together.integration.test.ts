import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxHome } from "../execution/testing/sandbox-home.ts";
import type { Envelope } from "./testing/agents.ts";
import { put, World, type Step } from "./testing/user-world.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });

const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
const notes = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "notes", ...params }];
const both = (tool: Step[0], params: Step[1]): readonly Step[] => [api(tool, params), notes(tool, params)];
const codes = (answers: readonly { readonly exit_code: number }[]): number[] =>
  answers.map(({ exit_code: code }) => code).sort((a, b) => a - b);
const times = (count: number, code: number): number[] => Array.from({ length: count }, () => code);

/** In a process of its own, beside others. */
const landInProcess = (world: World, verb: "apply" | "undo" | "redo", id: string): Promise<Envelope> =>
  world.agents.processJson("plan", verb, id, "--yes");

const FILES = { "b.txt": "b\n", "c.txt": "c\n" };

test("an addition, a deletion and an update that does not fit: none of the three happens", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const command = "echo a > new.txt; rm c.txt; echo planned > b.txt";
  const id = await world.executed(...both("shell_execute", { command }));
  world.writeNotes({ "b.txt": "human\n" });
  const before = world.everything();
  expect(await world.apply(id)).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(world.everything()).toEqual(before);
});

test("a valid update and an addition that cannot be made: the update does not stay", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const command = "echo planned > b.txt; mkdir way; echo x > way/x.txt";
  const id = await world.executed(...both("shell_execute", { command }));
  world.writeNotes({ way: "a file of a person\n" });
  const before = world.everything();
  expect(await world.apply(id)).toMatchObject({
    exit_code: 4,
    error: { message: expect.stringContaining("notes/way/x.txt is in the way") },
  });
  expect(world.everything()).toEqual(before);
});

test("what another plan and a person write while a plan is executed is neither credited to it nor undone with it", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const command = "touch $HOME/began; while [ ! -e $HOME/gate ]; do sleep 0.02; done; echo A > a-of-A.txt";
  const first = await world.used(both("shell_execute", { command }));
  const executing = world.execute(first);
  const homes = ["api", "notes"].map((alias) => new SandboxHome(world.agents.dataDir, first, { alias }));
  await homes[0]?.until("began");
  const second = await world.executed(...both("write_file", { path: "b-of-B.txt", content: "B\n" }));
  expect((await world.apply(second)).exit_code).toBe(0);
  for (const root of [world.repository, world.notes])
    put(root, { "human.txt": "human\n", "c.txt": "edited by a person\n" });
  for (const home of homes) home.write("gate");
  await executing;

  const { data } = await world.agents.json("plan", "diff", first);
  expect(data["files"]).toMatchObject([{ path: "a-of-A.txt" }, { path: "a-of-A.txt" }]);
  expect((await world.apply(first)).exit_code).toBe(0);
  expect((await world.undo(first)).exit_code).toBe(0);
  for (const read of [(path: string) => world.read(path), (path: string) => world.readNote(path)]) {
    expect([read("b-of-B.txt"), read("human.txt"), read("c.txt")]).toEqual(["B\n", "human\n", "edited by a person\n"]);
  }
  expect(existsSync(join(world.repository, "a-of-A.txt"))).toBe(false);
  expect(world.git("status", "--porcelain")).toBe(" M c.txt\n?? human.txt\n");
});

test("one plan after another writes the same file: undoing the first is a conflict, and the second's version stays", async () => {
  await using world = await World.make();
  const first = await world.executed(...both("write_file", { path: "same.txt", content: "of the first\n" }));
  expect((await world.apply(first)).exit_code).toBe(0);
  const second = await world.executed(...both("write_file", { path: "same.txt", content: "of the second\n" }));
  expect((await world.apply(second)).exit_code).toBe(0);
  const before = world.everything();
  expect(await world.undo(first)).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(world.everything()).toEqual(before);
  expect([world.read("same.txt"), world.readNote("same.txt")]).toEqual(["of the second\n", "of the second\n"]);
  // The other way round nothing is in the way.
  expect((await world.undo(second)).exit_code).toBe(0);
  expect((await world.undo(first)).exit_code).toBe(0);
  expect(existsSync(join(world.repository, "same.txt"))).toBe(false);
  expect(existsSync(join(world.notes, "same.txt"))).toBe(false);
});

test("what a person had done already is theirs: neither applied nor undone, nor brought back", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(
    ...both("write_file", { path: "new.txt", content: "same idea\n" }),
    ...both("write_file", { path: "b.txt", content: "same idea\n" }),
  );
  const idea = { "new.txt": "same idea\n", "b.txt": "same idea\n" };
  put(world.repository, idea);
  put(world.notes, idea);
  world.commit("had it first");
  const before = { ...world.everything() };
  for (const act of ["apply", "undo"] as const) {
    expect(await world[act](id), act).toMatchObject({ exit_code: 0, data: { landings: [] } });
    expect(world.everything()).toEqual(before);
  }
  rmSync(join(world.notes, "new.txt"));
  world.git("rm", "--quiet", "new.txt");
  world.commit("thought better of it");
  expect(await world.redo(id)).toMatchObject({ exit_code: 0, data: { landings: [] } });
  expect(existsSync(join(world.repository, "new.txt"))).toBe(false);
});

test("to cancel a plan touches no files, after any work of others", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(...both("write_file", { path: "b.txt", content: "planned\n" }));
  world.write({ "b.txt": "human\n", "untracked.txt": "human\n" });
  world.git("add", "b.txt");
  await world.apply(id);
  const before = world.everything();
  expect((await world.agents.json("plan", "cancel", id)).exit_code).toBe(0);
  expect(world.everything()).toEqual(before);
  expect((await world.apply(id)).exit_code).toBe(4);
  expect((await world.undo(id)).exit_code).toBe(4);
  expect(world.everything()).toEqual(before);
});

test("everything twice: the second time says so and changes nothing", async () => {
  await using world = await World.make();
  const id = await world.executed(...both("write_file", { path: "new.txt", content: "new\n" }));
  expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({ ran: false });
  for (const act of ["apply", "undo", "redo"] as const) {
    expect((await world[act](id)).exit_code).toBe(0);
    const before = world.everything();
    expect(await world[act](id), act).toMatchObject({ exit_code: 4, error: { kept: expect.any(String) } });
    expect(world.everything()).toEqual(before);
  }
  expect((await world.agents.json("plan", "execute", id)).data).toMatchObject({ ran: false });
  expect(world.git("rev-list", "--count", "HEAD").trim()).toBe("4");
});

test("many press the button at once: one effect, the others are told", async () => {
  await using world = await World.make();
  const id = await world.executed(...both("write_file", { path: "new.txt", content: "new\n" }));
  const crowd = FULL ? 8 : 5;
  for (const [act, commits] of [
    ["apply", 2],
    ["undo", 3],
    ["redo", 4],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: crowd }, () => landInProcess(world, act, id)));
    expect(codes(answers), act).toEqual([0, ...times(crowd - 1, 4)]);
    expect(world.git("rev-list", "--count", "HEAD").trim()).toBe(String(commits));
    expect(world.git("status", "--porcelain")).toBe("");
  }
  expect(world.leftovers()).toEqual([]);
});

test("apply, undo and cancel at once: what the plan says is what is there", async () => {
  for (let round = 0; round < (FULL ? 10 : 2); round += 1) {
    await using world = await World.make();
    const id = await world.executed(...both("write_file", { path: "new.txt", content: "new\n" }));
    const answers = await Promise.all([
      landInProcess(world, "apply", id),
      world.agents.processJson("plan", "cancel", id),
      landInProcess(world, "undo", id),
      landInProcess(world, "apply", id),
    ]);
    for (const { exit_code: code } of answers) expect([0, 4]).toContain(code);
    const { data } = await world.agents.json("plan", "status", id);
    const isIn = data["state"] === "applied" && data["undone_at"] === null;
    for (const root of [world.repository, world.notes]) expect(existsSync(join(root, "new.txt"))).toBe(isIn);
    expect(world.git("status", "--porcelain")).toBe("");
    expect(world.leftovers()).toEqual([]);
  }
});

test("several plans land in one repository and directory at once: all of them, one after the other, nothing lost", async () => {
  const plans = 4;
  const lines = Array.from({ length: plans * 4 }, (_, index) => `line ${index}`).join("\n");
  await using world = await World.make({ files: { "s.txt": lines }, notes: { "s.txt": lines } });
  for (let round = 0; round < (FULL ? 20 : 1); round += 1) {
    const ids = [];
    for (let plan = 0; plan < plans; plan += 1) {
      const command = `sed -i '${plan * 4 + 1}s/$/ ${round}/' s.txt; echo ${plan} > r${round}-p${plan}.txt`;
      ids.push(await world.executed(...both("shell_execute", { command })));
    }
    expect(codes(await Promise.all(ids.map((id) => landInProcess(world, "apply", id))))).toEqual(times(plans, 0));
    for (let plan = 0; plan < plans; plan += 1) {
      for (const read of [(path: string) => world.read(path), (path: string) => world.readNote(path)]) {
        expect(read(`r${round}-p${plan}.txt`)).toBe(`${plan}\n`);
        expect(read("s.txt").split("\n")[plan * 4]).toMatch(new RegExp(` ${round}$`));
      }
    }
    expect(world.git("rev-list", "--merges", "--count", "HEAD").trim()).toBe("0");
    expect(world.git("rev-list", "--count", "HEAD").trim()).toBe(String(1 + (round + 1) * plans));
    expect(world.git("status", "--porcelain")).toBe("");
  }
  world.git("fsck", "--strict", "--no-dangling");
  expect(world.leftovers()).toEqual([]);
});

test("a directory that a person made meanwhile where a plan's directory goes is shared", async () => {
  await using world = await World.make();
  const id = await world.executed(...both("write_file", { path: "place/planned.txt", content: "x\n" }));
  for (const root of [world.repository, world.notes]) {
    mkdirSync(join(root, "place"));
    put(root, { "place/human.txt": "human\n" });
  }
  expect((await world.apply(id)).exit_code).toBe(0);
  expect((await world.undo(id)).exit_code).toBe(0);
  expect([world.read("place/human.txt"), world.readNote("place/human.txt")]).toEqual(["human\n", "human\n"]);
});
