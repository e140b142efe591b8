/** The errors of budgets: each says which budget refused the call, and the step by which a user raises it. */
import { BudgetError } from "../domain/errors/errors.ts";
import { nextStep, withValue, type NextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { dollars, dollarsLeft, type Microdollars } from "../domain/money/money.ts";
import type { Cap } from "./spending-caps.ts";
import type { BudgetScope, Spender } from "./budgets.ts";

/** The reason why a call was not sent. */
export interface BudgetRefusal {
  readonly scope: BudgetScope;
  readonly spent: Microdollars;
  readonly reserved: Microdollars;
  readonly bound: Microdollars;
  readonly cap: Cap;
}

export function budgetExceededError(
  refusal: BudgetRefusal,
  { provider, model }: Spender,
  planId: PlanId | undefined,
): BudgetError {
  const { scope, spent, reserved, bound, cap } = refusal;
  const amount = dollars(cap.amount);
  const whose = {
    day: `today's ${amount} budget (UTC)`,
    gateway: `this run's ${amount} budget`,
    group: `the ${amount} budget of all candidates`,
    plan: `plan ${planId}'s ${amount} budget`,
  }[scope.kind];
  const left = Math.max(0, cap.amount - spent - reserved);
  const held = reserved === 0 ? "" : ` (${dollars(reserved)} is reserved for calls under way)`;
  return new BudgetError(
    "budget_exceeded",
    `A call of ${provider}/${model} can cost ${dollars(bound)}, but only ${dollarsLeft(left)} of ${whose} is left${held}.`,
    {
      next: [
        cap.raise,
        ...(scope.kind === "day" ? [{ text: "or wait until 00:00 UTC" }] : []),
        ...(planId === undefined ? [] : [nextStep("plan.execute", { plan: planId })]),
      ],
      detail: {
        budget: scope.kind,
        plan_id: planId ?? null,
        cap_usd: cap.amount / 1_000_000,
        spent_usd: spent / 1_000_000,
        reserved_usd: reserved / 1_000_000,
        wanted_usd: bound / 1_000_000,
      },
    },
  );
}

export function priceUnknownError({ provider, model }: Spender, remedies: readonly NextStep[], cap: Cap): BudgetError {
  return new BudgetError(
    "price_unknown",
    `The price of ${provider}/${model} is not known, so a call could exceed the budget of ${dollars(cap.amount)}.`,
    { next: [...remedies, withValue(cap.raise, "<dollars>", "none")], detail: { provider, model } },
  );
}
