import * as z from "zod";
import { wakeJob } from "../../ledger/jobs.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { guidePlan, Prompted } from "../procedures/prompt-plan.ts";
import { planMeant } from "../queries/plan-meant.ts";

const WANTED = {
  operation: "plan.prompt",
  standings: ["waiting for you", "working", "stopped", "ready to review"],
  exact: true,
} as const;

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, text: z.string() }),
  output: Prompted,
  run: async (app, { plan: named, directory, text }, call) => {
    const plan = await planMeant(app, { plan: named, directory }, WANTED, call);
    // A plan that is carried out in the background continues there.
    return guidePlan(app, plan.id, text, { alongside: (tx) => wakeJob(tx, plan.id) });
  },
});
