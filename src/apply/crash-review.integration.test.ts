/** The landing of a part of a plan, stopped after each effect: the part is there or nothing is, as the record says. */
import { expect, test } from "vitest";
import { seededRandom } from "../testing/random.ts";
import { sized } from "../testing/size.ts";
import { diffOf } from "../changes/diff-cache.ts";
import { isReviewStep, planChanges } from "../changes/plan-changes.ts";
import { reviewFiles } from "../changes/review-files.ts";
import { LandingWorld, StoppingEffects } from "./testing/landing-world.ts";
import type { TakenPart } from "./partial-landing.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const STRIDE = sized({ normal: 8, full: 1 });

async function halfOf(world: LandingWorld): Promise<TakenPart> {
  await using store = await world.open();
  const entries = await planChanges(store, world.planId, 1);
  const files = reviewFiles(entries, (await diffOf(store, entries)).patch);
  // A file in the place of a directory comes only with what made room for it.
  const isTied = (path: string): boolean => path.includes("becomes");
  const units = files.flatMap(({ path, units: own }) =>
    own.filter((_, index) => isTied(path) || (path.length + index) % 2 === 0),
  );
  const chosen = { guidance: "half", question: null };
  return { revision: 0, units: new Set(units.map(({ id }) => id)), chosen };
}

test("a part is applied only for the review that was seen", async () => {
  using world = await LandingWorld.make();
  const before = await world.state();
  const part = { ...(await halfOf(world)), revision: 1 };
  await expect(world.run("apply", undefined, { part })).rejects.toThrow("Another reviewer changed the review");
  expect(await world.state()).toEqual(before);
  expect(await hasReview(world)).toBe(false);
});

async function hasReview(world: LandingWorld): Promise<boolean> {
  await using store = await world.open();
  return (await planChanges(store, world.planId, 1)).some(({ step }) => isReviewStep(step));
}

test(`a partial apply, stopped: all of the part or nothing; then undo and redo move exactly it (seed ${SEED})`, async () => {
  using world = await LandingWorld.make();
  const before = await world.state();
  const part = await halfOf(world);
  const all = new StoppingEffects(Infinity);
  await world.run("apply", all, { part });
  const after = await world.state();
  await world.run("undo");
  expect((await world.state()).repository).toEqual(before.repository);
  await world.run("redo");
  expect((await world.state()).repository).toEqual(after.repository);
  const ends = { in: 0, out: 0 };
  for (let count = Math.floor(seededRandom(SEED)() * STRIDE); count < all.done.length; count += STRIDE) {
    world.reset();
    expect(await world.run("apply", new StoppingEffects(count), { part })).toBe(false);
    await world.recover();
    const { status } = await world.planStatus();
    const isIn = status === "apply/applied";
    expect({ count, state: await world.state() }).toEqual({ count, state: isIn ? after : before });
    expect(await hasReview(world)).toBe(isIn);
    expect(world.leftovers()).toEqual([]);
    if (isIn) {
      await world.run("undo");
      expect((await world.state()).directory).toEqual(before.directory);
    }
    ends[isIn ? "in" : "out"] += 1;
  }
  expect(ends.in + ends.out).toBeGreaterThan(1);
}, 300_000);
