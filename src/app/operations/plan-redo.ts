import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { NotRedone, Redone, redoPlan } from "../procedures/land-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, expectedVersion: z.int().optional() }),
  output: z.discriminatedUnion("redone", [Redone, NotRedone]),
  run: async (app, { expectedVersion, ...given }, call) =>
    redoPlan(
      app,
      {
        plan: await planMeant(app, given, { operation: "plan.redo", standings: ["undone"], matters: true }, call),
        expectedVersion,
      },
      call,
    ),
});
