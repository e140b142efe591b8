import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { NotUndone, Undone, undoPlan } from "../procedures/land-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, decision: z.string().optional(), expectedVersion: z.int().optional() }),
  output: z.discriminatedUnion("undone", [Undone, NotUndone]),
  run: async (app, { plan: named, directory, decision, expectedVersion }, call) =>
    undoPlan(
      app,
      {
        plan: await planMeant(
          app,
          { plan: named, directory },
          { operation: "plan.undo", standings: ["applied"], matters: true },
          call,
        ),
        decision,
        expectedVersion,
      },
      call,
    ),
});
