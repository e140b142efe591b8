/** Landings of a part, stopped: an undo of one step, and an apply to files with uncommitted lines of a person. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../testing/random.ts";
import { LandingWorld, StoppingEffects } from "./testing/landing-world.ts";
import { sized } from "../testing/size.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const STRIDE = sized({ normal: 8, full: 1 });

test(`an undo of one step, stopped: it is undone or applied, the plan says which, and the other step stays (seed ${SEED})`, async () => {
  using world = await LandingWorld.make();
  const bare = await world.state();
  await world.run("apply");
  world.keep();
  const whole = await world.state();
  const steps = new Set(["repo"]);
  const all = new StoppingEffects(Infinity);
  await world.run("undo", all, { steps });
  const ends = { in: 0, out: 0 };
  for (let count = Math.floor(seededRandom(SEED)() * STRIDE); count < all.done.length; count += STRIDE) {
    world.reset();
    expect(await world.run("undo", new StoppingEffects(count), { steps })).toBe(false);
    await world.recover();
    const undone = await world.undoneSteps();
    const { repository, directory } = await world.state();
    expect({ count, repository, directory }).toEqual({
      count,
      repository: undone.length === 0 ? whole.repository : bare.repository,
      directory: whole.directory,
    });
    expect(["", "repo"]).toContain(undone.join());
    expect(await world.planStatus()).toEqual({ status: "apply/applied", undone: false });
    expect(world.leftovers()).toEqual([]);
    ends[undone.length === 0 ? "in" : "out"] += 1;
  }
  expect(ends.out).toBeGreaterThan(0);
  await world.run("undo");
  expect((await world.state()).directory).toEqual(bare.directory);
  expect(await world.planStatus()).toEqual({ status: "apply/applied", undone: true });
}, 300_000);

test(`an apply to files with uncommitted lines, stopped: in each outcome they stay uncommitted (seed ${SEED})`, async () => {
  using world = await LandingWorld.make({ includeDirty: true });
  const before = await world.state();
  const all = new StoppingEffects(Infinity);
  await world.run("apply", all);
  const after = await world.state();
  expect(world.git("show", "HEAD:edit.txt")).toBe("one\nTWO\nthree\nfour\nfive\nsix\n");
  for (let count = Math.floor(seededRandom(SEED)() * STRIDE); count < all.done.length; count += STRIDE) {
    world.reset();
    expect(await world.run("apply", new StoppingEffects(count))).toBe(false);
    await world.recover();
    const { status } = await world.planStatus();
    expect({ count, state: await world.state() }).toEqual({
      count,
      state: status === "apply/applied" ? after : before,
    });
    expect(readFileSync(join(world.repository, "edit.txt"), "utf8")).toMatch(
      /^one\n(two|TWO)\nthree\nfour\nfive\nmine\n$/,
    );
    expect(world.git("diff", "--", "edit.txt")).toContain("-six\n+mine");
    expect(world.leftovers()).toEqual([]);
  }
}, 300_000);
