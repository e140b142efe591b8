/** The first decision of an attempt: what the plan is asked to do. Every later decision of the attempt hangs on it. */
import { monotonicIds, type DecisionId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { insertDecision } from "../ledger/decisions.ts";
import type { Tx } from "../store/port.ts";

export function insertRootDecision(tx: Tx, plan: Plan): Promise<DecisionId> {
  return insertDecision(tx, monotonicIds(), {
    planId: plan.id,
    attempt: plan.attempt,
    phase: plan.phase,
    type: "prompt_definition",
    step: undefined,
    question: "What do you want done?",
    chosen: { description: plan.description, definition_of_done: plan.definitionOfDone },
    parent: undefined,
    needs: [],
  });
}
