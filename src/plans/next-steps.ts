/** The next steps that a user can take with a plan. `plan status` and `plan errors` offer the same. */
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { isRecoverable, isTerminal, MAX_REVERSIONS, statusKey, target } from "../domain/plan/transitions.ts";

export interface PlanSituation {
  /** It waits for an answer. */
  readonly asks: boolean;
  /** Steps of an applied plan whose changes were undone. */
  readonly undoneSteps: readonly string[];
  /** Its changes are in the user's files although it is not applied. */
  readonly changedInPlace: boolean;
}

export function nextSteps(plan: Plan, { asks, undoneSteps, changedInPlace }: PlanSituation): NextStep[] {
  const { id } = plan;
  const status = statusKey(plan);
  if (asks) return [nextStep("plan.prompt", { plan: id, text: "<answer>" }), nextStep("plan.cancel", { plan: id })];
  if (status === "apply/applied") {
    const undo = plan.undoneAt === undefined ? [nextStep("plan.undo", { plan: id })] : [];
    const redo = undoneSteps.length === 0 ? [] : [nextStep("plan.redo", { plan: id })];
    return [...undo, ...redo, nextStep("audit.list", { plan: id })];
  }
  return changedInPlace ? nextInPlace(plan) : nextBeforeApply(plan);
}

function nextBeforeApply(plan: Plan): NextStep[] {
  const { id } = plan;
  if (statusKey(plan) === "execute/complete")
    return [nextStep("plan.diff", { plan: id }), nextStep("plan.apply", { plan: id })];
  if (isTerminal(plan)) return [nextStep("audit.list", { plan: id })];
  if (isRecoverable(plan)) {
    // An apply that did not fit will not fit the next time either.
    const resume = plan.state === "constrained" ? [] : [nextStep("plan.resume", { plan: id })];
    return [nextStep("plan.errors", { plan: id }), ...resume, ...endings(plan)];
  }
  return [nextStep("plan.resume", { plan: id }), nextStep("plan.cancel", { plan: id })];
}

/** The two ways that are always open: plan it again, as often as that is allowed, or give it up. */
function endings({ id, reversionCount }: Plan): NextStep[] {
  const revert = reversionCount < MAX_REVERSIONS ? [nextStep("plan.revert", { plan: id })] : [];
  return [...revert, nextStep("plan.cancel", { plan: id })];
}

/** Its changes are in the user's files, and can be undone where it stopped. */
function nextInPlace(plan: Plan): NextStep[] {
  const { id } = plan;
  const ending = isTerminal(plan) ? [] : endings(plan);
  if (plan.undoneAt !== undefined) return [nextStep("plan.redo", { plan: id }), ...ending];
  if (target(statusKey(plan), "undoPlan") === undefined) return nextBeforeApply(plan);
  const on = isTerminal(plan)
    ? []
    : nextBeforeApply(plan).filter((step) => !("operation" in step && step.operation === "plan.revert"));
  return [...on, nextStep("plan.undo", { plan: id })];
}
