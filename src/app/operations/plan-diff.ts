import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { diffOfPlan, PlanDiffFacts } from "../queries/diff-facts.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    /** Only files there or below. */
    paths: z.array(z.string()).optional(),
    why: z.boolean().default(false),
  }),
  output: PlanDiffFacts,
  run: async (app, { paths, why, ...given }, call) =>
    diffOfPlan(
      app,
      await planMeant(
        app,
        given,
        { operation: "plan.diff", standings: ["ready to review", "applied", "undone", "working", "stopped"] },
        call,
      ),
      { paths, why },
    ),
});
