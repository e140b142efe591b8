/** Apply, undo and redo through the command line, killed or stopped at any moment: all changes are there, or none. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../testing/random.ts";
import {
  beforeLanding,
  kill,
  MARKS,
  reached,
  stageOf,
  timeMarks,
  until,
  type Mark,
} from "./testing/disturbed-landing.ts";
import { LandingWorld, type Resources } from "./testing/landing-world.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });
const ROUNDS = FULL ? 300 : 25;
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

/** The deed, the copy of the world it begins from, and the one it leads to. */
const DEEDS = [
  { verb: "apply", from: "executed", to: "applied" },
  { verb: "undo", from: "applied", to: "undone" },
  { verb: "apply", from: "executed", to: "applied" },
  { verb: "redo", from: "undone", to: "redone" },
] as const;

type Deed = (typeof DEEDS)[number];

let world: LandingWorld;
const looks = new Map<string, Resources>();
const times = new Map<string, ReadonlyMap<Mark, number>>();

beforeAll(async () => {
  world = await LandingWorld.build();
  looks.set("executed", world.look());
  for (const { verb, to } of [DEEDS[0], DEEDS[1], DEEDS[3]]) {
    times.set(verb, await timeMarks(world, command(verb)));
    looks.set(to, world.look());
    world.save(to);
  }
});

afterAll(() => world[Symbol.dispose]());

test(`killed ${ROUNDS} times (seed ${SEED})`, { timeout: FULL ? 3_600_000 : 240_000 }, async () => {
  const random = seededRandom(SEED);
  const stages = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const deed = DEEDS[round % DEEDS.length] ?? DEEDS[0];
    const facts = { deed: deed.verb, aim: "", stage: "", again: "" };
    try {
      await killOnce(deed, random, facts, round % 3 === 2);
      await checkAfterwards(deed);
    } catch (error) {
      const what = `${JSON.stringify(facts)} in round ${round} of seed ${SEED}`;
      throw new Error(`After ${what} (set CLEVERAGENTS_TEST_SEED to repeat it): ${String(error)}`, { cause: error });
    }
    stages.set(facts.stage, (stages.get(facts.stage) ?? 0) + 1);
  }
  const hits = MARKS.map((mark) => `${mark} ${stages.get(mark) ?? 0}`).join(", ");
  process.stdout.write(`Killed after: ${hits} (seed ${SEED})\n`);
  expect(stages.size).toBeGreaterThanOrEqual(FULL ? 9 : 5);
});

test("an apply onto a new branch, killed: the branch is there with the plan applied, or neither is", async () => {
  using own = await LandingWorld.build(["api"]);
  const [files, seen] = [own.look(), new Set<boolean>()];
  const ref = join(own.repository, ".git/refs/heads/health");
  const landing = ["plan", "apply", own.planId, "--onto", "health", "--yes"];
  for (const point of ["journaled", "journaled, later", "made", "sealed"] as const) {
    own.restore("executed");
    const started = own.agents.start(landing, { group: true });
    {
      using watch = own.watch();
      const isMade = point === "made" ? () => existsSync(ref) : () => watch.journal()?.outcome === "done";
      const has = point.startsWith("journaled") ? () => watch.journal() !== undefined : isMade;
      await until(has, started, { thenMs: point === "journaled, later" ? 3 : 0 });
      await kill(started, true);
    }
    const { data } = await own.agents.json("plan", "status", own.planId);
    const isApplied = data["state"] === "applied";
    seen.add(isApplied);
    expect([point, existsSync(ref), own.look(), own.leftovers()]).toEqual([point, isApplied, files, []]);
    if (!isApplied) {
      own.lapseLease();
      await own.done(...landing);
    }
    expect(own.git("rev-parse", "health^")).toBe(own.git("rev-parse", "main"));
    await own.done("plan", "undo", own.planId, "--yes");
    expect(own.git("rev-parse", "health^{tree}")).toBe(own.git("rev-parse", "main^{tree}"));
  }
  expect(seen).toContain(true);
}, 120_000);

async function killOnce(
  deed: Deed,
  random: () => number,
  facts: { aim: string; stage: string; again: string },
  again: boolean,
): Promise<void> {
  world.restore(deed.from);
  const before = beforeLanding(world);
  const mark = MARKS[Math.trunc(random() * (MARKS.length - 1))] ?? "started";
  const [group, part] = [random() < 0.5, random()];
  const delay = part * gapAfter(mark, deed.verb);
  facts.aim = `${mark} + ${delay.toFixed(2)} ms, ${group ? "with" : "without"} what it started`;
  {
    using watch = world.watch();
    const started = world.agents.start(command(deed.verb), { group });
    const has = (which: Mark) => (): boolean => reached(which, world, before, watch.journal);
    const nearby = mark === "started" ? () => true : has("journaled");
    await until(has(mark), started, { nearby, thenMs: delay });
    await kill(started, group);
  }
  facts.stage = stageOf(world, before);
  if (!again) return;
  // The one that recovers is killed too: when it has written down where it goes, or at any moment.
  const [moment, delayAgain] = [random(), random()];
  using watch = world.watch();
  const recovering = world.agents.start(["plan", "status", world.planId], { group });
  const decided = (): boolean => watch.journal()?.direction != null;
  const [condition, wait] = moment < 0.5 ? [decided, 25] : [() => true, 400];
  await until(condition, recovering, { thenMs: delayAgain * wait });
  await kill(recovering, group);
  facts.again = stageOf(world, before);
}

/** The next command finds everything as before or as after, and says which. */
async function checkAfterwards(deed: Deed): Promise<void> {
  // The status of a plan can be read in every state.
  const status = await world.agents.json("plan", "status", world.planId);
  expect(status.error).toBeUndefined();
  const isAfter = isDone(deed.verb, status.data);
  const verified = world.done("audit", "verify");
  await Promise.all([verified, checkResources(looks.get(isAfter ? deed.to : deed.from))]);
  if (isAfter) return;
  // Killed before the journal was written, its lease is still there. The test does not wait until it lapses.
  world.lapseLease();
  await world.done(...command(deed.verb));
  await checkResources(looks.get(deed.to));
}

async function checkResources(expected: Resources | undefined): Promise<void> {
  expect(world.look()).toEqual(expected);
  expect(world.leftovers()).toEqual([]);
  world.git("fsck", "--no-dangling", "--no-progress");
}

function isDone(verb: Deed["verb"], data: Readonly<Record<string, unknown>>): boolean {
  if (verb === "apply") return data["state"] === "applied";
  expect(data["state"]).toBe("applied");
  return (data["undone_at"] !== null) === (verb === "undo");
}

function command(verb: Deed["verb"]): string[] {
  return ["plan", verb, world.planId, "--yes"];
}

/** How long it takes from this mark to the next, with some room for a slower run. */
function gapAfter(mark: Mark, verb: string): number {
  const own = times.get(verb);
  const next = MARKS[MARKS.indexOf(mark) + 1] ?? mark;
  return 1.2 * Math.max(0.5, (own?.get(next) ?? 0) - (own?.get(mark) ?? 0));
}
