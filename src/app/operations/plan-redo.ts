import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { NotRedone, Redone, redoPlan } from "../procedures/land-plan.ts";

export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference }),
  output: z.discriminatedUnion("redone", [Redone, NotRedone]),
  run: async (app, { plan }, call) => redoPlan(app, await (await app.plans()).getPlan(plan), call),
});
