/**
 * The facts a plan keeps as it moves: version, attempt, reversions, times, reasons, failures; and who may move it when.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ConflictError, NotFoundError, StaleLeaseError, UsageError, ValidationError } from "../domain/errors/errors.ts";
import { Lease } from "../ledger/leases.ts";
import { MAX_REVERSIONS, statusKey } from "../domain/plan/transitions.ts";
import { PlanExecutionContext } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { runStep } from "../ledger/steps.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, created, moveTo, perform, planAt, STATUSES } from "../testing/fixtures.ts";
import { history, planRows } from "../testing/plan-rows.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";

const TTL_MS = 60_000;
const NONE = { startedAt: undefined, endedAt: undefined };

interface Setting extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly service: PlanLifecycleService;
}

async function setting(): Promise<Setting> {
  const clock = new FakeClock();
  const temporary = await TemporaryStore.open("memory", { clock: clock.now });
  const service = new PlanLifecycleService({ store: temporary.store, clock: clock.now, user: "tester" });
  await service.createAction(actionInput());
  return {
    clock,
    store: temporary.store,
    service,
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

describe("reverting", () => {
  test("raises attempt and reversion count together, three times and not a fourth", async () => {
    await using s = await setting();
    const { id } = await s.service.useAction({ action: "local/fix" });
    for (let round = 1; round <= MAX_REVERSIONS; round += 1) {
      await moveTo(s.service, id, "execute/complete");
      const reverted = await s.service.revertPlan(id, { reason: `round ${round}` });
      expect(reverted).toMatchObject({
        attempt: round + 1,
        reversionCount: round,
        phase: "strategize",
        state: "queued",
      });
    }
    await moveTo(s.service, id, "execute/complete");
    const before = await planRows(s.store, id);
    const error = await s.service.revertPlan(id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ code: "conflict", actual: 3 });
    expect(await planRows(s.store, id)).toEqual(before);
    // The limit is on going back only: the plan still continues.
    await s.service.applyPlan(id);
    expect((await s.service.getPlan(id)).attempt).toBe(4);
  });

  test("the limit counts from every phase that the plan was sent back from", async () => {
    await using s = await setting();
    const { id } = await s.service.useAction({ action: "local/fix" });
    for (const from of ["strategize/errored", "apply/constrained", "apply/errored"] as const) {
      await moveTo(s.service, id, from);
      await s.service.revertPlan(id);
    }
    await moveTo(s.service, id, "strategize/errored");
    await expect(s.service.revertPlan(id)).rejects.toThrow("sent back 3 times already");
  });

  test("keeps the reason in the history and forgets the times of all phases", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "execute/complete");
    const plan = await s.service.revertPlan(id, { reason: "too tight" });
    expect(plan.phaseTimes).toEqual({ strategize: NONE, execute: NONE, apply: NONE });
    expect(plan.cancelReason).toBeUndefined();
    const rows = await planRows(s.store, id);
    expect(JSON.parse(String(rows.audit.at(-1)?.["details"]))).toMatchObject({ reason: "too tight", attempt: 2 });
  });

  test("queueing an errored phase again is not a reversion", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "execute/errored");
    expect(await s.service.executePlan(id)).toMatchObject({ attempt: 1, reversionCount: 0, state: "queued" });
  });
});

test("each transition raises the version by one, and the history is the way the plan went", async () => {
  await using s = await setting();
  for (const status of STATUSES) {
    const { id } = await planAt(s.service, status);
    const plan = await s.service.getPlan(id);
    const entries = history(await planRows(s.store, id));
    expect(entries.map((entry) => entry.version)).toEqual(entries.map((_, index) => index + 1));
    expect(entries[0]).toMatchObject({ type: "plan.created", status: "strategize/queued" });
    for (const [index, entry] of entries.slice(1).entries()) expect(entry.from).toBe(entries[index]?.status);
    expect(entries.at(-1)).toMatchObject({ version: plan.version, status });
  }
});

test("a phase's times: start, end, kept by later phases, renewed when it is queued again", async () => {
  await using s = await setting();
  const { id, createdAt } = await s.service.useAction({ action: "local/fix" });
  const start = s.clock.now();
  expect(createdAt).toBe(start);
  s.clock.advance(1);
  const strategize = await s.service.startStrategize(id, { ttlMs: TTL_MS });
  expect(strategize.plan.phaseTimes.strategize).toEqual({ startedAt: start + 1, endedAt: undefined });
  s.clock.advance(1);
  await s.service.completeStrategize(strategize);
  s.clock.advance(1);
  await s.service.executePlan(id);
  s.clock.advance(1);
  const execute = await s.service.startExecute(id, { ttlMs: TTL_MS });
  s.clock.advance(TTL_MS);
  // A takeover continues the phase: it began when its first owner began it.
  const successor = await s.service.startExecute(id, { ttlMs: TTL_MS });
  expect(successor.plan.phaseTimes.execute).toEqual({ startedAt: start + 4, endedAt: undefined });
  s.clock.advance(1);
  const failed = await s.service.failExecute(successor, { message: "no" });
  expect(failed.phaseTimes).toEqual({
    strategize: { startedAt: start + 1, endedAt: start + 2 },
    execute: { startedAt: start + 4, endedAt: start + 5 + TTL_MS },
    apply: NONE,
  });
  expect(failed.updatedAt).toBe(s.clock.now());
  const again = await s.service.executePlan(id);
  expect(again.phaseTimes.execute).toEqual(NONE);
  expect(again.phaseTimes.strategize).toEqual({ startedAt: start + 1, endedAt: start + 2 });
  execute.stop();
});

describe("to cancel", () => {
  test("keeps the reason, ends a phase that had begun, and leaves the end of one that was over", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "execute/errored");
    const { phaseTimes } = await s.service.getPlan(id);
    s.clock.advance(5);
    const cancelled = await s.service.cancelPlan(id, { reason: "not needed any more" });
    expect(cancelled.cancelReason).toBe("not needed any more");
    expect(cancelled.phaseTimes).toEqual(phaseTimes);
    const queued = await planAt(s.service, "strategize/queued");
    const ended = await s.service.cancelPlan(queued.id);
    expect(ended.cancelReason).toBeUndefined();
    expect(ended.phaseTimes.strategize).toEqual({ startedAt: undefined, endedAt: s.clock.now() });
  });

  test("a reason must be a text", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "strategize/queued");
    for (const reason of ["", "  ", "a\u0000b"]) {
      await expect(s.service.cancelPlan(id, { reason })).rejects.toBeInstanceOf(ValidationError);
    }
    expect((await s.service.getPlan(id)).version).toBe(1);
  });
});

test("expectedVersion: what the caller saw is what they decide on", async () => {
  await using s = await setting();
  for (const [status, operation] of [
    ["strategize/complete", "executePlan"],
    ["execute/complete", "applyPlan"],
    ["execute/complete", "revertPlan"],
    ["strategize/queued", "cancelPlan"],
  ] as const) {
    const { id } = await planAt(s.service, status);
    const { version } = await s.service.getPlan(id);
    for (const expectedVersion of [version - 1, version + 1]) {
      const error = await s.service[operation](id, { expectedVersion }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConflictError);
      expect(error).toMatchObject({
        code: "conflict",
        expected: { version: expectedVersion },
        actual: { version, status },
      });
    }
    expect((await s.service[operation](id, { expectedVersion: version })).version).toBe(version + 1);
  }
});

test("failures are kept for ever, in order, with phase, attempt, kind and category", async () => {
  await using s = await setting();
  const { id } = await s.service.useAction({ action: "local/fix" });
  const first = await s.service.startStrategize(id);
  await s.service.failStrategize(first, { message: "no idea" });
  const at = s.clock.now();
  await s.service.revertPlan(id);
  s.clock.advance(7);
  await moveTo(s.service, id, "execute/queued");
  const execute = await s.service.startExecute(id);
  await s.service.failExecute(execute, { message: "rate limit", category: "transient" });
  await s.service.executePlan(id);
  await s.service.completeExecute(await s.service.startExecute(id));
  await s.service.applyPlan(id);
  await s.service.constrainApply(id, { message: "2 validations failed" });
  expect(await s.service.listFailures(id)).toEqual([
    { position: 1, phase: "strategize", attempt: 1, kind: "errored", message: "no idea", category: "strategy", at },
    {
      position: 2,
      phase: "execute",
      attempt: 2,
      kind: "errored",
      message: "rate limit",
      category: "transient",
      at: at + 7,
    },
    {
      position: 3,
      phase: "apply",
      attempt: 2,
      kind: "constrained",
      message: "2 validations failed",
      category: "strategy",
      at: at + 7,
    },
  ]);
  const unknown = "0".repeat(26) as PlanId;
  expect(await s.service.listFailures(unknown)).toEqual([]);
});

test("a failure without a message or of an unknown category is refused and ends nothing", async () => {
  await using s = await setting();
  const { id, lease } = await planAt(s.service, "execute/processing", { ttlMs: TTL_MS });
  const strange = JSON.parse('{"message": "x", "category": "cosmic"}') as { message: string };
  for (const failure of [{ message: " " }, strange]) {
    await expect(s.service.failExecute(lease as never, failure)).rejects.toBeInstanceOf(ValidationError);
    await expect(s.service.constrainApply(id, failure)).rejects.toBeInstanceOf(ValidationError);
  }
  expect(statusKey(await s.service.getPlan(id))).toBe("execute/processing");
});

describe("a lease", () => {
  test("is refused to others while it is held, and names its holder", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "execute/queued");
    const lease = await s.service.startExecute(id, { ttlMs: TTL_MS, holder: "machine one" });
    s.clock.advance(TTL_MS - 1);
    const error = await s.service.startExecute(id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ code: "conflict", actual: { holder: "machine one" } });
    await lease.renew();
    s.clock.advance(TTL_MS - 1);
    await expect(s.service.startExecute(id)).rejects.toThrow("machine one");
  });

  test("is taken over in the instant it lapses, with the next epoch, and the old holder can do nothing any more", async () => {
    await using s = await setting();
    const { id, lease } = await planAt(s.service, "execute/processing", { ttlMs: TTL_MS });
    if (lease === undefined) throw new Error("no lease");
    const context = new PlanExecutionContext({ store: s.store, plan: id, lease });
    const changeset = await context.startChangeset();
    s.clock.advance(TTL_MS);
    const successor = await s.service.startExecute(id, { ttlMs: TTL_MS });
    expect(successor.epoch).toBe(lease.epoch + 1);
    const before = await planRows(s.store, id);
    for (const operation of ["completeExecute", "failExecute"] as const) {
      await expect(perform(s.service, { operation, planId: id, lease })).rejects.toBeInstanceOf(StaleLeaseError);
    }
    await expect(lease.renew()).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(runStep(lease, "late", () => 1)).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(changeset.record(created("late"))).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(context.startChangeset()).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(changeset.close()).rejects.toBeInstanceOf(StaleLeaseError);
    await lease.release();
    expect(await planRows(s.store, id)).toEqual(before);
    await s.service.completeExecute(successor);
  });

  test("that lapsed can neither be renewed nor used, even though no other process took over", async () => {
    await using s = await setting();
    const { id, lease } = await planAt(s.service, "strategize/processing", { ttlMs: TTL_MS });
    s.clock.advance(TTL_MS);
    await expect(lease?.renew()).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(perform(s.service, { operation: "completeStrategize", planId: id, lease })).rejects.toBeInstanceOf(
      StaleLeaseError,
    );
    expect(statusKey(await s.service.getPlan(id))).toBe("strategize/processing");
  });

  test.each(["cancelPlan", "revertPlan"] as const)("%s takes it away from running work", async (operation) => {
    await using s = await setting();
    const { id, lease } = await planAt(s.service, "execute/processing", { ttlMs: TTL_MS });
    if (lease === undefined) throw new Error("no lease");
    const context = new PlanExecutionContext({ store: s.store, plan: id, lease });
    const changeset = await context.startChangeset();
    await runStep(lease, "before", () => "kept");
    await changeset.record(created("before"));
    await s.service[operation](id);
    const before = await planRows(s.store, id);
    expect(before.steps).toHaveLength(1);
    expect(before.changes).toHaveLength(1);
    const complete = perform(s.service, { operation: "completeExecute", planId: id, lease });
    await expect(complete).rejects.toSatisfy((e) => e instanceof ConflictError || e instanceof StaleLeaseError);
    await expect(runStep(lease, "after", () => 1)).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(changeset.record(created("after"))).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(changeset.close()).rejects.toBeInstanceOf(StaleLeaseError);
    expect(await planRows(s.store, id)).toEqual(before);
  });

  test("of one phase ends no other, although the epoch fits", async () => {
    await using s = await setting();
    const { id, lease } = await planAt(s.service, "execute/processing", { ttlMs: TTL_MS });
    if (lease === undefined) throw new Error("no lease");
    const facts = { planId: id, phase: "strategize", holder: "me", epoch: lease.epoch, expiresAt: 0 } as const;
    const wrong = new Lease({ store: s.store, plan: lease.plan, phase: "strategize", facts, ttlMs: TTL_MS });
    wrong.stop();
    const call = perform(s.service, { operation: "completeExecute", planId: id, lease: wrong });
    await expect(call).rejects.toBeInstanceOf(StaleLeaseError);
  });

  test("given up is free at once; giving up twice, or after it was lost, is harmless", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "execute/queued");
    {
      await using lease = await s.service.startExecute(id, { ttlMs: TTL_MS });
      expect(lease.epoch).toBeGreaterThan(0);
    }
    const successor = await s.service.startExecute(id, { ttlMs: TTL_MS });
    await successor.release();
    await successor.release();
    const third = await s.service.startExecute(id, { ttlMs: TTL_MS });
    expect(third.epoch).toBe(successor.epoch + 1);
    await s.service.cancelPlan(id);
    await third.release();
    expect(statusKey(await s.service.getPlan(id))).toBe("execute/cancelled");
  });

  test("cannot last no time at all, and its holder has a name", async () => {
    await using s = await setting();
    const { id } = await planAt(s.service, "strategize/queued");
    for (const ttlMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(s.service.startStrategize(id, { ttlMs })).rejects.toBeInstanceOf(UsageError);
    }
    await expect(s.service.startStrategize(id, { holder: "" })).rejects.toBeInstanceOf(ValidationError);
    expect((await s.service.getPlan(id)).version).toBe(1);
  });
});

describe("a lease by the real clock", () => {
  test("is renewed by its timer for much longer than it lasts, and lost when another process takes it away", async () => {
    await using temporary = await TemporaryStore.open("memory");
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction(actionInput());
    const { id } = await planAt(service, "execute/queued");
    const lease = await service.startExecute(id, { ttlMs: 150 });
    await sleep(600);
    expect(lease.signal.aborted).toBe(false);
    await runStep(lease, "still mine", () => true);
    await service.cancelPlan(id);
    await aborted(lease.signal);
    expect(lease.signal.reason).toBeInstanceOf(StaleLeaseError);
  });

  test("that its owner stopped renewing is taken over as soon as it lapses", async () => {
    await using temporary = await TemporaryStore.open("memory");
    const service = new PlanLifecycleService({ store: temporary.store });
    await service.createAction(actionInput());
    const { id, lease } = await planAt(service, "execute/processing", { ttlMs: 100 });
    lease?.stop();
    const tries: unknown[] = [];
    let successor: Awaited<ReturnType<typeof service.startExecute>> | undefined;
    while (successor === undefined) {
      successor = await service.startExecute(id, { ttlMs: 5_000 }).catch((error: unknown) => {
        tries.push(error);
        return undefined;
      });
      await sleep(5);
    }
    expect(tries.every((error) => error instanceof ConflictError)).toBe(true);
    expect(successor.epoch).toBe((lease?.epoch ?? 0) + 1);
    await service.completeExecute(successor);
  });
});

test("a plan that is not there cannot be moved", async () => {
  await using s = await setting();
  const id = "0".repeat(26) as PlanId;
  await expect(s.service.startStrategize(id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(s.service.cancelPlan(id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(s.service.constrainApply(id, { message: "x" })).rejects.toBeInstanceOf(NotFoundError);
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
