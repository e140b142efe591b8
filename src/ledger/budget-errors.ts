import { BudgetError } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import { dollars, type Microdollars } from "../domain/money.ts";
import type { Cap, Scope, Spender } from "./budgets.ts";

/** Why a call was not sent, and what a user does to go on. */
export interface Refusal {
  readonly scope: Scope;
  readonly spent: Microdollars;
  readonly reserved: Microdollars;
  readonly bound: Microdollars;
  readonly cap: Cap;
}

export function exceeded(refusal: Refusal, { provider, model }: Spender, planId: PlanId | undefined): BudgetError {
  const { scope, spent, reserved, bound, cap } = refusal;
  const whose = scope.kind === "day" ? "today's budget (UTC)" : `the budget of plan ${planId}`;
  const held = reserved === 0 ? "" : ` and ${dollars(reserved)} reserved for calls under way`;
  return new BudgetError(
    "budget_exceeded",
    `A call of ${provider}/${model} can cost ${dollars(bound)}, which ${whose} has not left: of ${dollars(cap.amount)}, ${dollars(spent)} are spent${held}.`,
    {
      next: [
        cap.raise,
        ...(scope.kind === "day" ? ["or wait until 00:00 UTC"] : []),
        ...(planId === undefined ? [] : [`agents plan execute ${planId}`]),
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

export function priceUnknown({ provider, model }: Spender, remedies: readonly string[], cap: Cap): BudgetError {
  return new BudgetError(
    "price_unknown",
    `What a call of ${provider}/${model} can cost is not known, and there is a budget of ${dollars(cap.amount)}.`,
    { next: [...remedies, cap.raise.replace("<dollars>", "none")], detail: { provider, model } },
  );
}
