import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { NotUndone, Undone, undoPlan } from "../procedures/land-plan.ts";

export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference, decision: z.string().optional() }),
  output: z.discriminatedUnion("undone", [Undone, NotUndone]),
  run: async (app, { plan, decision }, call) =>
    undoPlan(app, { plan: await (await app.plans()).getPlan(plan), decision }, call),
});
