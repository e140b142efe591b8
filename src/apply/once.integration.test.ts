/**
 * The parts of a landing that happen once or in one step, without a crash or second owner in between: direction, seal,
 * journal, finish.
 */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DataDirectory } from "../platform/data-directory.ts";
import { PlanApplier } from "./plan-applier.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { FILE_EFFECTS, type FileEffects } from "./file-effects.ts";
import { decideDirection, insertJournal } from "../ledger/journal.ts";
import { LandingWorld, StoppingEffects, type WorldState } from "./testing/landing-world.ts";

let world: LandingWorld;
let before: WorldState;
let after: WorldState;
let effects: readonly string[];

beforeAll(async () => {
  world = await LandingWorld.make();
  before = await world.state();
  const all = new StoppingEffects(Infinity);
  await world.run("apply", all);
  effects = all.done;
  after = await world.state();
}, 60_000);
beforeEach(() => world.reset());
afterAll(() => world[Symbol.dispose]());

test("stopped before any of its writes to the store: plan and resources agree after the next command", async () => {
  for (const deed of ["apply", "undo"] as const) {
    for (let count = 0, ended = false; !ended; count += 1) {
      world.reset();
      if (deed === "undo") await world.run("apply");
      let [left, stopped] = [count, false];
      const beforeTransaction = (): void => void (stopped ||= left-- === 0);
      const stopping = {
        effects: FILE_EFFECTS,
        beforeTransaction,
        get stopped() {
          return stopped;
        },
      };
      ended = await world.run(deed, stopping);
      await world.recover();
      const { status, undone } = await world.planStatus();
      const isIn = deed === "apply" ? status === "apply/applied" : !undone;
      const { repository, directory } = await world.state();
      const expected = isIn ? after : before;
      expect({ deed, count, repository, directory }).toEqual({
        deed,
        count,
        repository: expected.repository,
        directory: expected.directory,
      });
      expect(world.leftovers()).toEqual([]);
      expect(ended ? isIn === (deed === "apply") : true).toBe(true);
    }
  }
});

test("a landing on its way back keeps that direction, even when nothing is in the way any more", async () => {
  const failing = effects.lastIndexOf("link");
  let cut = 0;
  for (let count = failing + 1; count < failing + 12; count += 3) {
    world.reset();
    if (await world.run("apply", new StoppingEffects(count, { failing })).catch(() => true)) continue;
    cut += 1;
    const recovered = await world.recover();
    expect(recovered).toMatchObject([{ result: "undone", kept: [] }]);
    expect(await world.state()).toEqual(before);
    expect(world.leftovers()).toEqual([]);
  }
  expect(cut).toBeGreaterThan(1);
});

test.each([true, false])("reversed, an empty directory exists if it existed before (%s)", async (there) => {
  const places = [world.repository, world.directory].map((root) => join(root, "new/deep"));
  if (there) for (const place of places) mkdirSync(place, { recursive: true });
  // The last file to be linked in, when every directory is made.
  const link: FileEffects["link"] = (from, to) => {
    if (basename(to) === "tail" && realpathSync(dirname(to)) === realpathSync(world.directory))
      throw Object.assign(new Error("EIO: link"), { code: "EIO" });
    FILE_EFFECTS.link(from, to);
  };
  await expect(world.run("apply", { effects: { ...FILE_EFFECTS, link }, stopped: false })).rejects.toThrow("EIO");
  expect(places.map((place) => existsSync(place))).toEqual([there, there]);
  expect(places.map((place) => existsSync(dirname(place)))).toEqual([there, there]);
  expect((await world.state()).log).toEqual(before.log);
  expect(world.leftovers()).toEqual([]);
});

test("a plan has one landing at a time, and that one direction", async () => {
  await using store = await world.open();
  const { planId } = world;
  const journal = { planId, kind: "apply", holder: "another process", undoneSteps: [], landings: [] } as const;
  await store.transaction((tx) => insertJournal(tx, { id: "1", ...journal }));
  await expect(store.transaction((tx) => insertJournal(tx, { id: "2", ...journal }))).rejects.toThrow("UNIQUE");
  const decide = (direction: "forward" | "back"): Promise<string> =>
    store.transaction((tx) => decideDirection(tx, "1", direction));
  expect([await decide("back"), await decide("forward")]).toEqual(["back", "back"]);
});

test("while it is half done no process cancels the plan or begins another apply, not even when its lease has lapsed", async () => {
  await world.run("apply", new StoppingEffects(effects.indexOf("update refs") + 2));
  await using store = await world.open();
  const service = new PlanLifecycleService({ store });
  const half = await world.state();
  for (const lapsed of [false, true]) {
    if (lapsed) await store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 1"));
    for (const deed of ["cancelPlan", "startApply", "revertPlan"] as const)
      await expect(service[deed](world.planId), deed).rejects.toMatchObject({ name: "ConflictError" });
    for (const deed of ["cancelPlan", "startApply"] as const)
      await expect(service[deed](world.planId), deed).rejects.toThrow("are being written to its resources right now");
  }
  expect(await world.state()).toEqual(half);
});

test("a process that lost the lease while preparing journals nothing and moves nothing", async () => {
  await using store = await world.open();
  const service = new PlanLifecycleService({ store });
  // By the time it writes, its lease has lapsed.
  const late = alteredStore(store, {
    transaction: async (unit) => {
      await store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 1"));
      return store.transaction(unit);
    },
  });
  const applier = new PlanApplier({ store: late, service, data: new DataDirectory(world.dataDir) });
  await expect(applier.apply(world.planId)).rejects.toMatchObject({ name: "StaleLeaseError" });
  expect(await store.read((reader) => reader.all("SELECT id FROM journals"))).toEqual([]);
  expect(await world.state()).toEqual(before);
});

test("a failure to tidy up after a landing does not make it fail; the next command tidies up", async () => {
  const removeTree = (): never => {
    throw Object.assign(new Error("EIO: remove"), { code: "EIO" });
  };
  expect(await world.run("apply", { effects: { ...FILE_EFFECTS, removeTree }, stopped: false })).toBe(true);
  expect(await world.planStatus()).toEqual({ status: "apply/applied", undone: false });
  expect(world.leftovers()).toHaveLength(2);
  expect(await world.recover({ effects: { ...FILE_EFFECTS, removeTree }, stopped: false })).toMatchObject([
    { result: "blocked", obstacle: expect.stringContaining("EIO") },
  ]);
  expect(await world.recover()).toEqual([]);
  expect(world.leftovers()).toEqual([]);
  expect(await world.state()).toEqual(after);
});

test("a journal is attended to until everything it did is on disk", async () => {
  await world.run("apply");
  const finished = async (): Promise<unknown> => {
    await using store = await world.open();
    return store.read((reader) => reader.get("SELECT finished_at IS NOT NULL AS yes FROM journals"));
  };
  await world.recover();
  expect(await finished()).toEqual({ yes: 0 });
  {
    await using store = await world.open();
    await store.transaction((tx) => tx.run("UPDATE journals SET sealed_at = 1"));
  }
  const failing = Object.assign(new Error("EIO: sync"), { code: "EIO" });
  const broken = {
    ...FILE_EFFECTS,
    sync: () => {
      throw failing;
    },
  };
  expect(await world.recover({ effects: broken, stopped: false })).toMatchObject([{ result: "blocked" }]);
  expect(await finished()).toEqual({ yes: 0 });
  const synced: string[] = [];
  const sync = (path: string): void => {
    synced.push(path);
    FILE_EFFECTS.sync(path);
  };
  expect(await world.recover({ effects: { ...FILE_EFFECTS, sync }, stopped: false })).toEqual([]);
  expect(await finished()).toEqual({ yes: 1 });
  for (const name of ["edit.txt", "tail", "n.txt", "deep"])
    expect(
      synced.filter((path) => path.endsWith(`/${name}`)),
      name,
    ).toHaveLength(2);
});
