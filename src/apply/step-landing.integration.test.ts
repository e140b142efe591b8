/**
 * Plans that work in place, stopped after every single effect and between any two transactions, and people who act in
 * between: the record equals the files, each change is there once, and no change of others is touched.
 */
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import type { Tree } from "../execution/testing/trees.ts";
import { ConflictError } from "../domain/errors/errors.ts";
import { PlanApplier } from "./plan-applier.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import { directoryPlaces } from "./prepare-landings.ts";
import { withResourceLocks } from "./resource-locks.ts";
import { StoppingEffects, type Stopping } from "./testing/landing-world.ts";
import { InPlaceWorld } from "./testing/in-place-world.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { sized } from "../testing/size.ts";

/** All of them in the full run; otherwise every few, from another one each time. */
const STRIDE = sized({ normal: 5, full: 1 });
const FIRST = Math.floor(Math.random() * STRIDE);
console.log(`every ${STRIDE}th effect, from the one at ${FIRST}`);

describe.each(["git-checkout", "fs-directory"] as const)("%s", (type) => {
  let world: InPlaceWorld;
  let beginning: Tree;
  let expected: Awaited<ReturnType<InPlaceWorld["outcome"]>>;
  let effects: readonly string[];

  beforeAll(async () => {
    world = await InPlaceWorld.make(type);
    beginning = await world.tree();
    const all = new StoppingEffects(Infinity);
    await world.execute(all);
    effects = all.done;
    expected = await world.outcome(beginning);
  }, 60_000);
  afterAll(() => world[Symbol.dispose]());

  /** Every recorded change is in the files, and every change in the files is recorded. */
  async function expectRecorded(): Promise<void> {
    const { tree, replayed } = await world.outcome(beginning);
    expect(tree).toEqual(replayed);
    expect(world.leftovers()).toEqual([]);
  }

  test("the record equals the files", () => {
    expect(expected.tree).toEqual(expected.replayed);
    expect(expected.tree).not.toEqual(beginning);
    expect(expected.entries).toEqual([
      "write create new/deep/n.txt",
      "edit modify a.txt",
      "mode mode stays.txt",
      "rename rename moved/a.txt",
      "rewrite modify code/a.ts",
      "rewrite modify code/b.ts",
      "drop delete old/deep/x",
      "drop delete old/y",
    ]);
    expect(world.leftovers()).toEqual([]);
  });

  test("stopped after each effect, recovered and taken up again", { timeout: 300_000 }, async () => {
    for (let count = FIRST; count < effects.length; count += STRIDE) {
      world.reset();
      expect(await world.execute(new StoppingEffects(count))).toBe(false);
      await world.recover();
      await expectRecorded();
      await world.execute();
      expect(await world.outcome(beginning), `stopped after ${effects[count - 1]}`).toEqual(expected);
    }
  });

  test("stopped before each transaction, recovered and taken up again", { timeout: 300_000 }, async () => {
    for (let count = FIRST, ended = false; !ended; count += STRIDE) {
      world.reset();
      const stopping = stoppingBefore(count);
      ended = await world.execute(stopping);
      await world.recover();
      await expectRecorded();
      await world.execute();
      expect(await world.outcome(beginning), `stopped before transaction ${count}`).toEqual(expected);
    }
  });

  test("one effect that fails reverses its step, and only that", { timeout: 300_000 }, async () => {
    for (let failing = FIRST; failing < effects.length; failing += STRIDE) {
      world.reset();
      await world.execute(new StoppingEffects(Infinity, { failing })).catch((error: unknown) => {
        expect(error).toMatchObject({
          code: "resource_failed",
          kept: expect.stringContaining("The step changed nothing"),
        });
      });
      await world.recover();
      await expectRecorded();
      await world.execute();
      expect(await world.outcome(beginning)).toEqual(expected);
    }
  });
});

describe("a person", () => {
  let world: InPlaceWorld;
  beforeAll(async () => {
    world = await InPlaceWorld.make("fs-directory");
  });
  afterAll(() => world[Symbol.dispose]());

  const file = (path: string): string => join(world.place, path);
  /** Whether the name, which may be one below an open directory, is that of this file. */
  const is = (at: string, path: string): boolean =>
    basename(at) === basename(path) && realpathSync(dirname(at)) === realpathSync(world.place) + dirname(`/${path}`);

  function before(deed: () => void, meant: (from: string, to: string) => boolean, name: "rename" | "link"): Stopping {
    let done = false;
    const act: FileEffects["rename"] = (from, to) => {
      if (!done && meant(from, to)) {
        done = true;
        deed();
      }
      FILE_EFFECTS[name](from, to);
    };
    return { effects: { ...FILE_EFFECTS, [name]: act }, stopped: false };
  }

  test("who saves a file right before it is moved aside keeps it, and all other files of the step go back", async () => {
    world.reset();
    const beginning = await world.tree();
    const save = (): void => writeFileSync(file("code/b.ts"), "mine\n");
    const effects = before(save, (from) => is(from, "code/b.ts"), "rename");
    await expect(world.execute(effects)).rejects.toMatchObject({
      code: "merge_conflict",
      message: expect.stringContaining("code/b.ts was changed meanwhile"),
      kept: expect.stringContaining(world.place),
      next: expect.arrayContaining([nextStep("plan.undo", { plan: world.planId })]),
    });
    expect(readFileSync(file("code/b.ts"), "utf8")).toBe("mine\n");
    expect(readFileSync(file("code/a.ts"), "utf8")).toBe("log(1);\n");
    expect(world.leftovers()).toEqual([]);
    const { entries } = await world.outcome(beginning);
    expect(entries.filter((entry) => entry.startsWith("rewrite"))).toEqual([]);
  });

  test("who makes a file right before the step's is linked in keeps it", async () => {
    world.reset();
    const make = (): void => writeFileSync(file("moved/a.txt"), "mine\n");
    const effects = before(make, (_, to) => is(to, "moved/a.txt"), "link");
    await expect(world.execute(effects)).rejects.toMatchObject({ code: "merge_conflict" });
    expect(readFileSync(file("moved/a.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(file("a.txt"), "utf8")).toBe("one\n2\nthree\n");
    expect(world.leftovers()).toEqual([]);
  });
});

describe("other processes that want the plan", () => {
  let world: InPlaceWorld;
  let beginning: Tree;
  beforeAll(async () => {
    world = await InPlaceWorld.make("git-checkout");
    beginning = await world.tree();
  });
  afterAll(() => world[Symbol.dispose]());

  test("cannot have it while a step is half done, before recovery has finished it", async () => {
    world.reset();
    expect(await world.execute(new StoppingEffects(5))).toBe(false);
    await using store = await world.open();
    const unsealed = "SELECT COUNT(*) AS count FROM journals WHERE outcome IS NULL";
    expect(await store.transaction((tx) => tx.get(unsealed))).toEqual({ count: 1 });
    await store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 0"));
    const service = new PlanLifecycleService({ store });
    await expect(world.execute()).rejects.toBeInstanceOf(ConflictError);
    await expect(service.cancelPlan(world.planId)).rejects.toBeInstanceOf(ConflictError);
    await expect(service.revertPlan(world.planId)).rejects.toBeInstanceOf(ConflictError);
    await world.recover();
    expect(await world.execute()).toBe(true);
    const { tree, replayed } = await world.outcome(beginning);
    expect(tree).toEqual(replayed);
  });

  test(
    "make its old owner stop: no step lands that begins to after the lease was lost",
    { timeout: 120_000 },
    async () => {
      let lost = 0;
      for (let count = FIRST, reached = true; reached; count += STRIDE) {
        world.reset();
        const database = join(world.dataDir, "store.db");
        let begun = 0;
        let allowed = Infinity;
        const beforeTransaction = (): void => {
          if (begun++ !== count) return;
          using other = new DatabaseSync(database, { timeout: 5_000 });
          const { changes } = other.prepare("UPDATE leases SET epoch = epoch + 1 WHERE phase = 'execute'").run();
          // Not begun yet, or over: there is no lease to lose.
          if (changes === 0) return;
          const steps = "SELECT COUNT(*) AS count FROM steps WHERE phase = 'execute'";
          const unsealed = "SELECT COUNT(*) AS count FROM journals WHERE outcome IS NULL";
          allowed = [steps, unsealed].reduce((sum, sql) => sum + Number(other.prepare(sql).get()?.["count"]), 0);
        };
        const running = world.execute({ effects: FILE_EFFECTS, stopped: false, beforeTransaction });
        await running.catch((error: unknown) => expect(error).toMatchObject({ code: "stale_lease" }));
        reached = begun > count;
        if (allowed < Infinity) lost += 1;
        const { entries, tree, replayed } = await world.outcome(beginning);
        expect(new Set(entries.map((entry) => entry.split(" ")[0])).size).toBeLessThanOrEqual(allowed);
        expect(tree).toEqual(replayed);
      }
      expect(lost).toBeGreaterThan(0);
    },
  );

  test("and move it while it is to be undone: the undo is refused", async () => {
    world.reset();
    await world.execute(new StoppingEffects(Infinity, { failing: 20 })).catch(() => undefined);
    await using store = await world.open();
    const service = new PlanLifecycleService({ store });
    const before = await world.outcome(beginning);
    const places = await directoryPlaces(world.place);
    let undoing: Promise<unknown> = Promise.resolve();
    const hold = async (): Promise<void> => {
      const applier = new PlanApplier({ store, service, data: new DataDirectory(world.dataDir) });
      undoing = applier.undo(world.planId).catch((error: unknown) => error);
      const leased = (): Promise<unknown> =>
        store.read((reader) => reader.get("SELECT 1 FROM leases WHERE expires_at > now_ms()"));
      while ((await leased()) === undefined) await sleep(5);
      await service.executePlan(world.planId);
    };
    await withResourceLocks(join(world.dataDir, "locks"), places, hold, { patienceMs: 1_000 });
    expect(await undoing).toBeInstanceOf(ConflictError);
    expect(await world.outcome(beginning)).toEqual(before);
    expect(await world.execute()).toBe(true);
  });
});

function stoppingBefore(count: number): Stopping {
  let begun = 0;
  const state = {
    effects: FILE_EFFECTS,
    stopped: false,
    beforeTransaction: () => {
      state.stopped ||= begun >= count;
      begun += 1;
    },
  };
  return state;
}
