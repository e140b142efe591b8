/** Decided steps as people and gates see them, and the error of an execution that was stopped. */
import type { DecidedStep } from "../changes/decided-steps.ts";
import { PlanError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";

export function riskOf(step: DecidedStep): number | undefined {
  return step.tool === undefined ? (step.work.risk ?? undefined) : undefined;
}

export function newsOf(step: DecidedStep): { step: string; description: string } {
  return { step: step.id, description: step.tool ?? step.work.description };
}

export function interruptedError(plan: Plan): PlanError {
  return new PlanError(`The execution of plan ${plan.id} was interrupted.`, {
    kept: "Finished steps are recorded, and the plan continues where it stopped.",
    next: [nextStep("plan.execute", { plan: plan.id })],
  });
}
