import * as z from "zod";
import { ConflictError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { isTerminal, statusKey } from "../../domain/plan/transitions.ts";
import { retryJob } from "../../ledger/jobs.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { Queued, queuedPlan } from "../procedures/queue-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven }),
  output: Queued,
  run: async (app, given, call) => {
    const plan = await planMeant(app, given, { operation: "jobs.retry", standings: ["not started", "stopped"] }, call);
    const queued = !isTerminal(plan) && (await (await app.store()).transaction((tx) => retryJob(tx, plan.id)));
    if (queued) return queuedPlan(app, plan.id);
    throw new ConflictError(
      `The plan ${plan.id} is ${statusKey(plan)} and has no job that could be tried again.`,
      { expected: "a job that failed or was given up", actual: "none" },
      { kept: "Nothing was queued.", next: [nextStep("jobs.list", { all: true })] },
    );
  },
});
