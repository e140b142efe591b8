import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { announceConfinement, Executed, executePlan, StrategyReady } from "../procedures/execute-plan.ts";

export const operation = defineOperation({
  input: z.strictObject({
    plan: PlanReference,
    includeDirty: z.boolean().default(false),
    verify: z.boolean().default(true),
  }),
  output: z.discriminatedUnion("outcome", [StrategyReady, Executed]),
  run: async (app, { plan: named, includeDirty, verify }, call) => {
    const plan = await (await app.plans()).getPlan(named);
    const commands = await announceConfinement(app, plan, call);
    return executePlan(app, { id: plan.id, commands, includeDirty, verify }, call);
  },
});
