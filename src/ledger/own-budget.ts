/**
 * A plan's own budget, in the table `plan_budgets`. One rule holds for every caller that sets it: it never lifts a plan
 * above the cap of the profile that was frozen into it, nor above the cap that is configured for all plans.
 */
import { UsageError } from "../domain/errors/errors.ts";
import { dollars, type Microdollars } from "../domain/money/money.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { AutomationProfile } from "../domain/profile/automation-profile.ts";
import type { Reader, Tx } from "../store/port.ts";
import { findPlanProfile } from "../store/tables/plans.ts";
import type { Cap } from "./spending-caps.ts";
import { recordSystemEvent } from "./system-events.ts";

/** The plan's own budget, where it is lower than the configured cap. */
export async function planCap(reader: Reader, planId: PlanId, configured: Cap | undefined): Promise<Cap | undefined> {
  const own = await ownBudget(reader, planId);
  if (own === undefined || (configured !== undefined && configured.amount <= own)) return configured;
  return { amount: own, raise: nextStep("plan.budget", { plan: planId, dollars: "<dollars>" }) };
}

export async function ownBudget(reader: Reader, planId: PlanId): Promise<Microdollars | undefined> {
  const row = await reader.get<{ cap: number }>("SELECT cap FROM plan_budgets WHERE plan_id = ?", planId);
  return row?.cap;
}

export interface BudgetLimits {
  /** The profile of the plan. */
  readonly profile?: Pick<AutomationProfile, "name" | "budget"> | undefined;
  /** The cap that is configured for every plan. */
  readonly configured?: Cap | undefined;
}

/**
 * The rule for a plan's own budget. Undefined removes it: the configured cap still holds, but a profile's cap would be
 * lifted by it. A budget above a limit is refused with a `UsageError`, or lowered to the limit.
 */
export function allowedBudget(
  wanted: Microdollars | undefined,
  { profile, configured }: BudgetLimits,
  excess: "refuse" | "lower" = "refuse",
): Microdollars | undefined {
  if (configured !== undefined && wanted !== undefined && wanted > configured.amount) {
    return excess === "lower"
      ? allowedBudget(configured.amount, { profile }, excess)
      : refuse(`A budget of ${dollars(wanted)} is more than the ${dollars(configured.amount)} configured for a plan.`, [
          configured.raise,
          nextStep("config.get", { key: "budget.per-plan" }),
        ]);
  }
  const most = profile?.budget.maxCostUsd;
  if (profile === undefined || most === undefined) return wanted;
  const limit = Math.floor(most * 1_000_000);
  if (wanted !== undefined && wanted <= limit) return wanted;
  return excess === "lower"
    ? limit
    : refuse(`The profile "${profile.name}" of the plan allows it at most $${most}.`, [
        nextStep("plan.use", { automationProfile: "<profile>" }, "make another plan with another profile"),
      ]);
}

function refuse(message: string, next: readonly ReturnType<typeof nextStep>[]): never {
  throw new UsageError(message, { kept: "Nothing was changed.", next });
}

/**
 * Sets the plan's own budget; undefined removes it. It counts from the next call of a model on, also while another
 * process executes the plan. A budget above the cap of the plan's profile, or above `configured`, is refused (or
 * lowered, see `allowedBudget`).
 */
export async function setOwnBudget(
  tx: Tx,
  change: {
    readonly planId: PlanId;
    readonly cap: Microdollars | undefined;
    readonly user: string;
    readonly configured?: Cap | undefined;
    readonly excess?: "refuse" | "lower";
  },
): Promise<void> {
  const { planId, user, configured } = change;
  const profile = await findPlanProfile(tx, planId);
  const cap = allowedBudget(change.cap, { profile, configured }, change.excess);
  const before = await ownBudget(tx, planId);
  if (before === cap) return;
  await tx.run("DELETE FROM plan_budgets WHERE plan_id = ?", planId);
  if (cap !== undefined) await tx.run("INSERT INTO plan_budgets (plan_id, cap) VALUES (?, ?)", planId, cap);
  const text = (amount: Microdollars | undefined): string | null => (amount === undefined ? null : dollars(amount));
  const details = { from: text(before), to: text(cap) };
  await recordSystemEvent(tx, { type: "budget.changed", user, planId, details });
}
