import { argumentText } from "../domain/arguments.ts";
import type { ChosenCall } from "../domain/decision.ts";
import { monotonicIds, type DecisionId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { renderParams, stepOrder, type ToolActor } from "../domain/tool-actor.ts";
import { findDecisions, insertDecision, stageExact } from "../ledger/decisions.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import type { StagedContent } from "../store/contents.ts";

/** The strategy of a plan whose execution actor is a tool actor: the actor's steps, with the plan's arguments filled in. */
export interface ChosenStep {
  readonly id: string;
  readonly needs: readonly string[];
  readonly chosen: ChosenCall;
}

/** In program order, so that a step comes after those it needs. Throws when an argument does not fit in. */
export function chosenSteps(actor: ToolActor, plan: Plan): ChosenStep[] {
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
 * Records what the attempt is asked to do and each step of its strategy as decisions, in one transaction under the lease. An attempt
 * that has its decisions keeps them: recorded by an owner that died before it could complete the phase, they are what counts.
 */
export async function recordStrategy(lease: Lease<"strategize">, steps: readonly ChosenStep[]): Promise<void> {
  const { plan } = lease;
  const ids = monotonicIds();
  const common = { planId: plan.id, attempt: plan.attempt, phase: lease.phase };
  const staged: (StagedContent | undefined)[] = [];
  for (const { chosen } of steps) staged.push(await stageExact(lease.store, chosen));
  await lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    if ((await findDecisions(tx, plan.id, plan.attempt)).length > 0) return;
    const root = await insertDecision(tx, ids, {
      ...common,
      type: "prompt_definition",
      step: undefined,
      question: "What is to become true?",
      chosen: { description: plan.description, definition_of_done: plan.definitionOfDone },
      parent: undefined,
      needs: [],
    });
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
