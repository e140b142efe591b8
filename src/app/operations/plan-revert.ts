import * as z from "zod";
import { nextStep } from "../../domain/errors/next-step.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanReference } from "../base/schemas.ts";

const Status = z.strictObject({ phase: z.enum(PHASES), state: z.enum(STATES) });

/** Acts on the plan as it was seen: when it moved on meanwhile, that is a conflict and not a second reversion. */
export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference, reason: z.string().optional() }),
  output: Status.extend({
    planId: z.string(),
    from: Status,
    attempt: z.int(),
    reversions: z.int(),
    nextSteps: NextSteps,
  }),
  run: async (app, { plan: named, reason }) => {
    const service = await app.plans();
    const seen = await service.getPlan(named);
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
