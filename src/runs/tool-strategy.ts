import { argumentText } from "../domain/action/arguments.ts";
import type { ChosenCall, ChosenWork, Thought } from "../domain/plan/decision.ts";
import type { DecidedStrategy } from "../actors/loop/strategist.ts";
import type { StrategyStep } from "../actors/loop/strategy-form.ts";
import { monotonicIds, type DecisionId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { renderParams, stepOrder, type ToolActorDefinition } from "../domain/actor/tool-actor.ts";
import { storable } from "../domain/text/text.ts";
import {
  findDecisions,
  findInterventions,
  insertDecision,
  stageExact,
  supersedeDecisions,
} from "../ledger/decisions.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { insertRootDecision } from "../plans/root-decision.ts";
import { spokenTo } from "../plans/plan-questions.ts";
import type { StagedContent } from "../store/contents/contents.ts";

/**
 * The strategy of a plan whose execution actor is a tool actor: the actor's steps, with the plan's arguments filled in.
 */
export interface ChosenStep {
  readonly id: string;
  readonly needs: readonly string[];
  readonly chosen: ChosenCall;
}

/** In program order, so that a step comes after those it needs. Throws when an argument does not fit in. */
export function chosenSteps(actor: ToolActorDefinition, plan: Plan): ChosenStep[] {
  const values = new Map([...plan.arguments].map(([name, value]) => [name, argumentText(value)]));
  const steps = new Map(
    actor.steps.map(({ id, tool, params, needs }) => [
      id,
      { id, needs, chosen: { tool, params: renderParams(params, values) } },
    ]),
  );
  return stepOrder(actor).flatMap((wave) => wave.flatMap((id) => steps.get(id) ?? []));
}

/**
 * Records what the attempt is asked to do and each step of its strategy as decisions, in one transaction under the
 * lease. An attempt that has its decisions keeps them: recorded by an owner that died before it could complete the
 * phase, they are what counts.
 */
export async function recordStrategy(lease: Lease<"strategize">, steps: readonly ChosenStep[]): Promise<void> {
  const { plan } = lease;
  const ids = monotonicIds();
  const common = { planId: plan.id, attempt: plan.attempt, phase: lease.phase };
  const staged: (StagedContent | undefined)[] = [];
  for (const { chosen } of steps) staged.push(await stageExact(lease.store, chosen));
  await lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const known = await findDecisions(tx, plan.id, plan.attempt);
    if (known.some(({ step }) => step !== undefined)) return;
    const root = known.find(({ parent }) => parent === undefined)?.id ?? (await insertRootDecision(tx, plan));
    const decided = new Map<string, DecisionId>();
    for (const [index, { id, needs, chosen }] of steps.entries()) {
      const exact = staged[index];
      await exact?.commit(tx);
      const decision = await insertDecision(tx, ids, {
        ...common,
        type: "strategy_choice",
        step: id,
        question: `What does the step "${id}" do?`,
        chosen,
        exactHash: exact?.hash,
        parent: root,
        needs: needs.flatMap((need) => decided.get(need) ?? []),
      });
      decided.set(id, decision);
    }
  });
}

/** The attempt's root decision (its request), above all its other decisions: found, or recorded now. */
export async function rootDecision(lease: Lease<"strategize">): Promise<DecisionId> {
  const { plan } = lease;
  return lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const known = await findDecisions(tx, plan.id, plan.attempt);
    return known.find(({ parent }) => parent === undefined)?.id ?? (await insertRootDecision(tx, plan));
  });
}

/**
 * Records the steps that a model decided on, below its answer, in one transaction; recorded ones stay as they are.
 * False when people have said more than the `heard` things the model was told of: its answer is superseded, and it must
 * be asked again.
 */
export async function recordWork(
  lease: Lease<"strategize">,
  strategy: DecidedStrategy,
  heard?: number,
): Promise<boolean> {
  const { plan } = lease;
  const ids = monotonicIds();
  const byId = new Map(strategy.steps.map((step) => [step.id, step]));
  return lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const known = await findDecisions(tx, plan.id, plan.attempt);
    if (known.some(({ step }) => step !== undefined)) return true;
    const said = await spokenTo(tx, plan);
    if (heard !== undefined && said.length > heard) {
      const unheeding = known.filter(({ id }) => id === strategy.decision);
      await supersedeDecisions(tx, unheeding, (await findInterventions(tx, plan.id)).at(-1)?.id);
      return false;
    }
    const decided = new Map<string, DecisionId>();
    for (const step of stepOrder(strategy).flatMap((wave) => wave.flatMap((id) => byId.get(id) ?? []))) {
      const decision = await insertDecision(tx, ids, {
        planId: plan.id,
        attempt: plan.attempt,
        phase: lease.phase,
        type: "strategy_choice",
        step: step.id,
        question: `What does the step "${step.id}" do?`,
        chosen: workOf(step),
        parent: strategy.decision,
        needs: step.needs.flatMap((need) => decided.get(need) ?? []),
        thought: thoughtOf(step),
      });
      decided.set(step.id, decision);
    }
    return true;
  });
}

export function workOf({ description, resources, complexity, risk, actor, answer }: StrategyStep): ChosenWork {
  const by = actor === null || actor === undefined ? {} : { actor };
  return { description, resources, complexity, risk, ...by, ...(answer === undefined ? {} : { answer }) };
}

export function thoughtOf({ confidence, rationale, alternatives }: StrategyStep): Thought {
  return {
    ...(confidence === null ? {} : { confidence }),
    ...(rationale.trim() === "" ? {} : { rationale: storable(rationale) }),
    alternatives: alternatives.map((one) => storable(one)),
  };
}
