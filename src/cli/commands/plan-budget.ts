import { capOf, capProblem } from "../../domain/budget-settings.ts";
import { UsageError } from "../../domain/errors.ts";
import { dollars, type Microdollars } from "../../domain/money.ts";
import type { Plan } from "../../domain/plan.ts";
import { isTerminal, statusKey } from "../../domain/transitions.ts";
import { setOwnBudget } from "../../ledger/budget-report.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { info, type Outcome } from "../outcome.ts";
import { readSpending, spendingCell, spendingData } from "./budget-data.ts";

/** Counts from the next call on, also of whoever is executing the plan now. */
export async function planBudget(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  const text = input.optionalArgument(1);
  if (text !== undefined) {
    if (isTerminal(plan)) {
      throw new UsageError(`The plan ${plan.id} is ${statusKey(plan)} and will not spend anything.`, {
        kept: "Nothing was changed.",
      });
    }
    const cap = await givenBudget(context, text);
    requireWithin(plan, cap);
    const user = await context.user();
    await (await context.store()).transaction((tx) => setOwnBudget(tx, { planId: plan.id, cap, user }));
  }
  const spending = await readSpending(context, plan.id);
  const { cap } = spending.plan;
  return {
    data: {
      plan_id: plan.id,
      cost: { ...spendingData(spending.plan), today: { date: spending.day.date, ...spendingData(spending.day) } },
    },
    view: [
      {
        kind: "fields",
        title: `Budget of plan ${plan.id}`,
        rows: [
          ["plan", spendingCell(spending.plan)],
          ["today (UTC)", spendingCell(spending.day)],
        ],
      },
    ],
    messages:
      text === undefined
        ? []
        : info(
            cap === undefined
              ? `The models of plan ${plan.id} may cost what they cost.`
              : `The models of plan ${plan.id} may cost ${dollars(cap.amount)} in all.`,
          ),
    next: text === undefined || isTerminal(plan) ? [] : [`agents plan resume ${plan.id}`],
  };
}

/** The profile was frozen into the plan, with what it may cost. */
function requireWithin({ id, profile }: Plan, cap: Microdollars | undefined): void {
  const most = profile.budget.maxCostUsd;
  if (most === undefined || (cap !== undefined && cap <= most * 1_000_000)) return;
  throw new UsageError(`The profile "${profile.name}" of plan ${id} gives it $${most} at most.`, {
    kept: "Nothing was changed.",
    next: ["make another plan with another profile: agents plan use --automation-profile <profile>"],
  });
}

/** What a plan's own budget is to be; a plan may tighten what is configured for all, not loosen it. */
export async function givenBudget(
  context: CommandContext,
  text: string | undefined,
): Promise<Microdollars | undefined> {
  if (text === undefined) return undefined;
  const problem = capProblem(text);
  if (problem !== undefined)
    throw new UsageError(`A budget ${problem}, not "${text}".`, { kept: "Nothing was written." });
  const wanted = capOf(text);
  const { perPlan } = await context.caps();
  if (perPlan !== undefined && wanted !== undefined && wanted > perPlan.amount) {
    throw new UsageError(
      `A budget of ${dollars(wanted)} is more than the ${dollars(perPlan.amount)} that are configured for a plan.`,
      { kept: "Nothing was written.", next: [perPlan.raise, "agents config get budget.per-plan --verbose"] },
    );
  }
  return wanted;
}
