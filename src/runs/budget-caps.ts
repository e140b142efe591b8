import { BudgetedModels, type PricedModels } from "../actors/models/budgeted-models.ts";
import { capOf } from "../domain/settings/budget-settings.ts";
import { findSetting, type ResolvedSetting } from "../domain/settings/settings.ts";
import { Budget, type BudgetWarning, type Cap, type Caps } from "../ledger/budgets.ts";
import type { GroupScope } from "../ledger/candidate-records.ts";
import type { Lease } from "../ledger/leases.ts";
import type { Store } from "../store/port.ts";
import { nextStep } from "../domain/errors/next-step.ts";

/** The configured budgets, each with what raises it. */
export async function configuredCaps(read: (key: string) => Promise<ResolvedSetting>): Promise<Caps> {
  const cap = async (key: string): Promise<Cap | undefined> => {
    const { value, level } = await read(key);
    const amount = capOf(value);
    if (amount === undefined) return undefined;
    // A value in the environment is stronger than any in the file.
    const raise =
      level === "environment"
        ? { text: `${findSetting(key).env}=<dollars>` }
        : nextStep("config.set", { key, value: "<dollars>" });
    return { amount, raise };
  };
  return { perPlan: await cap("budget.per-plan"), perDay: await cap("budget.per-day") };
}

/**
 * The models as a plan's worker may ask them: every try within the budgets of the plan and of the day, and only while
 * the worker holds the lease. Without a lease, for calls outside of plans: within the day's budget.
 */
export function budgetedModels(parts: {
  readonly models: PricedModels;
  readonly store: Store;
  readonly caps: Caps;
  readonly lease: Lease | undefined;
  /** For a call about all candidates of a group. */
  readonly group?: GroupScope | undefined;
  readonly user: string;
  readonly onWarning?: (warning: BudgetWarning) => void;
}): PricedModels {
  const { models, store, caps, lease, group, user, onWarning } = parts;
  const budget = new Budget({ store, caps, lease, group, user });
  return new BudgetedModels({ models, budget, ...(onWarning === undefined ? {} : { onWarning }) });
}
