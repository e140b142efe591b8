import { stepLandings } from "../apply/journal.ts";
import type { AttachedValidation } from "../domain/attachment.ts";
import { AgentsError, ConflictError } from "../domain/errors.ts";
import type { Plan } from "../domain/plan.ts";
import type { ProjectResource, SandboxStrategy } from "../domain/resource.ts";
import { findSandboxRecords } from "../execution/sandbox-record.ts";
import { findLinks } from "../store/resources.ts";
import type { Reader, Store } from "../store/store.ts";

/**
 * Plans that work in place, without a sandbox: which may, and what they leave behind. Such a plan has landed step by step, so there is
 * nothing to roll back or to try anew from; what it did is taken out again by undo, whatever state the plan stopped in.
 */
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

/** Where the plan works in place: where it did, once it began, or where it will. */
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
  return all.filter(({ strategy }) => strategy === "none").map(({ alias, path }) => ({ alias, path }));
}

/** Refuses a plan that may not work in place, or could not keep its promises there: before it is made, and before it is executed. */
export function requireSandboxes(
  plan: Pick<Plan, "id" | "action" | "projects" | "profile">,
  resources: readonly Pick<ProjectResource, "alias" | "resource" | "path" | "sandbox">[],
  validations: readonly AttachedValidation[],
  kept: string,
): void {
  const inPlace = resources.filter(({ sandbox }) => sandbox === "none");
  const [first] = inPlace;
  if (first === undefined) return;
  const refuse = (message: string, next: readonly string[]): never => {
    throw new AgentsError("policy", message, { kept, next, detail: { in_place: inPlace.map(({ alias }) => alias) } });
  };
  const { profile } = plan;
  if (profile.requireSandbox) {
    const projects = plan.projects.map(({ project }) => project).join(" ");
    refuse(
      `The resource "${first.resource}" is worked on in place, and the automation profile "${profile.name}" requires a sandbox.`,
      [
        `agents plan use ${plan.action} ${projects} --automation-profile full-auto`,
        `agents resource show ${first.resource}`,
      ],
    );
  }
  if (profile.requireCheckpoints) {
    refuse(
      `The resource "${first.resource}" is worked on in place, where nothing can be rolled back, and the automation profile "${profile.name}" requires checkpoints.`,
      [`agents automation-profile show ${profile.name}`, `agents resource show ${first.resource}`],
    );
  }
  const sandboxed = resources.find(({ sandbox }) => sandbox !== "none");
  if (sandboxed !== undefined) {
    refuse(
      `The plan would work on "${first.resource}" in place and on "${sandboxed.resource}" in a sandbox, and could not land on both or on none.`,
      ["make a project for each of them", `agents resource show ${first.resource}`],
    );
  }
  const command = validations.find(
    ({ resource, validation }) =>
      validation.check.kind === "command" && inPlace.some(({ alias }) => alias === resource),
  );
  if (command !== undefined) {
    refuse(
      `The validation "${command.validation.name}" runs a command, and in place what that changes could not be told from what a person changes.`,
      [`agents validation detach ${command.attachment}`, `agents resource show ${first.resource}`],
    );
  }
}

/** Refuses to go on where the steps that are recorded are not in the resources any more. */
export function requireNotUndone(plan: Plan): void {
  if (plan.undoneAt === undefined) return;
  throw new ConflictError(
    `The changes of plan ${plan.id} were taken out again, and it cannot go on without them.`,
    { expected: "the plan's changes in its resources", actual: "undone" },
    {
      kept: "Nothing was changed.",
      next: [`agents plan redo ${plan.id}`, `agents plan revert ${plan.id}`, `agents plan cancel ${plan.id}`],
    },
  );
}

/** Refuses another attempt as long as this one's changes are there: in place it would build on them, and nobody could take them out. */
export async function requireNothingInPlace(reader: Reader, plan: Plan): Promise<void> {
  const [first] = plan.undoneAt === undefined ? await stepLandings(reader, plan) : [];
  if (first === undefined) return;
  throw new AgentsError(
    "policy",
    `The plan ${plan.id} works in place and cannot be sent back as long as its changes are in ${first.root}.`,
    {
      kept: "Nothing was changed.",
      next: [`agents plan undo ${plan.id}`],
      detail: { path: first.root },
    },
  );
}

/** A rollback only says what counts, and the next execution makes the sandboxes that. In place nothing would be made anything. */
export async function requireSandboxToRollBack(reader: Reader, plan: Plan): Promise<void> {
  const [first] = await stepLandings(reader, plan);
  if (first === undefined) return;
  throw new AgentsError("policy", `The plan ${plan.id} works in place, in ${first.root}, and cannot be rolled back.`, {
    kept: "Nothing was changed.",
    next: [`agents plan undo ${plan.id}`, `then: agents plan revert ${plan.id}`],
    detail: { path: first.root },
  });
}

/** The same error, which also says where the work is that was done before. */
export async function stoppedInPlace(store: Store, error: unknown, plan: Plan): Promise<unknown> {
  // Why it stopped is what the caller must hear, also when the store is the reason.
  const landings = await store.read((reader) => stepLandings(reader, plan)).catch(() => []);
  if (!(error instanceof AgentsError) || landings.length === 0) return error;
  const where = [...new Set(landings.map(({ root }) => root))].join(", ");
  const { kept = "", next, detail } = error;
  return new AgentsError(error.code, error.message, {
    kept: `${kept} What the plan did before is in ${where}.`.trim(),
    next: [...next, `agents plan undo ${plan.id}`],
    detail,
    cause: error,
  });
}
