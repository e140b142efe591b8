import * as z from "zod";
import { ACTOR_ROLES, type Action } from "../../domain/action/action.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { planActivity } from "../../ledger/activity.ts";
import { maskedText } from "../../platform/masking.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps, PlanGiven } from "../base/schemas.ts";
import { InPlace, placesOf } from "../queries/in-place.ts";
import { planMeant } from "../queries/plan-meant.ts";

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, reason: z.string().optional(), expectedVersion: z.int().optional() }),
  output: z.strictObject({
    planId: z.string(),
    phase: z.enum(PHASES),
    state: z.enum(STATES),
    reason: z.string().nullable(),
    cancelledAt: Instant,
    preserved: z.strictObject({ steps: z.int(), changesets: z.int(), changes: z.int() }),
    /** Where its changes are still in the user's files. */
    changedInPlace: InPlace,
    recovery: NextSteps,
  }),
  run: async (app, { plan: named, directory, reason, expectedVersion }, call) => {
    const service = await app.plans();
    const seen = await planMeant(app, { plan: named, directory }, WANTED, call);
    const plan = await service.cancelPlan(seen.id, { reason, expectedVersion });
    const { activity, places } = await (
      await app.store()
    ).read(async (reader) => ({
      activity: await planActivity(reader, plan.id),
      places: await placesOf(reader, plan),
    }));
    const { steps, changesets, changes } = activity;
    const changedInPlace = changes > 0 && plan.undoneAt === undefined ? places : [];
    return {
      planId: plan.id,
      phase: plan.phase,
      state: plan.state,
      reason: plan.cancelReason ?? null,
      cancelledAt: instant(plan.updatedAt),
      preserved: { steps, changesets, changes },
      changedInPlace,
      recovery: [
        ...(changedInPlace.length === 0 ? [] : [nextStep("plan.undo", { plan: plan.id })]),
        sameAgain(plan, await service.getAction(plan.action)),
      ],
    };
  },
});

const WANTED = {
  operation: "plan.cancel",
  standings: ["not started", "working", "waiting for you", "stopped", "ready to review", "answered"],
  verb: "Cancel",
  matters: true,
} as const;

/** Makes the same plan again, with the same actors: those of its action may be others. */
function sameAgain(plan: Plan, action: Action): NextStep {
  const others = ACTOR_ROLES.flatMap((role) => {
    const actor = plan.actors[role];
    return actor === undefined || actor === action.actors[role] ? [] : [[`${role}Actor`, actor] as const];
  });
  const values = [...plan.arguments].map(
    ([name, value]) => [name, maskedText(typeof value === "object" ? JSON.stringify(value) : String(value))] as const,
  );
  return nextStep("plan.use", {
    action: plan.action,
    projects: plan.projects.map((link) => link.project),
    ...(values.length === 0 ? {} : { arguments: Object.fromEntries(values) }),
    ...(plan.profileSource === "plan" ? { automationProfile: plan.profile.name } : {}),
    ...Object.fromEntries(others),
  });
}
