/**
 * Changes recorded by many at once: every entry is in the changeset of its scope, or was refused; never anywhere
 * else.
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { PlanError, StaleLeaseError, StoreError, ValidationError } from "../../domain/errors/errors.ts";
import { PlanExecutionContext, type ChangesetHandle } from "./plan-execution-context.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { ChangeEntry } from "../../domain/plan/change-entry.ts";
import type { ChangesetId } from "../../domain/names/ids.ts";
import type { Store } from "../../store/port.ts";
import { alteredStore } from "../../testing/altered-store.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { actionInput, created, planAt } from "../../testing/fixtures.ts";
import { planRows } from "../../testing/plan-rows.ts";
import { scheduledStore } from "../../testing/scheduled-store.ts";
import { STORE_KINDS, TemporaryStore } from "../../testing/temporary-store.ts";
import { sized } from "../../testing/size.ts";

const SCHEDULES = sized({ quick: 200, normal: 1_000, full: 20_000 });
const TTL_MS = 600_000;

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  const clock = new FakeClock();
  let temporary: TemporaryStore;
  let store: Store;
  let service: PlanLifecycleService;
  let changesets: ChangesetStore;

  beforeAll(async () => {
    temporary = await TemporaryStore.open(kind, { clock: clock.now });
    store = temporary.store;
    service = new PlanLifecycleService({ store, clock: clock.now });
    changesets = new ChangesetStore(store);
    await service.createAction(actionInput());
  });
  afterAll(() => temporary[Symbol.asyncDispose]());

  async function executing() {
    const { id, lease } = await planAt(service, "execute/processing", { ttlMs: TTL_MS });
    if (lease === undefined) throw new Error("no lease");
    return { id, lease, context: new PlanExecutionContext({ store, plan: { id }, lease }) };
  }

  async function paths(id: ChangesetId): Promise<string[]> {
    const entries = await changesets.entries(id);
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
    expect((await changesets.get(id))?.entryCount).toBe(entries.length);
    return entries.map((entry) => entry.path);
  }

  test("without an open changeset there is nothing to record into", async () => {
    const { context } = await executing();
    const error = await context.recordChange(created("a")).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PlanError);
    expect(error).toMatchObject({ code: "plan", message: "No changeset is open. Call startChangeset() first." });
  });

  test("while a start is pending it is unknown where a change belongs, with or without another one open", async () => {
    const { context } = await executing();
    const starting = context.startChangeset();
    const early = await context.recordChange(created("early")).catch((reason: unknown) => reason);
    expect(early).toBeInstanceOf(PlanError);
    expect(early).toMatchObject({ detail: { candidates: [], pending_starts: 1 } });
    const first = await starting;
    const second = context.startChangeset();
    // The race in question: the store has the new changeset already, the context not yet.
    const between = await context.recordChange(created("between")).catch((reason: unknown) => reason);
    expect(between).toBeInstanceOf(PlanError);
    expect(between).toMatchObject({ detail: { candidates: [first.id], pending_starts: 1 } });
    const both = [first.id, (await second).id];
    const ambiguous = await context.recordChange(created("ambiguous")).catch((reason: unknown) => reason);
    expect(ambiguous).toMatchObject({ detail: { candidates: both, pending_starts: 0 } });
    expect((ambiguous as Error).message).toContain(both.join(", "));
    expect(await paths(first.id)).toEqual([]);
  });

  test("with exactly one open and no run, a change goes there", async () => {
    const { context } = await executing();
    const only = await context.startChangeset();
    const entry = await context.recordChange(created("a"));
    expect(entry).toMatchObject({ changesetId: only.id, sequence: 1, path: "a", at: clock.now() });
    const other = await context.startChangeset();
    await expect(context.recordChange(created("b"))).rejects.toBeInstanceOf(PlanError);
    await only.close();
    expect(await context.recordChange(created("c"))).toMatchObject({ changesetId: other.id });
    expect(await paths(only.id)).toEqual(["a"]);
    expect(await paths(other.id)).toEqual(["c"]);
  });

  test("a start that fails leaves nothing pending", async () => {
    const { id, lease } = await executing();
    await service.cancelPlan(id);
    const context = new PlanExecutionContext({ store, plan: id, lease });
    await expect(context.startChangeset()).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(context.recordChange(created("a"))).rejects.toThrow("No changeset is open");
  });

  test("run binds one for everything below it, across awaits; an inner run wins and ends", async () => {
    const { context } = await executing();
    const [outer, inner] = [await context.startChangeset(), await context.startChangeset()];
    await context.run(outer, async () => {
      await context.recordChange(created("o1"));
      await Promise.all([
        context.run(inner, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          await context.recordChange(created("i1"));
        }),
        context.recordChange(created("o2")),
      ]);
      await context.recordChange(created("o3"));
    });
    await expect(context.recordChange(created("outside"))).rejects.toBeInstanceOf(PlanError);
    expect(await paths(outer.id)).toEqual(expect.arrayContaining(["o1", "o2", "o3"]));
    expect(await paths(outer.id)).toHaveLength(3);
    expect(await paths(inner.id)).toEqual(["i1"]);
    expect(context.run(outer, () => 42)).toBe(42);
  });

  test("work that outlives its run, and even its changeset, is refused and not filed elsewhere", async () => {
    const { context } = await executing();
    const [first, second] = [await context.startChangeset(), await context.startChangeset()];
    let late: Promise<ChangeEntry> | undefined;
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    await context.run(first, async () => {
      late = gate.then(() => context.recordChange(created("late")));
    });
    await first.close();
    open();
    await expect(late).rejects.toThrow(`The changeset ${first.id} is closed.`);
    expect(await paths(second.id)).toEqual([]);
  });

  test("run refuses a changeset that is closed or of another context", async () => {
    const [one, another] = [await executing(), await executing()];
    const foreign = await another.context.startChangeset();
    expect(() => one.context.run(foreign, () => 1)).toThrow(PlanError);
    const closed = await one.context.startChangeset();
    await closed.close();
    expect(() => one.context.run(closed, () => 1)).toThrow("is not open in this context");
    const attached = PlanExecutionContext.attach({ store, changesetId: foreign.id, epoch: foreign.epoch });
    expect(() => another.context.run(attached, () => 1)).toThrow(PlanError);
  });

  test("two contexts share nothing, even on one plan", async () => {
    const { id, lease, context } = await executing();
    const other = new PlanExecutionContext({ store, plan: id, lease });
    const mine = await context.startChangeset();
    await expect(other.recordChange(created("a"))).rejects.toThrow("No changeset is open");
    const theirs = await other.startChangeset();
    await context.run(mine, async () => {
      await other.recordChange(created("theirs"));
      await context.recordChange(created("mine"));
    });
    expect(await paths(mine.id)).toEqual(["mine"]);
    expect(await paths(theirs.id)).toEqual(["theirs"]);
    expect(context.activeChangesets()).toEqual([mine.id]);
  });

  test("closing: what was asked for before is in, what is asked for after is refused; twice is harmless", async () => {
    const { context } = await executing();
    const changeset = await context.startChangeset();
    const before = Array.from({ length: 20 }, (_, index) => changeset.record(created(`before-${index}`)));
    const closing = changeset.close();
    const after = changeset.record(created("after"));
    await expect(after).rejects.toBeInstanceOf(PlanError);
    await expect(context.recordChange(created("after"))).rejects.toBeInstanceOf(PlanError);
    await Promise.all(before);
    await closing;
    await changeset.close();
    expect(await paths(changeset.id)).toHaveLength(20);
    expect((await changesets.get(changeset.id))?.closedAt).toBe(clock.now());
    expect(context.activeChangesets()).toEqual([]);
    const attached = PlanExecutionContext.attach({ store, changesetId: changeset.id, epoch: changeset.epoch });
    await expect(attached.record(created("after"))).rejects.toThrow(`The changeset ${changeset.id} is closed.`);
  });

  test("a close the store could not carry out can be repeated; until then nothing is lost", async () => {
    const { id, lease } = await executing();
    let broken = false;
    const breaking = alteredStore(store, {
      transaction: (unit) => (broken ? Promise.reject(new StoreError("store_busy", "busy")) : store.transaction(unit)),
    });
    const context = new PlanExecutionContext({ store: breaking, plan: id, lease });
    const changeset = await context.startChangeset();
    broken = true;
    await expect(changeset.close()).rejects.toBeInstanceOf(StoreError);
    await expect(changeset.record(created("a"))).rejects.toBeInstanceOf(StoreError);
    expect(context.activeChangesets()).toEqual([changeset.id]);
    broken = false;
    await changeset.record(created("b"));
    await changeset.close();
    expect(await paths(changeset.id)).toEqual(["b"]);
    expect(context.activeChangesets()).toEqual([]);
  });

  test("a changeset that was closed through another handle is let go by its context when it closes it too", async () => {
    const { context } = await executing();
    const changeset = await context.startChangeset();
    await PlanExecutionContext.attach({ store, changesetId: changeset.id, epoch: changeset.epoch }).close();
    await changeset.close().catch((error: unknown) => expect(error).toBeInstanceOf(PlanError));
    expect(context.activeChangesets()).toEqual([]);
  });

  test("an entry that is not valid takes no place", async () => {
    const { context } = await executing();
    const changeset = await context.startChangeset();
    await expect(changeset.record(created("../outside"))).rejects.toBeInstanceOf(ValidationError);
    await changeset.record(created("inside"));
    expect(await paths(changeset.id)).toEqual(["inside"]);
  });

  test("under a lease that was lost: no start, no record, no close, nothing written", async () => {
    const { id, context } = await executing();
    const changeset = await context.startChangeset();
    await changeset.record(created("in time"));
    clock.advance(TTL_MS);
    const before = await planRows(store, id);
    await expect(context.startChangeset()).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(changeset.record(created("late"))).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(context.run(changeset, () => context.recordChange(created("late")))).rejects.toBeInstanceOf(
      StaleLeaseError,
    );
    await expect(changeset.close()).rejects.toBeInstanceOf(StaleLeaseError);
    expect(await planRows(store, id)).toEqual(before);
    // It stays in the store as it is; here it is let go.
    expect(context.activeChangesets()).toEqual([]);
    expect(before.changesets[0]).toMatchObject({ closed_at: null, entry_count: 1 });
  });

  test("a handle of another epoch can neither record into a changeset nor close it", async () => {
    const { id, lease } = await executing();
    clock.advance(TTL_MS);
    const successor = await service.startExecute(id, { ttlMs: TTL_MS });
    const changeset = await new PlanExecutionContext({ store, plan: id, lease: successor }).startChangeset();
    const before = await planRows(store, id);
    for (const epoch of [lease.epoch, undefined, successor.epoch + 1]) {
      const stale = PlanExecutionContext.attach({ store, changesetId: changeset.id, epoch });
      await expect(stale.record(created("stale"))).rejects.toBeInstanceOf(StaleLeaseError);
      await expect(stale.close()).rejects.toBeInstanceOf(StaleLeaseError);
    }
    expect(await planRows(store, id)).toEqual(before);
    await changeset.record(created("mine"));
  });

  test("a lease of another plan is not a lease for this one", async () => {
    const [one, another] = [await executing(), await executing()];
    expect(() => new PlanExecutionContext({ store, plan: one.id, lease: another.lease })).toThrow(PlanError);
  });

  test("without a lease a context records all the same; with a plan that is not there it does not", async () => {
    const { id } = await planAt(service, "strategize/queued");
    const context = new PlanExecutionContext({ store, plan: id });
    const changeset = await context.startChangeset();
    expect(changeset.epoch).toBeUndefined();
    await changeset.record(created("a"));
    await changeset.close();
    expect(await paths(changeset.id)).toEqual(["a"]);
    const nowhere = new PlanExecutionContext({ store, plan: { id: "0".repeat(26) as typeof id } });
    await expect(nowhere.startChangeset()).rejects.toMatchObject({ code: "not_found" });
  });

  test("many starters and recorders at once, through handles, runs and neither", async () => {
    const { context } = await executing();
    const expected = new Map<ChangesetId, string[]>();
    let refused = 0;
    await Promise.all(
      Array.from({ length: 30 }, async (_, starter) => {
        const handle = await context.startChangeset();
        const own: string[] = [];
        expected.set(handle.id, own);
        const note = async (record: Promise<ChangeEntry>, path: string): Promise<void> => {
          expect(await record).toMatchObject({ changesetId: handle.id, path });
          own.push(path);
        };
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => {
            const path = `${starter}/${index}`;
            if (index % 2 === 0) return note(handle.record(created(path)), path);
            return context.run(handle, () => note(context.recordChange(created(path)), path));
          }),
        );
        await context.recordChange(created(`${starter}/guess`)).then(
          ({ changesetId, path }) => expected.get(changesetId)?.push(path),
          (error: unknown) => {
            expect(error).toBeInstanceOf(PlanError);
            refused += 1;
          },
        );
        await handle.close();
      }),
    );
    expect(refused).toBeGreaterThan(0);
    for (const [id, wanted] of expected) expect([...(await paths(id))].sort()).toEqual([...wanted].sort());
    expect(context.activeChangesets()).toEqual([]);
  });
});

describe("in every order a scheduler thinks of", () => {
  const clock = new FakeClock();
  let temporary: TemporaryStore;
  let service: PlanLifecycleService;

  beforeAll(async () => {
    temporary = await TemporaryStore.open("memory", { clock: clock.now });
    service = new PlanLifecycleService({ store: temporary.store, clock: clock.now });
    await service.createAction(actionInput());
  });
  afterAll(() => temporary[Symbol.asyncDispose]());

  test(`every entry is where it belongs or refused, in ${SCHEDULES} schedules`, { timeout: 1_800_000 }, async () => {
    const reached = { recorded: 0, ambient: 0, refused: 0 };
    const { id, lease } = await planAt(service, "execute/processing", { ttlMs: TTL_MS });
    const changesets = new ChangesetStore(temporary.store);
    const way = fc.constantFrom("handle", "run", "ambient" as const);
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.array(way, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        fc.nat({ max: 3 }),
        fc.boolean(),
        async (scheduler, starters, recorders, overlapping) => {
          const store = scheduledStore(temporary.store, scheduler, { overlapping });
          if (lease === undefined) throw new Error("no lease");
          const context = new PlanExecutionContext({ store, plan: id, lease });
          const where = new Map<string, ChangesetId>();
          const open = new Set<ChangesetId>();
          const all: ChangesetId[] = [];
          let pending = 0;
          let path = 0;

          const expectEntry = async (record: () => Promise<ChangeEntry>, handle: ChangesetHandle): Promise<void> => {
            const entry = await record();
            expect(entry.changesetId).toBe(handle.id);
            where.set(entry.path, handle.id);
            reached.recorded += 1;
          };
          /** The test keeps its own books of what is open and pending, and so knows what the answer must be. */
          const guess = async (): Promise<void> => {
            const [only, another] = open;
            const certain = only !== undefined && another === undefined && pending === 0;
            const candidates = [...open];
            const name = `ambient-${(path += 1)}`;
            try {
              const entry = await context.recordChange(created(name));
              expect(certain).toBe(true);
              expect(entry.changesetId).toBe(only);
              where.set(name, entry.changesetId);
              reached.ambient += 1;
            } catch (error) {
              expect(error).toBeInstanceOf(PlanError);
              reached.refused += 1;
              if (!certain && open.size + pending > 0 && candidates.length > 0) {
                for (const candidate of candidates) expect((error as Error).message).toContain(candidate);
              }
            }
          };
          const starter = async (ways: readonly string[]): Promise<void> => {
            pending += 1;
            const handle = await context.startChangeset().finally(() => (pending -= 1));
            open.add(handle.id);
            all.push(handle.id);
            for (const one of ways) {
              const name = `own-${(path += 1)}`;
              if (one === "ambient") await guess();
              else if (one === "handle") await expectEntry(() => handle.record(created(name)), handle);
              else await context.run(handle, () => expectEntry(() => context.recordChange(created(name)), handle));
            }
            await handle.close();
            open.delete(handle.id);
          };
          const recorder = async (): Promise<void> => {
            for (let times = 0; times < 3; times += 1) {
              await scheduler.schedule(Promise.resolve(), "recorder");
              await guess();
            }
          };
          await scheduler.waitFor(
            Promise.all([...starters.map(starter), ...Array.from({ length: recorders }, recorder)]),
          );

          const filed = new Map<string, ChangesetId>();
          for (const changesetId of all) {
            const entries = await changesets.entries(changesetId);
            expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
            for (const entry of entries) filed.set(entry.path, changesetId);
          }
          expect(filed).toEqual(where);
          expect(context.activeChangesets()).toEqual([]);
        },
      ),
      { numRuns: SCHEDULES },
    );
    for (const count of Object.values(reached)) expect(count).toBeGreaterThan(SCHEDULES / 10);
  });
});
