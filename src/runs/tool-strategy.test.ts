/**
 * The strategy of a tool actor as decisions: once for each attempt, no matter which process records it and how often.
 */
import { expect, test } from "vitest";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { StaleLeaseError } from "../domain/errors/errors.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { parseToolActor } from "../domain/actor/tool-actor.ts";
import { decidedWaves } from "../changes/decided-steps.ts";
import { findDecisions } from "../ledger/decisions.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { actionInput } from "../testing/fixtures.ts";
import { planRows } from "../testing/plan-rows.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { chosenSteps, recordStrategy } from "./tool-strategy.ts";

const ACTOR = parseToolActor({
  name: "greeter",
  type: "tool",
  description: "greets",
  steps: [
    { id: "last", tool: "read_file", params: { path: "{who}" }, needs: ["first", "second"] },
    { id: "first", tool: "write_file", params: { path: "{who}", content: "x".repeat(200_000) } },
    { id: "second", tool: "delete_file", params: { path: "y" } },
  ],
});

async function setting(kind: (typeof STORE_KINDS)[number] = "memory") {
  const clock = new FakeClock();
  const temporary = await TemporaryStore.open(kind, { clock: clock.now });
  const { store } = temporary;
  const service = new PlanLifecycleService({ store, clock: clock.now });
  await service.createAction({ ...actionInput(), arguments: [{ name: "who", required: true }] });
  const plan = await service.useAction({ action: "local/fix", arguments: { who: "world" } });
  return { clock, store, service, plan, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

const record = (lease: Lease<"strategize">, plan: Plan): Promise<void> =>
  recordStrategy(lease, chosenSteps(ACTOR, plan));

test.each(STORE_KINDS)("a root and a decision for each step, which are then what runs (%s store)", async (kind) => {
  await using s = await setting(kind);
  const lease = await s.service.startStrategize(s.plan.id);
  await record(lease, s.plan);
  const decisions = await s.store.read((reader) => findDecisions(reader, s.plan.id, 1));
  const [root, first, second, last] = decisions;
  expect(decisions.map(({ sequence, type, step, parent }) => [sequence, type, step, parent])).toEqual([
    [1, "prompt_definition", undefined, undefined],
    [2, "strategy_choice", "first", root?.id],
    [3, "strategy_choice", "second", root?.id],
    [4, "strategy_choice", "last", root?.id],
  ]);
  expect(last).toMatchObject({
    needs: [first?.id, second?.id],
    chosen: { tool: "read_file", params: { path: "world" } },
    phase: "strategize",
    supersededAt: undefined,
  });
  expect(root?.chosen).toEqual({ description: s.plan.description, definition_of_done: s.plan.definitionOfDone });
  const waves = await decidedWaves(s.store, s.plan.id, 1);
  expect(waves.map((wave) => wave.map(({ id, decision }) => [id, decision]))).toEqual([
    [
      ["first", first?.id],
      ["second", second?.id],
    ],
    [["last", last?.id]],
  ]);
  expect(waves[0]?.[0]).toMatchObject({ params: { path: "world", content: "x".repeat(200_000) } });
  lease.stop();
});

test("recorded again, by many at once or after a crash, it stays as it was", async () => {
  await using s = await setting();
  const lease = await s.service.startStrategize(s.plan.id, { ttlMs: 1_000 });
  await Promise.all(Array.from({ length: 5 }, () => record(lease, s.plan)));
  const { decisions } = await planRows(s.store, s.plan.id);
  expect(decisions).toHaveLength(4);
  // The owner dies before it completes the phase; the next one finds the decisions, even if the actor has changed
  // since.
  lease.stop();
  s.clock.advance(1_000);
  const next = await s.service.startStrategize(s.plan.id);
  await recordStrategy(next, chosenSteps({ ...ACTOR, steps: ACTOR.steps.slice(1) }, s.plan));
  await s.service.completeStrategize(next);
  expect((await planRows(s.store, s.plan.id)).decisions).toEqual(decisions);
  await expect(record(lease, s.plan)).rejects.toBeInstanceOf(StaleLeaseError);
});

test("under a lost lease nothing is decided, and all or nothing is", async () => {
  await using s = await setting();
  const lease = await s.service.startStrategize(s.plan.id, { ttlMs: 1_000 });
  lease.stop();
  const [one] = chosenSteps(ACTOR, s.plan);
  if (one === undefined) throw new Error("no steps");
  await expect(recordStrategy(lease, [one, one])).rejects.toThrow("UNIQUE");
  expect((await planRows(s.store, s.plan.id)).decisions).toEqual([]);
  s.clock.advance(1_000);
  await expect(record(lease, s.plan)).rejects.toBeInstanceOf(StaleLeaseError);
  expect((await planRows(s.store, s.plan.id)).decisions).toEqual([]);
});

test("a reversion begins with decisions of its own; the sequence continues without a gap", async () => {
  await using s = await setting();
  const first = await s.service.startStrategize(s.plan.id);
  await record(first, s.plan);
  await s.service.completeStrategize(first);
  await s.service.executePlan(s.plan.id);
  const plan = await s.service.revertPlan(s.plan.id);
  const second = await s.service.startStrategize(s.plan.id);
  await record(second, plan);
  second.stop();
  const { decisions } = await planRows(s.store, s.plan.id);
  expect(decisions.map((decision) => [decision["attempt"], decision["sequence"]])).toEqual(
    [1, 2, 3, 4, 5, 6, 7, 8].map((sequence) => [sequence <= 4 ? 1 : 2, sequence]),
  );
  expect(await decidedWaves(s.store, s.plan.id, 2)).toHaveLength(2);
});
