import type { Decision } from "../domain/plan/decision.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import { findDecisions, supersedeDecisions } from "../ledger/decisions.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Tx } from "../store/port.ts";
import { transition, type RecordSource } from "./transition.ts";

/**
 * Guidance that comes after a model has decided on the steps and before the first of them is carried out is about those
 * steps. The plan goes back to its strategist within the same attempt: the strategy that was shown is superseded by the
 * guidance, and what it cost stays on the plan's bill.
 */
export async function reviseStrategy(tx: Tx, recordSource: RecordSource, planId: PlanId): Promise<Plan | undefined> {
  const plan = await findPlan(tx, planId);
  if (plan === undefined || !isRevisable(plan)) return undefined;
  const decisions = await findDecisions(tx, plan.id, plan.attempt);
  const said = isByModel(decisions) ? decisions.findLast(({ type }) => type === "user_intervention") : undefined;
  const decided = decisions.findLast(({ step }) => step !== undefined);
  if (said === undefined || decided === undefined || said.sequence < decided.sequence) return undefined;
  const request = { operation: "reviseStrategy", lease: { kind: "none" }, facts: { guidance: said.id } } as const;
  const { plan: revised } = await transition(tx, recordSource, { planId, ...request });
  const strategy = decisions.filter(({ type }) => type === "strategy_choice");
  await supersedeDecisions(tx, strategy, said.id);
  return revised;
}

/** Whether the plan stands between its strategy and its first step. */
export function isRevisable(plan: Plan): boolean {
  return statusKey(plan) === "strategize/complete";
}

/** The steps of a tool actor or a graph are in its file; guidance cannot change them. */
export function isByModel(decisions: readonly Decision[]): boolean {
  return decisions.some(({ phase, thought }) => phase === "strategize" && thought.snapshot !== undefined);
}
