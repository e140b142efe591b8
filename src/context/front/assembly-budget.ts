import { contextBudget, plainBudget } from "../model/context-budget.ts";
import type { ContextBudget } from "../model/context-model.ts";
import type { ResolvedView } from "../../domain/context/context-policy.ts";
import type { ContextConfiguration } from "./context-configuration.ts";

export type BudgetSource = "override" | "policy" | "model window";

/** The tokens that the caller named; else those the window leaves, or fewer where the view says so. */
export function budgetFor(
  { window }: Pick<ContextConfiguration, "window">,
  view: Pick<ResolvedView, "budget">,
  named: number | undefined,
): { readonly budget: ContextBudget; readonly source: BudgetSource } {
  if (named !== undefined) return { budget: plainBudget(named), source: "override" };
  const budget = contextBudget(window);
  if (view.budget === undefined || view.budget >= budget.available) return { budget, source: "model window" };
  return { budget: { ...budget, available: view.budget }, source: "policy" };
}
