import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import { setOwnBudget } from "../../ledger/own-budget.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanReference } from "../base/schemas.ts";
import { givenBudget } from "../procedures/plan-defaults.ts";
import { PlanCost, planCost } from "../queries/spending.ts";

/** Shows what a plan's models cost; with an amount, changes what they may cost, from the next call on. */
export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference, dollars: z.string().optional() }),
  output: z.strictObject({ planId: z.string(), cost: PlanCost, nextSteps: NextSteps }),
  run: async (app, { plan: named, dollars }) => {
    const plan = await (await app.plans()).getPlan(named);
    if (dollars !== undefined) {
      requireOpen(plan);
      const cap = await givenBudget(app, dollars);
      const user = await app.user();
      await (await app.store()).transaction((tx) => setOwnBudget(tx, { planId: plan.id, cap, user }));
    }
    return {
      planId: plan.id,
      cost: await planCost(app, plan.id),
      nextSteps: dollars === undefined || isTerminal(plan) ? [] : [nextStep("plan.resume", { plan: plan.id })],
    };
  },
});

function requireOpen(plan: Plan): void {
  if (!isTerminal(plan)) return;
  throw new UsageError(`The plan ${plan.id} is ${statusKey(plan)} and will not spend anything.`, {
    kept: "Nothing was changed.",
  });
}
