import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { planMeant } from "../queries/plan-meant.ts";

const WANTED = {
  operation: "plan.revert",
  standings: ["stopped", "ready to review", "answered"],
  verb: "Plan again",
  matters: true,
} as const;

const Status = z.strictObject({ phase: z.enum(PHASES), state: z.enum(STATES) });

/** Acts on the plan as it was seen: when it moved on meanwhile, that is a conflict and not a second reversion. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, reason: z.string().optional() }),
  output: Status.extend({
    planId: z.string(),
    from: Status,
    attempt: z.int(),
    reversions: z.int(),
    nextSteps: NextSteps,
  }),
  run: async (app, { plan: named, directory, reason }, call) => {
    const service = await app.plans();
    const seen = await planMeant(app, { plan: named, directory }, WANTED, call);
    const plan = await service.revertPlan(seen.id, { reason, expectedVersion: seen.version });
    return {
      planId: plan.id,
      from: { phase: seen.phase, state: seen.state },
      phase: plan.phase,
      state: plan.state,
      attempt: plan.attempt,
      reversions: plan.reversionCount,
      nextSteps: [nextStep("plan.status", { plan: plan.id })],
    };
  },
});
