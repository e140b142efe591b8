/**
 * Plans that made the same change. Undo of one keeps the changes that another applied plan made too, and says so; undo
 * of the last one removes them. The same in a git checkout and in a plain directory.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PlanId } from "../domain/names/ids.ts";
import { seededRandom } from "../testing/random.ts";
import { runCli } from "./run-cli.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { typedTerminal } from "./testing/typed-terminal.ts";
import { contents, World, type Step } from "./testing/user-world.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const FILES = { "lines.txt": LINES, "other.txt": LINES };

/** The same step in the repository and in the directory. */
function both(id: string, tool: Step[0], params: Step[1]): Step[] {
  return ["api", "notes"].map((resource) => [tool, { resource, ...params }, { id: `${id}-${resource}` }]);
}

const edit = (id: string, word: string, path = "lines.txt"): Step[] =>
  both(id, "edit_file", { path, old: word, new: word.toUpperCase() });
const write = (id: string, path: string): Step[] => both(id, "write_file", { path, content: `${path}\n` });
const SAME: readonly Step[] = [...edit("edit", "two"), ...write("write", "new/file.txt")];

function look(world: World): Record<string, string>[] {
  return [contents(world.repository), contents(world.notes)];
}

async function made(steps: readonly (readonly Step[])[]): Promise<{ world: World; ids: PlanId[] }> {
  const world = await World.make({ files: FILES, notes: FILES });
  const ids: PlanId[] = [];
  for (const own of steps) ids.push(await world.executed(...own));
  return { world, ids };
}

async function apply(world: World, id: string): Promise<void> {
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
}

/** Undoes it and says what stays, and for whose sake. */
async function undo(world: World, id: string): Promise<unknown> {
  const envelope = await world.undo(id);
  expect(envelope).toMatchObject({ exit_code: 0 });
  expect(world.git("status", "--porcelain")).toBe("");
  return envelope.data["held"];
}

function held(ids: readonly string[], ...paths: string[]): unknown {
  return ["api", "notes"].flatMap((resource) => paths.map((path) => ({ resource, path, plans: ids })));
}

describe("two plans that made the same change", () => {
  test("the first is undone, then the second", async () => {
    const { world, ids } = await made([SAME, SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    const before = look(world);
    await apply(world, a);
    const after = look(world);
    await apply(world, b);
    expect(await undo(world, a)).toEqual(held([b], "lines.txt", "new/file.txt"));
    expect(look(world)).toEqual(after);
    expect((await world.agents.json("plan", "status", a)).data).toMatchObject({ undone_at: expect.any(String) });
    expect(await undo(world, b)).toEqual([]);
    expect(look(world)).toEqual(before);
    expect(existsSync(join(world.notes, "new"))).toBe(false);
  });

  test("the second is undone, then the first", async () => {
    const { world, ids } = await made([SAME, SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    const before = look(world);
    await apply(world, a);
    await apply(world, b);
    const after = look(world);
    expect(await undo(world, b)).toEqual(held([a], "lines.txt", "new/file.txt"));
    expect(look(world)).toEqual(after);
    expect(await undo(world, a)).toEqual([]);
    expect(look(world)).toEqual(before);
  });

  test("a person is told which plan holds what stays", async () => {
    const { world, ids } = await made([SAME, SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    await apply(world, a);
    await apply(world, b);
    const { input, output, seen } = typedTerminal("n\r");
    const io = { ...capturedIo(), stdin: input, stderr: output };
    await runCli(["--data-dir", world.agents.dataDir, "plan", "undo", a], io);
    expect(seen()).toContain(`stays: notes/new/file.txt, which plan ${b} made too`);
    const { stdout } = await world.agents.run(["plan", "undo", a, "--yes"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      `api/lines.txt, api/new/file.txt, notes/lines.txt, notes/new/file.txt: plan ${b} made the same change, which stays`,
    );
  });

  test("what only one of them made goes, in the same file too", async () => {
    const own = [...edit("own", "eight"), ...edit("far", "nine", "other.txt"), ...write("mine", "own.txt")];
    const { world, ids } = await made([[...SAME, ...own], SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    const before = look(world);
    await apply(world, a);
    await apply(world, b);
    expect(await undo(world, a)).toEqual(held([b], "lines.txt", "new/file.txt"));
    expect(world.read("lines.txt")).toBe(LINES.replace("two", "TWO"));
    expect(world.readNote("lines.txt")).toBe(LINES.replace("two", "TWO"));
    for (const read of [world.read.bind(world), world.readNote.bind(world)]) {
      expect(read("other.txt")).toBe(LINES);
      expect(read("new/file.txt")).toBe("new/file.txt\n");
    }
    expect(existsSync(join(world.repository, "own.txt"))).toBe(false);
    expect(existsSync(join(world.notes, "own.txt"))).toBe(false);
    await undo(world, b);
    expect(look(world)).toEqual(before);
  });

  test("brought back and taken out in turn, with a person's work beside", async () => {
    const { world, ids } = await made([SAME, SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    await apply(world, a);
    await apply(world, b);
    world.write({ "lines.txt": world.read("lines.txt").replace("nine", "mine") });
    world.commit("a person's line");
    const [inside, outside] = [LINES.replace("two", "TWO"), LINES].map((text) => text.replace("nine", "mine"));
    const steps = [
      ["undo", a, inside],
      ["redo", a, inside],
      ["undo", b, inside],
      ["undo", a, outside],
      ["redo", b, inside],
      ["redo", a, inside],
      ["undo", b, inside],
      ["undo", a, outside],
      ["redo", a, inside],
    ] as const;
    for (const [command, id, expected] of steps) {
      expect(await world[command](id)).toMatchObject({ exit_code: 0 });
      expect([command, id === a ? "a" : "b", world.read("lines.txt")]).toEqual([
        command,
        id === a ? "a" : "b",
        expected,
      ]);
      expect(existsSync(join(world.notes, "new/file.txt"))).toBe(expected === inside);
    }
  });

  test("by decision: the step that the other plan made too stays in", async () => {
    const { world, ids } = await made([[...SAME, ...edit("own", "eight")], SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    await apply(world, a);
    await apply(world, b);
    const shared = await world.agents.json("plan", "undo", a, "--decision", "write-api", "--yes");
    expect(shared).toMatchObject({ exit_code: 0, data: { undone_steps: ["write-api"] } });
    expect(shared.data["held"]).toEqual([{ resource: "api", path: "new/file.txt", plans: [b] }]);
    expect(world.read("new/file.txt")).toBe("new/file.txt\n");
    const own = await world.agents.json("plan", "undo", a, "--decision", "own-notes", "--yes");
    expect(own.data["held"]).toEqual([]);
    expect(world.readNote("lines.txt")).toBe(LINES.replace("two", "TWO"));
    // The other plan's own claim to it ends with that plan.
    expect(await undo(world, b)).toEqual([
      { resource: "api", path: "lines.txt", plans: [a] },
      { resource: "notes", path: "lines.txt", plans: [a] },
      { resource: "notes", path: "new/file.txt", plans: [a] },
    ]);
    expect(existsSync(join(world.repository, "new/file.txt"))).toBe(false);
  });

  test("the earlier work of a person stays, and belongs to neither plan", async () => {
    const { world, ids } = await made([SAME, SAME]);
    await using _ = world;
    const [a = "", b = ""] = ids;
    world.write({ "lines.txt": LINES.replace("two", "TWO") });
    world.writeNotes({ "lines.txt": LINES.replace("two", "TWO") });
    world.commit("the same by hand");
    const before = look(world);
    await apply(world, a);
    await apply(world, b);
    expect(await undo(world, a)).toEqual(held([b], "lines.txt", "new/file.txt"));
    await undo(world, b);
    expect(look(world)).toEqual(before);
  });

  test("a plan that removed what an earlier one added: each takes back its own", async () => {
    const { world, ids } = await made([write("add", "x.txt")]);
    await using _ = world;
    const [a = ""] = ids;
    await apply(world, a);
    const b = await world.executed(...both("drop", "delete_file", { path: "x.txt" }));
    await apply(world, b);
    await undo(world, b);
    expect([world.read("x.txt"), world.readNote("x.txt")]).toEqual(["x.txt\n", "x.txt\n"]);
    expect(await world.redo(b)).toMatchObject({ exit_code: 0 });
    await undo(world, a);
    await undo(world, b);
    for (const root of [world.repository, world.notes]) expect(existsSync(join(root, "x.txt"))).toBe(false);
    expect(await world.redo(a)).toMatchObject({ exit_code: 0 });
    for (const root of [world.repository, world.notes]) expect(existsSync(join(root, "x.txt"))).toBe(true);
  });
});

const ORDERS = [
  [0, 2, 1],
  [1, 2, 0],
  ...(FULL
    ? [
        [0, 1, 2],
        [1, 0, 2],
        [2, 0, 1],
        [2, 1, 0],
      ]
    : []),
];

test.each(ORDERS)("of three plans undone in the order %i %i %i the last one takes it out", async (...order) => {
  const { world, ids } = await made([SAME, SAME, SAME]);
  await using _ = world;
  const before = look(world);
  for (const id of ids) await apply(world, id);
  const after = look(world);
  const applier = await world.applier();
  for (const [position, index] of order.entries()) {
    const landed = await applier.undo(ids[index] ?? ("" as PlanId));
    const holders = new Set(landed.held.flatMap(({ plans }) => plans));
    expect(holders).toEqual(new Set(order.slice(position + 1).map((other) => ids[other])));
    expect(look(world)).toEqual(position === 2 ? before : after);
  }
});

/** The lines that plans may change; far enough from each other that git takes no two for one. */
const WORDS = ["one", "five", "nine"] as const;

test(`at random: a line is changed as long as a plan that changed it is in (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const pick = <T>(from: readonly T[]): T => from[Math.trunc(random() * from.length)] as T;
  for (let round = 0; round < (FULL ? 40 : 1); round += 1) {
    const claims = Array.from({ length: 4 }, () => WORDS.filter(() => random() < 0.6));
    const plans = claims.filter((words) => words.length > 0);
    const { world, ids } = await made(plans.map((words) => words.flatMap((word) => edit(word, word))));
    await using _ = world;
    const applier = await world.applier();
    const state = ids.map((): "new" | "in" | "out" => "new");
    const story: string[] = [];
    for (let step = 0; step < 12 && ids.length > 0; step += 1) {
      const index = pick([...ids.keys()]);
      const command = state[index] === "new" ? "apply" : state[index] === "in" ? "undo" : "redo";
      story.push(`${command} ${index}`);
      await applier[command](ids[index] ?? ("" as PlanId));
      state[index] = command === "undo" ? "out" : "in";
      const standing = new Set(plans.filter((_words, plan) => state[plan] === "in").flat());
      const expected = WORDS.reduce(
        (text, word) => (standing.has(word) ? text.replace(word, word.toUpperCase()) : text),
        LINES,
      );
      expect([story, plans, world.read("lines.txt")]).toEqual([story, plans, expected]);
      expect([story, plans, world.readNote("lines.txt")]).toEqual([story, plans, expected]);
    }
  }
});
