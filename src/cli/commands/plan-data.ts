import type { Plan } from "../../domain/plan.ts";
import type { CommandContext } from "../command-context.ts";
import { instant } from "../format.ts";
import { actorData } from "./action.ts";

/** What a plan is, for machines: the part that `plan use` and `plan status` share. */
export function planData(plan: Plan): Record<string, unknown> {
  return {
    plan_id: plan.id,
    name: plan.name,
    phase: plan.phase,
    state: plan.state,
    version: plan.version,
    attempt: plan.attempt,
    action: plan.action,
    project: plan.projects[0]?.project ?? null,
    projects: plan.projects.map((link) => ({ project: link.project, alias: link.alias, read_only: link.readOnly })),
    description: plan.description,
    definition_of_done: plan.definitionOfDone,
    inputs: Object.fromEntries(plan.arguments),
    invariants: plan.invariants,
    actors: actorData(plan.actors),
    automation_profile: plan.profile.name,
    automation: { profile: plan.profile.name, source: plan.profileSource, read_only: plan.readOnly },
  };
}

export function undoneAt(plan: Plan): string | null {
  return plan.undoneAt === undefined ? null : instant(plan.undoneAt);
}

/** The steps of an applied plan whose changes are out of the resources. */
export async function readUndoneSteps(context: CommandContext, plan: Plan): Promise<string[]> {
  const { findUndoneSteps } = await import("../../apply/journal.ts");
  return (await context.store()).read((reader) => findUndoneSteps(reader, plan.id));
}
