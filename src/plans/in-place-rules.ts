/**
 * Plans that work in place, without a sandbox: which may, and what they leave behind. Such a plan is applied step by
 * step, so there is nothing to roll back to and nothing to start again from; its changes are removed by undo, in
 * whichever state the plan stopped.
 */
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import { stepLandings } from "../ledger/journal.ts";
import type { AttachedValidation } from "../domain/validation/attachment.ts";
import { AgentsError, ConflictError } from "../domain/errors/errors.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { worksInPlace, type ProjectResource, type SandboxStrategy } from "../domain/resource/resource.ts";
import { findSandboxRecords } from "../ledger/sandbox-records.ts";
import { findLinks } from "../store/tables/resources.ts";
import type { Reader, Store } from "../store/port.ts";

export interface PlanResource extends ProjectResource {
  /** The plan may not change anything of the project that has it. */
  readonly planReadOnly: boolean;
}

export async function planResources(reader: Reader, plan: Pick<Plan, "projects">): Promise<PlanResource[]> {
  const all: PlanResource[] = [];
  for (const { project, readOnly } of plan.projects) {
    for (const link of await findLinks(reader, { project })) all.push({ ...link, planReadOnly: readOnly });
  }
  return all;
}

export interface InPlace {
  readonly alias: string;
  readonly path: string;
}

/** Where the plan works in place: its recorded places once it has begun, before that those of its resources. */
export async function inPlaceOf(reader: Reader, plan: Plan): Promise<InPlace[]> {
  const records: readonly (InPlace & { strategy: SandboxStrategy })[] = await findSandboxRecords(
    reader,
    plan.id,
    plan.attempt,
  );
  const all =
    records.length > 0
      ? records
      : (await planResources(reader, plan)).map(({ alias, path, sandbox }) => ({ alias, path, strategy: sandbox }));
  return all.filter(worksInPlace).map(({ alias, path }) => ({ alias, path }));
}

/**
 * Refuses a plan that may not work in place, or could not keep its promises there: before it is made, and before it is
 * executed.
 */
export function requireSandboxes(
  plan: Pick<Plan, "id" | "action" | "projects" | "profile">,
  resources: readonly Pick<ProjectResource, "alias" | "resource" | "path" | "sandbox">[],
  validations: readonly AttachedValidation[],
  kept: string,
): void {
  const inPlace = resources.filter(worksInPlace);
  const [first] = inPlace;
  if (first === undefined) return;
  const refuse = (message: string, next: readonly NextStep[]): never => {
    throw new AgentsError("policy", message, { kept, next, detail: { in_place: inPlace.map(({ alias }) => alias) } });
  };
  const { profile } = plan;
  if (profile.requireSandbox) {
    const projects = plan.projects.map(({ project }) => project);
    refuse(
      `The resource "${first.resource}" is worked on in place, and the automation profile "${profile.name}" requires a sandbox.`,
      [
        nextStep("plan.use", { action: plan.action, projects, automationProfile: "full-auto" }),
        nextStep("resource.show", { resource: first.resource }),
      ],
    );
  }
  if (profile.requireCheckpoints) {
    refuse(
      `The resource "${first.resource}" is worked on in place, where nothing can be rolled back, and the automation profile "${profile.name}" requires checkpoints.`,
      [
        nextStep("automation-profile.show", { profile: profile.name }),
        nextStep("resource.show", { resource: first.resource }),
      ],
    );
  }
  const sandboxed = resources.find((resource) => !worksInPlace(resource));
  if (sandboxed !== undefined) {
    refuse(
      `The plan would work on "${first.resource}" in place and on "${sandboxed.resource}" in a sandbox, so it could not be applied to both or to neither.`,
      [{ text: "make a project for each of them" }, nextStep("resource.show", { resource: first.resource })],
    );
  }
  const command = validations.find(
    ({ resource, validation }) =>
      validation.check.kind === "command" && inPlace.some(({ alias }) => alias === resource),
  );
  if (command !== undefined) {
    refuse(
      `The validation "${command.validation.name}" runs a command, and in place its changes could not be told from those of a person.`,
      [
        nextStep("validation.detach", { attachment: command.attachment }),
        nextStep("resource.show", { resource: first.resource }),
      ],
    );
  }
}

/** Refuses to continue a plan whose recorded steps are no longer in the resources. */
export function requireNotUndone(plan: Plan): void {
  if (plan.undoneAt === undefined) return;
  throw new ConflictError(
    `The changes of plan ${plan.id} were undone, and it cannot continue without them.`,
    { expected: "the plan's changes in its resources", actual: "undone" },
    {
      kept: "Nothing was changed.",
      next: [
        nextStep("plan.redo", { plan: plan.id }),
        nextStep("plan.revert", { plan: plan.id }),
        nextStep("plan.cancel", { plan: plan.id }),
      ],
    },
  );
}

/**
 * Refuses another attempt while this one's changes are there: in place it would build on them, and undo could not
 * separate them.
 */
export async function requireNothingInPlace(reader: Reader, plan: Plan): Promise<void> {
  const [first] = plan.undoneAt === undefined ? await stepLandings(reader, plan) : [];
  if (first === undefined) return;
  throw new AgentsError(
    "policy",
    `The plan ${plan.id} works in place and cannot be sent back while its changes are in ${first.root}.`,
    {
      kept: "Nothing was changed.",
      next: [nextStep("plan.undo", { plan: plan.id })],
      detail: { path: first.root },
    },
  );
}

/**
 * A rollback only records which steps count, and the next execution resets the sandboxes to them. In place nothing
 * would be reset.
 */
export async function requireSandboxToRollBack(reader: Reader, plan: Plan): Promise<void> {
  const [first] = await stepLandings(reader, plan);
  if (first === undefined) return;
  throw new AgentsError("policy", `The plan ${plan.id} works in place, in ${first.root}, and cannot be rolled back.`, {
    kept: "Nothing was changed.",
    next: [nextStep("plan.undo", { plan: plan.id }), nextStep("plan.revert", { plan: plan.id }, "then")],
    detail: { path: first.root },
  });
}

/** The same error, which also says where the work of the steps before is. */
export async function stoppedInPlaceError(store: Store, error: unknown, plan: Plan): Promise<unknown> {
  // The caller must hear why it stopped, also when the store is the reason.
  const landings = await store.read((reader) => stepLandings(reader, plan)).catch(() => []);
  if (!(error instanceof AgentsError) || landings.length === 0) return error;
  const where = [...new Set(landings.map(({ root }) => root))].join(", ");
  const { kept = "", next, detail } = error;
  return new AgentsError(error.code, error.message, {
    kept: `${kept} The changes of its earlier steps are in ${where}.`.trim(),
    next: [...next, nextStep("plan.undo", { plan: plan.id })],
    detail,
    cause: error,
  });
}
