import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { stateText } from "../../domain/plan/standing.ts";
import { isTerminal } from "../../domain/plan/transitions.ts";
import { groupSpending } from "../../ledger/budget-report.ts";
import { changeGroupCap, groupScopeOf } from "../../ledger/candidate-records.ts";
import { setOwnBudget } from "../../ledger/own-budget.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { givenBudget, groupBudget } from "../procedures/plan-defaults.ts";
import { PlanCost, planCost, SpendingFacts, spendingFacts } from "../queries/spending.ts";
import { planMeant } from "../queries/plan-meant.ts";

/** Shows what a plan's models cost; with an amount, changes what they may cost, from the next call on. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, dollars: z.string().optional() }),
  output: z.strictObject({ planId: z.string(), cost: PlanCost, group: SpendingFacts.nullable(), nextSteps: NextSteps }),
  run: async (app, { plan: named, directory, dollars }, call) => {
    const plan = await planMeant(app, { plan: named, directory }, { operation: "plan.budget" }, call);
    if (dollars !== undefined) {
      requireOpen(plan);
      await setBudget(app, plan, dollars);
    }
    return {
      planId: plan.id,
      cost: await planCost(app, plan.id),
      group: await groupCost(app, plan),
      nextSteps: dollars === undefined || isTerminal(plan) ? [] : [nextStep("plan.resume", { plan: plan.id })],
    };
  },
});

/** Candidates have one budget together. */
async function setBudget(app: App, plan: Plan, dollars: string): Promise<void> {
  const store = await app.store();
  const user = await app.user();
  const group = await store.read((reader) => groupScopeOf(reader, plan.id));
  if (group === undefined) {
    const cap = await givenBudget(app, dollars);
    await store.transaction((tx) => setOwnBudget(tx, { planId: plan.id, cap, user }));
    return;
  }
  const cap = await groupBudget(app, dollars, []);
  await store.transaction((tx) => changeGroupCap(tx, { group, planId: plan.id, cap, user }));
}

async function groupCost(app: App, plan: Plan): Promise<z.output<typeof SpendingFacts> | null> {
  return (await app.store()).read(async (reader) => {
    const group = await groupScopeOf(reader, plan.id);
    return group === undefined ? null : spendingFacts(await groupSpending(reader, group));
  });
}

function requireOpen(plan: Plan): void {
  if (!isTerminal(plan)) return;
  throw new UsageError(`The plan ${plan.id} is ${stateText(plan)} and will not spend anything.`, {
    kept: "Nothing was changed.",
  });
}
