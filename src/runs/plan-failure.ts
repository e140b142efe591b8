/** Which errors are failures of a plan, and of what kind. */
import { ModelError, type ModelErrorKind } from "../actors/models/model-error.ts";
import { AgentsError, AwaitingInputError, BudgetError, StaleLeaseError } from "../domain/errors/errors.ts";
import type { FailureCategory } from "../domain/plan/plan.ts";
import { storable } from "../domain/text/text.ts";

const PASSING: readonly ModelErrorKind[] = ["rate_limit", "network", "overloaded", "server", "timeout"];

/** A step that lost its lease or asked a question did not fail. */
export function isFailure(error: unknown): boolean {
  return !(error instanceof StaleLeaseError || error instanceof AwaitingInputError);
}

export function failureOf(error: unknown): { readonly message: string; readonly category: FailureCategory } {
  // Nothing is wrong with the strategy: it continues as soon as the model answers again, there is money, or a person
  // has approved.
  const waits = error instanceof AgentsError && error.code === "approval_needed";
  const passes = waits || error instanceof BudgetError || (error instanceof ModelError && PASSING.includes(error.kind));
  const message = storable(error instanceof Error ? error.message : String(error));
  return { message, category: passes ? "transient" : "strategy" };
}
