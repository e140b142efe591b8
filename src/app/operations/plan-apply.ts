import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { Applied, applyPlan, NotApplied } from "../procedures/land-plan.ts";

export const operation = defineOperation({
  input: z.strictObject({
    plan: PlanReference,
    allowEmpty: z.boolean().default(false),
    verify: z.boolean().default(true),
  }),
  output: z.discriminatedUnion("applied", [Applied, NotApplied]),
  run: async (app, { plan, ...options }, call) =>
    applyPlan(app, await (await app.plans()).getPlan(plan), options, call),
});
