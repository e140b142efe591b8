/**
 * Guidance between a model's strategy and its first step: the strategy goes, the guidance stays, and nothing else
 * moves.
 */
import { expect, test } from "vitest";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { promptPlan } from "./plan-questions.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { DecisionId } from "../domain/names/ids.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Store } from "../store/port.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import { findDecisions, insertDecision } from "../ledger/decisions.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { stageContent } from "../store/contents/contents.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { recordStrategy, recordWork, rootDecision } from "../runs/tool-strategy.ts";

const ids = monotonicIds();

interface World extends AsyncDisposable {
  readonly store: Store;
  readonly service: PlanLifecycleService;
  readonly plan: Plan;
}

async function world(): Promise<World> {
  const temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const plan = await service.useAction({ action: ACTION_NAME });
  return { store, service, plan, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

const say = ({ store, plan }: World, text: string) =>
  promptPlan(store, { planId: plan.id, text, answering: undefined, user: "ann" });

/** A model's answer when it is asked for a strategy. */
async function answered(lease: Lease<"strategize">): Promise<DecisionId> {
  const parent = await rootDecision(lease);
  const shown = await stageContent(lease.store, Buffer.from("what it was shown"));
  return lease.store.transaction(async (tx) => {
    await shown.commit(tx);
    return insertDecision(tx, ids, {
      planId: lease.planId,
      attempt: lease.plan.attempt,
      phase: "strategize",
      type: "strategy_choice",
      step: undefined,
      question: "How is it done?",
      chosen: {},
      parent,
      needs: [],
      thought: { snapshot: shown.hash },
    });
  });
}

function strategyOf(decision: DecisionId, id: string): Parameters<typeof recordWork>[1] {
  const step = { id, description: `do ${id}`, needs: [], resources: [], alternatives: [] };
  return {
    decision,
    steps: [{ ...step, complexity: "low", risk: null, confidence: null, rationale: "" }],
  };
}

async function strategized({ service, plan }: World, id: string, heard: number): Promise<void> {
  await using lease = await service.startStrategize(plan.id);
  expect(await recordWork(lease, strategyOf(await answered(lease), id), heard)).toBe(true);
  await service.completeStrategize(lease);
}

const stepsOf = async ({ store, plan }: World) =>
  (await store.read((reader) => findDecisions(reader, plan.id, 1))).flatMap(({ step }) => step ?? []);

test("the strategy is superseded by the guidance, in the same attempt, and once", async () => {
  await using at = await world();
  const { service, plan } = at;
  await strategized(at, "first", 0);
  expect(await service.reviseStrategy(plan.id)).toBeUndefined();
  const { revises, decision } = await say(at, "something else");
  expect(revises).toBe(true);
  expect(await service.reviseStrategy(plan.id)).toMatchObject({ phase: "strategize", state: "queued", attempt: 1 });
  expect(await service.reviseStrategy(plan.id)).toBeUndefined();
  const all = await at.store.read((reader) => findDecisions(reader, plan.id, 1, { superseded: true }));
  expect(all.map(({ type, step, supersededBy }) => [type, step, supersededBy])).toEqual([
    ["prompt_definition", undefined, undefined],
    ["strategy_choice", undefined, decision],
    ["strategy_choice", "first", decision],
    ["user_intervention", undefined, undefined],
  ]);
  await strategized(at, "second", 1);
  expect(await stepsOf(at)).toEqual(["second"]);
  expect(await service.reviseStrategy(plan.id)).toBeUndefined();
  expect((await verifyAudit(at.store, { at: Date.now() })).problem).toBeUndefined();
});

test("of many at once one sends it back", async () => {
  await using at = await world();
  await strategized(at, "first", 0);
  await say(at, "something else");
  const results = await Promise.all(Array.from({ length: 8 }, () => at.service.reviseStrategy(at.plan.id)));
  expect(results.filter((one) => one !== undefined)).toHaveLength(1);
});

test("guidance that comes while the strategist thinks is not passed over", async () => {
  await using at = await world();
  await using lease = await at.service.startStrategize(at.plan.id);
  const decision = await answered(lease);
  const { decision: said } = await say(at, "something else");
  expect(await recordWork(lease, strategyOf(decision, "first"), 0)).toBe(false);
  expect(await stepsOf(at)).toEqual([]);
  const all = await at.store.read((reader) => findDecisions(reader, at.plan.id, 1, { superseded: true }));
  expect(all.find(({ id }) => id === decision)).toMatchObject({ supersededBy: said });
  expect(await recordWork(lease, strategyOf(await answered(lease), "second"), 1)).toBe(true);
  expect(await stepsOf(at)).toEqual(["second"]);
});

test("the steps of a tool actor, and steps that are being carried out, stay", async () => {
  await using tool = await world();
  {
    await using lease = await tool.service.startStrategize(tool.plan.id);
    await recordStrategy(lease, [{ id: "one", needs: [], chosen: { tool: "read_file", params: {} } }]);
    await tool.service.completeStrategize(lease);
  }
  expect((await say(tool, "something else")).revises).toBe(false);
  expect(await tool.service.reviseStrategy(tool.plan.id)).toBeUndefined();
  await using late = await world();
  await strategized(late, "first", 0);
  await late.service.executePlan(late.plan.id);
  expect((await say(late, "something else")).revises).toBe(false);
  expect(await late.service.reviseStrategy(late.plan.id)).toBeUndefined();
});
