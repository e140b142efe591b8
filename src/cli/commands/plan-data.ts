import type { Plan } from "../../domain/plan.ts";
import { maskedJson } from "../../store/masking.ts";
import type { CommandContext } from "../command-context.ts";
import { instant } from "../format.ts";
import { toned, type Cell } from "../view.ts";
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
    inputs: maskedJson(Object.fromEntries(plan.arguments)).value,
    invariants: plan.invariants,
    actors: actorData(plan.actors),
    automation_profile: plan.profile.name,
    automation: { profile: plan.profile.name, source: plan.profileSource, read_only: plan.readOnly },
  };
}

/** Where the plan works without a sandbox: for machines and, if it does so anywhere, for people. */
export async function readInPlace(context: CommandContext, plan: Plan): Promise<InPlaceData> {
  const { inPlaceOf } = await import("../../plans/in-place.ts");
  const places = await (await context.store()).read((reader) => inPlaceOf(reader, plan));
  const where = places.map(({ path }) => path).join(", ");
  return {
    data: { in_place: places.map(({ alias, path }) => ({ resource: alias, path })) },
    rows: where === "" ? [] : [["works", toned(`in place, without a sandbox: ${where}`, "warn")] as const],
    where,
  };
}

interface InPlaceData {
  readonly data: { readonly in_place: readonly { readonly resource: string; readonly path: string }[] };
  readonly rows: readonly (readonly [string, Cell])[];
  /** Empty when it works in sandboxes. */
  readonly where: string;
}

export function undoneAt(plan: Plan): string | null {
  return plan.undoneAt === undefined ? null : instant(plan.undoneAt);
}

/** The steps of an applied plan whose changes are out of the resources. */
export async function readUndoneSteps(context: CommandContext, plan: Plan): Promise<string[]> {
  const { findUndoneSteps } = await import("../../apply/journal.ts");
  return (await context.store()).read((reader) => findUndoneSteps(reader, plan.id));
}
