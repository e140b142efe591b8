import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { guidePlan, Prompted } from "../procedures/prompt-plan.ts";

export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference, text: z.string() }),
  output: Prompted,
  run: async (app, { plan, text }) => guidePlan(app, (await (await app.plans()).getPlan(plan)).id, text),
});
