import * as z from "zod";
import { ConflictError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { dropJob } from "../../ledger/jobs.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { planMeant } from "../queries/plan-meant.ts";

/** Takes a plan out of the queue; the plan stays as it is. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven }),
  output: z.strictObject({ planId: z.string(), nextSteps: NextSteps }),
  run: async (app, given, call) => {
    const wanted = { operation: "jobs.cancel", standings: ["not started", "stopped"], matters: true } as const;
    const { id: planId } = await planMeant(app, given, wanted, call);
    if (!(await (await app.store()).transaction((tx) => dropJob(tx, planId)))) {
      throw new ConflictError(
        `The plan ${planId} is not queued.`,
        { expected: "a queued job that no worker has begun with", actual: "none" },
        {
          kept: "Nothing was changed.",
          next: [nextStep("jobs.list", { all: true }), nextStep("plan.cancel", { plan: planId })],
        },
      );
    }
    return { planId, nextSteps: [nextStep("plan.execute", { plan: planId })] };
  },
});
