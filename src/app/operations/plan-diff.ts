import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { diffOfPlan, PlanDiffFacts } from "../queries/diff-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference }),
  output: PlanDiffFacts,
  run: async (app, { plan }) => diffOfPlan(app, await (await app.plans()).getPlan(plan)),
});
