/**
 * An apply, undo or redo that is stopped after every single effect on the user's files and refs, and a recovery that is
 * stopped again: afterwards every resource is as before or as after, all agree, the plan says which, and no file of
 * ours is left.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "../testing/random.ts";
import { LandingWorld, StoppingEffects, type WorldState } from "./testing/landing-world.ts";
import { sized } from "../testing/size.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const DEEDS = ["apply", "undo", "redo"] as const;

describe.each(DEEDS)("%s, stopped", (deed) => {
  let world: LandingWorld;
  let before: WorldState;
  let after: WorldState;
  let effects: readonly string[];

  beforeAll(async () => {
    world = await LandingWorld.make();
    for (const earlier of DEEDS.slice(0, DEEDS.indexOf(deed))) await world.run(earlier);
    world.keep();
    before = await world.state();
    const all = new StoppingEffects(Infinity);
    await world.run(deed, all);
    effects = all.done;
    after = await world.state();
  }, 60_000);
  afterAll(() => world[Symbol.dispose]());

  async function settled(): Promise<"before" | "after"> {
    const state = await world.state();
    const { status, undone } = await world.planStatus();
    expect(world.leftovers()).toEqual([]);
    const done = deed === "apply" ? status === "apply/applied" : undone === (deed === "undo");
    expect(state).toEqual(done ? after : before);
    if (deed === "apply" && !done) expect(["apply/errored", "apply/processing"]).toContain(status);
    return done ? "after" : "before";
  }

  test("changes something, and leaves no file of ours", async () => {
    world.reset();
    await world.run(deed);
    expect(after).not.toEqual(before);
    expect(await settled()).toBe("after");
  });

  test(`after each effect: the next command finishes it (seed ${SEED})`, async () => {
    const ends = { before: 0, after: 0, sealed: 0 };
    const stride = sized({ normal: deed === "apply" ? 5 : 10, full: 1 });
    for (let count = Math.floor(seededRandom(SEED)() * stride); count < effects.length; count += stride) {
      world.reset();
      expect(await world.run(deed, new StoppingEffects(count))).toBe(false);
      const recovered = await world.recover();
      const end = await settled();
      // Once it is sealed, recovery only tidies up, and reports nothing.
      if (recovered?.length === 0) expect(end, `stopped after ${effects[count - 1]}`).toBe("after");
      ends[recovered?.length === 0 ? "sealed" : end] += 1;
    }
    console.log(`${deed}: ${effects.length} effects;`, ends);
    expect(effects).toContain("update refs");
    expect(ends.after).toBeGreaterThan(0);
  }, 300_000);

  test(`and the recovery is stopped too (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const step = sized({ normal: 14, full: 1 });
    for (let count = Math.floor(random() * step); count < effects.length; count += step) {
      world.reset();
      await world.run(deed, new StoppingEffects(count));
      // Stopped again and again, each time a little later, until one recovery is finished.
      for (let patience = Math.floor(random() * 6); ; patience += 1 + Math.floor(random() * 6)) {
        if ((await world.recover(new StoppingEffects(patience))) !== undefined) break;
      }
      expect(["before", "after"]).toContain(await settled());
    }
  }, 600_000);

  test(`when one effect fails everything is reversed, also when that is stopped (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const ends = { before: 0, after: 0 };
    const stride = sized({ normal: 14, full: 1 });
    for (let failing = Math.floor(random() * stride); failing < effects.length; failing += stride) {
      world.reset();
      // Every second time the way back is stopped as well, and the next command continues it.
      const stopping = new StoppingEffects(random() < 0.5 ? Infinity : failing + Math.floor(random() * 40), {
        failing,
      });
      await world.run(deed, stopping).catch((error: unknown) => expect(String(error)).toContain("EIO"));
      await world.recover();
      ends[await settled()] += 1;
    }
    console.log(`${deed}:`, ends);
    expect(ends.before).toBeGreaterThan(ends.after);
  }, 600_000);

  test("a landing that was reversed can be repeated", async () => {
    world.reset();
    await world.run(deed, new StoppingEffects(0));
    await world.recover();
    if ((await settled()) === "before") await world.run(deed);
    expect(await world.state()).toEqual(after);
    expect(await world.recover()).toEqual([]);
  });
});
