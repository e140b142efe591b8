/** Durable steps: run once, recorded before the caller sees the result, never recorded under a lost lease. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { runStep, type StepResult } from "./steps.ts";
import { StaleLeaseError, StoreError, ValidationError } from "../domain/errors/errors.ts";
import { Lease } from "./leases.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput, moveTo, planAt } from "../testing/fixtures.ts";
import { planRows } from "../testing/plan-rows.ts";
import { RACE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";

const TTL_MS = 600_000;

describe.each(RACE_KINDS)("on a %s store", (kind) => {
  const clock = new FakeClock();
  let temporary: TemporaryStore;
  let store: Store;
  let service: PlanLifecycleService;

  beforeAll(async () => {
    temporary = await TemporaryStore.open(kind, { clock: clock.now });
    store = temporary.store;
    service = new PlanLifecycleService({ store, clock: clock.now });
    await service.createAction(actionInput());
  });
  afterAll(() => temporary[Symbol.asyncDispose]());

  async function executing(): Promise<{ id: PlanId; lease: Lease }> {
    const { id, lease } = await planAt(service, "execute/processing", { ttlMs: TTL_MS });
    if (lease === undefined) throw new Error("no lease");
    return { id, lease };
  }

  async function countSteps(id: PlanId): Promise<number> {
    return (await planRows(store, id)).steps.length;
  }

  /** A step that counts how often it is run. */
  function counted<T extends StepResult>(result: T): { fn: () => T; runs: () => number } {
    let count = 0;
    return {
      fn: () => {
        count += 1;
        return result;
      },
      runs: () => count,
    };
  }

  test("a step runs once; asked again its record answers", async () => {
    const { id, lease } = await executing();
    const step = counted({ answer: 42, list: ["a", null, { deep: true }] });
    const first = await runStep(lease, "ask", step.fn);
    const second = await runStep(lease, "ask", step.fn);
    expect(second).toEqual(first);
    expect(step.runs()).toBe(1);
    expect(await countSteps(id)).toBe(1);
    expect((await planRows(store, id)).steps).toMatchObject([
      { key: "ask", phase: "execute", attempt: 1, epoch: lease.epoch, at: clock.now() },
    ]);
  });

  test("asked for many times at once it runs once, and all get the same answer", async () => {
    const { id, lease } = await executing();
    let runs = 0;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        runStep(lease, "shared", async () => {
          runs += 1;
          await new Promise((resolve) => setImmediate(resolve));
          return { run: runs };
        }),
      ),
    );
    expect(runs).toBe(1);
    expect(answers).toEqual(answers.map(() => ({ run: 1 })));
    expect(await countSteps(id)).toBe(1);
  });

  test("many different steps at once: each runs once and has its own record", async () => {
    const { id, lease } = await executing();
    const keys = Array.from({ length: 200 }, (_, index) => `step ${index}`);
    const answers = await Promise.all(
      keys.flatMap((key) => [runStep(lease, key, () => key), runStep(lease, key, () => "twin")]),
    );
    expect(answers).toEqual(keys.flatMap((key) => [key, key]));
    expect(await countSteps(id)).toBe(200);
  });

  test.each([[0], [""], [false], [null], [undefined], [[]], ["\ud800"], [1.5e300], ["🙂 \u2028"], [{ __proto__x: 1 }]])(
    "the result %j is kept as it is, for a later owner too",
    async (result) => {
      const { id, lease } = await executing();
      expect(await runStep(lease, "k", () => result)).toEqual(result);
      expect(await runStep(lease, "k", () => "again")).toEqual(result);
      await lease.release();
      const successor = await service.startExecute(id, { ttlMs: TTL_MS });
      const step = counted("never");
      expect(await runStep<StepResult>(successor, "k", step.fn)).toEqual(result);
      expect(step.runs()).toBe(0);
    },
  );

  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  test.each([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["minus zero", -0],
    ["a date", new Date(0)],
    ["a map", new Map([["a", 1]])],
    ["a bigint", 1n],
    ["a hole", { a: undefined }],
    ["a sparse array", Array.from({ length: 2 })],
    ["a cycle", cyclic],
    [
      "an instance",
      new (class Point {
        x = 1;
      })(),
    ],
    ["bytes", new Uint8Array(2)],
  ])("%s is not JSON: refused, nothing recorded, and the step may be tried again", async (_, result) => {
    const { id, lease } = await executing();
    await expect(runStep(lease, "odd", () => result as StepResult)).rejects.toBeInstanceOf(ValidationError);
    expect(await countSteps(id)).toBe(0);
    expect(await runStep(lease, "odd", () => "plain")).toBe("plain");
  });

  test("a step that throws has no record and may be tried again", async () => {
    const { id, lease } = await executing();
    const failure = new Error("model down");
    await expect(runStep(lease, "flaky", () => Promise.reject(failure))).rejects.toBe(failure);
    await expect(
      runStep(lease, "flaky", () => {
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(await countSteps(id)).toBe(0);
    expect(await runStep(lease, "flaky", () => "up")).toBe("up");
  });

  test("a lease that was lost while the step ran records nothing", async () => {
    const { id, lease } = await executing();
    const late = runStep(lease, "slow", async () => {
      clock.advance(TTL_MS);
      return "done";
    });
    await expect(late).rejects.toBeInstanceOf(StaleLeaseError);
    expect(await countSteps(id)).toBe(0);
    const successor = await service.startExecute(id, { ttlMs: TTL_MS });
    expect(await runStep(successor, "slow", () => "by the next")).toBe("by the next");
    await expect(runStep(lease, "slow", () => "again")).rejects.toBeInstanceOf(StaleLeaseError);
    expect((await planRows(store, id)).steps).toMatchObject([{ result: '"by the next"', epoch: successor.epoch }]);
  });

  test("a takeover continues from the records of the owner before", async () => {
    const { id, lease } = await executing();
    await runStep(lease, "one", () => 1);
    clock.advance(TTL_MS);
    const successor = await service.startExecute(id, { ttlMs: TTL_MS });
    const [one, two] = [counted(-1), counted(2)];
    expect(await runStep(successor, "one", one.fn)).toBe(1);
    expect(await runStep(successor, "two", two.fn)).toBe(2);
    expect([one.runs(), two.runs()]).toEqual([0, 1]);
  });

  test("queued again after an error, the phase keeps its records; reverted, it starts again", async () => {
    const { id, lease } = await executing();
    await runStep(lease, "work", () => "first attempt");
    await service.failExecute(lease as Lease<"execute">, { message: "later" });
    await service.executePlan(id);
    const retry = await service.startExecute(id, { ttlMs: TTL_MS });
    expect(await runStep(retry, "work", () => "not run")).toBe("first attempt");
    await service.completeExecute(retry);
    await service.revertPlan(id);
    const second = await moveTo(service, id, "execute/processing", { ttlMs: TTL_MS });
    if (second === undefined) throw new Error("no lease");
    expect(await runStep(second, "work", () => "second attempt")).toBe("second attempt");
    expect(await countSteps(id)).toBe(2);
  });

  test("phases do not share keys", async () => {
    const { id, lease } = await planAt(service, "strategize/processing", { ttlMs: TTL_MS });
    if (lease === undefined) throw new Error("no lease");
    await runStep(lease, "same", () => "strategize");
    await service.completeStrategize(lease as Lease<"strategize">);
    await service.executePlan(id);
    const execute = await service.startExecute(id, { ttlMs: TTL_MS });
    expect(await runStep(execute, "same", () => "execute")).toBe("execute");
  });

  test("a key is a text of some length", async () => {
    const { lease } = await executing();
    for (const key of ["", "a\u0000", "x".repeat(201)]) {
      await expect(runStep(lease, key, () => 1)).rejects.toBeInstanceOf(ValidationError);
    }
    expect(await runStep(lease, "x".repeat(200), () => 1)).toBe(1);
  });

  test("a database that does not answer once does not spoil the lease for every later step", async () => {
    const { id, lease } = await executing();
    let broken = true;
    const flaky = alteredStore(store, {
      read: (query) => (broken ? Promise.reject(new StoreError("store_busy", "busy")) : store.read(query)),
    });
    const { plan, epoch, phase, holder } = lease;
    const facts = { planId: id, phase, holder, epoch, expiresAt: 0 };
    const shaky = new Lease({ store: flaky, plan, phase, facts, ttlMs: TTL_MS });
    await expect(runStep(shaky, "k", () => 1)).rejects.toBeInstanceOf(StoreError);
    broken = false;
    expect(await runStep(shaky, "k", () => 2)).toBe(2);
    shaky.stop();
  });
});
