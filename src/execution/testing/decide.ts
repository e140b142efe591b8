/** Decisions for steps that a test makes up: each step is decided on once, however often it is run. */
import { monotonicIds, type DecisionId } from "../../domain/names/ids.ts";
import { findDecisions, insertDecisionAgain } from "../../ledger/decisions.ts";
import type { Lease } from "../../ledger/leases.ts";
import type { DecidedToolStep } from "../../changes/decided-steps.ts";

export type PlannedStep = Omit<DecidedToolStep, "decision">;

const ids = monotonicIds();

/** The steps with what was decided about each. None says that it needs another. */
export async function decided(
  lease: Lease,
  waves: readonly (readonly PlannedStep[])[],
): Promise<readonly (readonly DecidedToolStep[])[]> {
  const { id: planId, attempt } = lease.plan;
  const common = { planId, attempt, phase: "strategize" } as const;
  return lease.store.transaction(async (tx) => {
    const known = await findDecisions(tx, planId, attempt);
    const byStep = new Map(known.flatMap(({ id, step }) => (step === undefined ? [] : [[step, id]])));
    const root =
      known.find(({ parent }) => parent === undefined)?.id ??
      (await insertDecisionAgain(tx, ids, {
        ...common,
        type: "prompt_definition",
        step: undefined,
        question: "What do you want done?",
        chosen: lease.plan.description,
        parent: undefined,
        needs: [],
      }));
    const result: DecidedToolStep[][] = [];
    for (const wave of waves) {
      const steps: DecidedToolStep[] = [];
      for (const step of wave) {
        const decision: DecisionId =
          byStep.get(step.id) ??
          (await insertDecisionAgain(tx, ids, {
            ...common,
            type: "strategy_choice",
            step: step.id,
            question: step.id,
            chosen: { tool: step.tool, params: step.params },
            parent: root,
            needs: [],
          }));
        byStep.set(step.id, decision);
        steps.push({ ...step, decision });
      }
      result.push(steps);
    }
    return result;
  });
}
