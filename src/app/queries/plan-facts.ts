/** The facts of a plan: the part that every operation on plans answers with. */
import * as z from "zod";
import { ACTOR_ROLES, type ActorRole, type Actors } from "../../domain/action/action.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { PHASES, STATES } from "../../domain/plan/transitions.ts";
import { maskedJson } from "../../platform/masking.ts";
import { Json } from "../base/schemas.ts";

export const ActorsByRole = z.strictObject(
  Object.fromEntries(ACTOR_ROLES.map((role) => [role, z.string().nullable()])) as Record<
    ActorRole,
    z.ZodNullable<z.ZodString>
  >,
);

export const PlanFacts = z.strictObject({
  planId: z.string(),
  name: z.string(),
  phase: z.enum(PHASES),
  state: z.enum(STATES),
  version: z.int(),
  attempt: z.int(),
  action: z.string(),
  project: z.string().nullable(),
  projects: z.array(z.strictObject({ project: z.string(), alias: z.string().nullable(), readOnly: z.boolean() })),
  description: z.string(),
  definitionOfDone: z.string(),
  inputs: z.record(z.string(), Json),
  invariants: z.array(z.string()).readonly(),
  actors: ActorsByRole,
  automationProfile: z.string(),
  automation: z.strictObject({ profile: z.string(), source: z.string(), readOnly: z.boolean() }),
});

export function planFacts(plan: Plan): z.output<typeof PlanFacts> {
  return {
    planId: plan.id,
    name: plan.name,
    phase: plan.phase,
    state: plan.state,
    version: plan.version,
    attempt: plan.attempt,
    action: plan.action,
    project: plan.projects[0]?.project ?? null,
    projects: plan.projects.map(({ project, alias, readOnly }) => ({ project, alias: alias ?? null, readOnly })),
    description: plan.description,
    definitionOfDone: plan.definitionOfDone,
    inputs: maskedInputs(plan),
    invariants: plan.invariants,
    actors: actorsByRole(plan.actors),
    automationProfile: plan.profile.name,
    automation: { profile: plan.profile.name, source: plan.profileSource, readOnly: plan.readOnly },
  };
}

export function actorsByRole(actors: Actors): z.output<typeof ActorsByRole> {
  const named = Object.fromEntries(ACTOR_ROLES.map((role) => [role, actors[role] ?? null]));
  return named as z.output<typeof ActorsByRole>;
}

function maskedInputs(plan: Plan): z.output<typeof PlanFacts>["inputs"] {
  const { value } = maskedJson(Object.fromEntries(plan.arguments));
  return value as z.output<typeof PlanFacts>["inputs"];
}
