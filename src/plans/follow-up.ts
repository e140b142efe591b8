/**
 * More work on a plan that is executed: what the user says becomes a further step, behind all others, and the plan goes
 * back to execute in the same attempt. Sandbox, record and conversation stay, so the model continues where it stopped.
 */
import { decisionWaves } from "../changes/decided-steps.ts";
import type { ChosenWork, Decision } from "../domain/plan/decision.ts";
import { FIXED_STEPS } from "../domain/plan/fixed-steps.ts";
import type { DecisionId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import { storable } from "../domain/text/text.ts";
import { insertDecision } from "../ledger/decisions.ts";
import type { Tx } from "../store/port.ts";
import { isByModel } from "./revise-strategy.ts";
import { transition, type RecordSource } from "./transition.ts";

/** Only a model or an outside agent can be asked for more; the steps of a tool actor are in its file. */
export function canFollowUp(plan: Plan, decisions: readonly Decision[]): boolean {
  const outside = decisions.some(({ step }) => step === FIXED_STEPS.acp);
  return statusKey(plan) === "execute/complete" && (outside || isByModel(decisions));
}

export function isFollowUpStep(step: string): boolean {
  return step.startsWith(FOLLOW_UP);
}

/** In the transaction that records what the user said, as the decision `said`. */
export async function followUp(
  tx: Tx,
  recordSource: RecordSource,
  request: {
    readonly plan: Plan;
    readonly decisions: readonly Decision[];
    readonly said: DecisionId;
    readonly text: string;
  },
): Promise<Plan> {
  const { plan, decisions, said, text } = request;
  const waves = decisionWaves(decisions);
  const earlier = decisions.filter(({ step }) => step !== undefined && isFollowUpStep(step)).length;
  const work: ChosenWork = { description: text, resources: [], complexity: "medium", risk: null };
  await insertDecision(tx, recordSource.ids, {
    planId: plan.id,
    attempt: plan.attempt,
    phase: plan.phase,
    type: "strategy_choice",
    step: `${FOLLOW_UP}${earlier + 1}`,
    question: storable(`What does the step "${FOLLOW_UP}${earlier + 1}" do?`),
    chosen: work,
    parent: said,
    needs: (waves.at(-1) ?? []).map(({ id }) => id),
  });
  const lease = { kind: "none" } as const;
  const moved = await transition(tx, recordSource, {
    planId: plan.id,
    operation: "continuePlan",
    lease,
    facts: { said },
  });
  return moved.plan;
}

const FOLLOW_UP = "follow-up-";
