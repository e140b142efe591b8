import { ConflictError } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import { parseProject, type Project, type ProjectInput } from "../domain/project.ts";
import { parseQualifiedName } from "../domain/qualified-name.ts";
import { activePlanIds } from "../store/plans.ts";
import { deleteProject, findProject, findProjects, insertProject, projectPlanCounts } from "../store/projects.ts";
import type { Reader, Store } from "../store/store.ts";
import { ambienceOf, recordEvent, transition, type Ambience, type ServiceParts } from "./transition.ts";
import { notFound } from "./use-action.ts";

export interface ListedProject extends Project {
  readonly plans: number;
  readonly activePlans: number;
}

/** Projects. A project with plans that can still go on is only deleted together with cancelling them. */
export class ProjectService {
  readonly #store: Store;
  readonly #ambience: Ambience;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#ambience = ambienceOf(parts);
  }

  async createProject(input: ProjectInput): Promise<Project> {
    const definition = parseProject(input);
    return this.#store.transaction(async (tx) => {
      const at = this.#ambience.clock();
      if (!(await insertProject(tx, definition, at))) {
        throw new ConflictError(
          `There is already a project "${definition.name}".`,
          { expected: "no such project", actual: definition.name, code: "already_exists" },
          { kept: "The existing project was not changed.", next: [`agents project show ${definition.name}`] },
        );
      }
      await recordEvent(tx, this.#ambience, { type: "project.created", at, details: { project: definition.name } });
      return { ...definition, version: 1, createdAt: at, updatedAt: at };
    });
  }

  async getProject(name: string): Promise<ListedProject> {
    return this.#store.read(async (reader) => withCounts(reader, await requireProject(reader, name)));
  }

  async listProjects(namespace?: string): Promise<ListedProject[]> {
    return this.#store.read(async (reader) => {
      const listed: ListedProject[] = [];
      for (const project of await findProjects(reader, namespace)) listed.push(await withCounts(reader, project));
      return listed;
    });
  }

  /** Deletes the project, with `force` after cancelling its active plans: all of it in one transaction, or nothing. */
  async deleteProject(
    name: string,
    options: { force?: boolean } = {},
  ): Promise<{ project: Project; cancelled: PlanId[] }> {
    return this.#store.transaction(async (tx) => {
      const project = await requireProject(tx, name);
      const active = await activePlanIds(tx, project.name);
      if (active.length > 0 && options.force !== true) {
        throw new ConflictError(
          `The project "${project.name}" has ${active.length} active ${active.length === 1 ? "plan" : "plans"}.`,
          { expected: "no active plan", actual: { active_plans: active.slice(0, 20) } },
          {
            kept: "Nothing was changed.",
            next: [`agents plan list --project ${project.name}`, `agents project delete --force ${project.name}`],
          },
        );
      }
      const reason = `project ${project.name} deleted`;
      for (const planId of active) {
        await transition(tx, this.#ambience, { planId, operation: "cancelPlan", lease: { kind: "revoke" }, reason });
      }
      await deleteProject(tx, project.name);
      const at = this.#ambience.clock();
      const details = { project: project.name, cancelled_plans: active };
      await recordEvent(tx, this.#ambience, { type: "project.deleted", at, details });
      return { project, cancelled: active };
    });
  }
}

async function requireProject(reader: Reader, text: string): Promise<Project> {
  const name = parseQualifiedName(text, "project");
  const project = await findProject(reader, name);
  if (project !== undefined) return project;
  throw notFound(
    "project",
    name,
    (await findProjects(reader)).map((known) => known.name),
  );
}

async function withCounts(reader: Reader, project: Project): Promise<ListedProject> {
  const counts = await projectPlanCounts(reader, project.name);
  return { ...project, plans: counts.total, activePlans: counts.active };
}
