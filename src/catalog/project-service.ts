import { ConflictError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { parseProject, type Project, type ProjectInput } from "../domain/resource/project.ts";
import type { ProjectResource } from "../domain/resource/resource.ts";
import { deleteContextPolicy } from "../store/tables/context-policies.ts";
import { activePlanIds } from "../store/tables/plans.ts";
import { deleteProject, findProjects, insertProject, projectPlanCounts } from "../store/tables/projects.ts";
import { findLinks } from "../store/tables/resources.ts";
import type { Reader, Store } from "../store/port.ts";
import { findAttachments } from "../store/tables/validations.ts";
import { removeAttachment } from "./attachments.ts";
import { addLink, activePlansError, removeLink, requireProject, type ResourceLinkInput } from "./project-links.ts";
import { recordSourceOf, recordEvent, transition, type RecordSource, type ServiceParts } from "../plans/transition.ts";

export interface ListedProject extends Project {
  readonly plans: number;
  readonly activePlans: number;
  /** Its linked resources, in the order of their aliases. */
  readonly resources: readonly ProjectResource[];
}

export interface CreateProjectInput extends ProjectInput {
  readonly resources?: readonly (string | ResourceLinkInput)[];
}

/** Projects. A project with active plans is only deleted if the same transaction cancels them. */
export class ProjectService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  /** The project and its links, or nothing: a resource that does not exist leaves no project behind. */
  async createProject(input: CreateProjectInput): Promise<ListedProject> {
    const definition = parseProject(input);
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      if (!(await insertProject(tx, definition, at))) {
        throw new ConflictError(
          `There is already a project "${definition.name}".`,
          { expected: "no such project", actual: definition.name, code: "already_exists" },
          {
            kept: "The existing project was not changed.",
            next: [nextStep("project.show", { project: definition.name })],
          },
        );
      }
      await recordEvent(tx, this.#recordSource, { type: "project.created", at, details: { project: definition.name } });
      for (const one of input.resources ?? []) {
        const link = typeof one === "string" ? { resource: one } : one;
        await addLink(tx, this.#recordSource, definition, link, [
          nextStep("project.create", { project: definition.name }),
        ]);
      }
      return withLinks(tx, { ...definition, version: 1, createdAt: at, updatedAt: at });
    });
  }

  async getProject(name: string): Promise<ListedProject> {
    return this.#store.read(async (reader) => withLinks(reader, await requireProject(reader, name)));
  }

  async listProjects(namespace?: string): Promise<ListedProject[]> {
    return this.#store.read(async (reader) => {
      const listed: ListedProject[] = [];
      for (const project of await findProjects(reader, namespace)) listed.push(await withLinks(reader, project));
      return listed;
    });
  }

  /**
   * Deletes the project, with `force` after it canceled the project's active plans: all in one transaction, or nothing.
   * Its resources are unlinked and stay; validations that were attached for it are detached.
   */
  async deleteProject(
    name: string,
    options: { force?: boolean } = {},
  ): Promise<{ project: Project; cancelled: PlanId[]; unlinked: ProjectResource[] }> {
    return this.#store.transaction(async (tx) => {
      const project = await requireProject(tx, name);
      const active = await activePlanIds(tx, project.name);
      if (active.length > 0 && options.force !== true) {
        throw activePlansError(project, active, [nextStep("project.delete", { project: project.name, force: true })]);
      }
      const reason = `project ${project.name} deleted`;
      for (const planId of active) {
        await transition(tx, this.#recordSource, {
          planId,
          operation: "cancelPlan",
          lease: { kind: "revoke" },
          reason,
        });
      }
      const unlinked = await findLinks(tx, { project: project.name });
      for (const link of unlinked) await removeLink(tx, this.#recordSource, link);
      for (const attachment of await findAttachments(tx, "project", project.name)) {
        await removeAttachment(tx, this.#recordSource, attachment);
      }
      await deleteContextPolicy(tx, project.name);
      await deleteProject(tx, project.name);
      const at = this.#recordSource.clock();
      const resources = unlinked.map(({ resource }) => resource);
      const details = { project: project.name, cancelled_plans: active, unlinked_resources: resources };
      await recordEvent(tx, this.#recordSource, { type: "project.deleted", at, details });
      return { project, cancelled: active, unlinked };
    });
  }
}

async function withLinks(reader: Reader, project: Project): Promise<ListedProject> {
  const counts = await projectPlanCounts(reader, project.name);
  const resources = await findLinks(reader, { project: project.name });
  return { ...project, plans: counts.total, activePlans: counts.active, resources };
}
