import * as z from "zod";
import { setPlanEffort } from "../../ledger/plan-effort.ts";
import { defineOperation } from "../base/operation.ts";
import { Effort, PlanReference } from "../base/schemas.ts";
import { announceConfinement, Executed, executePlan, StrategyReady } from "../procedures/execute-plan.ts";

export const operation = defineOperation({
  input: z.strictObject({
    plan: PlanReference,
    effort: Effort.optional(),
    includeDirty: z.boolean().default(false),
    verify: z.boolean().default(true),
  }),
  output: z.discriminatedUnion("outcome", [StrategyReady, Executed]),
  run: async (app, { plan: named, effort, includeDirty, verify }, call) => {
    const plan = await (await app.plans()).getPlan(named);
    if (effort !== undefined) {
      const change = { planId: plan.id, effort, user: await app.user() };
      await (await app.store()).transaction((tx) => setPlanEffort(tx, change));
    }
    const commands = await announceConfinement(app, plan, call);
    return executePlan(app, { id: plan.id, commands, includeDirty, verify }, call);
  },
});
