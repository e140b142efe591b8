import { contextBudget, plainBudget } from "../context/context-budget.ts";
import type { ContextBudget } from "../context/model.ts";
import type { ResolvedView } from "../domain/context-policy.ts";
import type { ContextConfiguration } from "./context-configuration.ts";

export type BudgetSource = "override" | "policy" | "model window";

/** What somebody named; else what the window leaves, or less where the view says so. */
export function budgetFor(
  { window }: Pick<ContextConfiguration, "window">,
  view: Pick<ResolvedView, "budget">,
  named: number | undefined,
): { readonly budget: ContextBudget; readonly source: BudgetSource } {
  if (named !== undefined) return { budget: plainBudget(named), source: "override" };
  const budget = contextBudget({ ...window, skeletonRatio: 0, hasParent: false });
  if (view.budget === undefined || view.budget >= budget.available) return { budget, source: "model window" };
  return { budget: { ...budget, available: view.budget }, source: "policy" };
}
