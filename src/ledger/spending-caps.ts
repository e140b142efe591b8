/**
 * The caps on spending that are configured for all plans; a plan's own budget is in the store and can only be lower.
 */
import type { Microdollars } from "../domain/money/money.ts";
import type { NextStep } from "../domain/errors/next-step.ts";

export interface Cap {
  readonly amount: Microdollars;
  /** The step by which a user raises it. */
  readonly raise: NextStep;
}

export interface Caps {
  readonly perPlan: Cap | undefined;
  readonly perDay: Cap | undefined;
}
