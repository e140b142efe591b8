import { hostname } from "node:os";
import { realpath, stat } from "node:fs/promises";
import {
  ConflictError,
  NotFoundError,
  UsageError,
  ValidationError,
  type ValidationIssue,
} from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { nameKey, parseQualifiedName, type QualifiedName } from "../domain/names/qualified-name.ts";
import {
  parseResource,
  pathProblem,
  type ProjectResource,
  type Resource,
  type ResourceDefinition,
  type ResourceInput,
} from "../domain/resource/resource.ts";
import { nearest } from "../domain/text/suggest.ts";
import { shown } from "../domain/text/text.ts";
import { activePlanIds } from "../store/tables/plans.ts";
import {
  deleteResource,
  findLinks,
  findResources,
  insertResource,
  type ResourceFilter,
} from "../store/tables/resources.ts";
import type { Store } from "../store/port.ts";
import { checkoutProblem } from "../git/checkout.ts";
import { findAttachments } from "../store/tables/validations.ts";
import { stillAttachedError } from "./attachments.ts";
import { addLink, activePlansError, removeLink, requireProject, requireResource, sameAlias } from "./project-links.ts";
import { recordSourceOf, recordEvent, type RecordSource, type ServiceParts } from "../plans/transition.ts";

export interface ListedResource extends Resource {
  /** The projects that have it, each with its alias there. */
  readonly projects: readonly ProjectResource[];
}

/**
 * Resources and their links to projects. Of any number of concurrent callers, also in other processes, one adds a name,
 * and a link never outlives its resource: both are decided by the statement that writes.
 */
export class ResourceService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  /** Checks what is on the disk first: a unit of work waits for nothing but its own statements. */
  async addResource(input: ResourceInput): Promise<ListedResource> {
    const definition = await onDisk(parseResource(input));
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      if (!(await insertResource(tx, definition, at))) {
        throw new ConflictError(
          `There is already a resource "${definition.name}".`,
          { expected: "no such resource", actual: definition.name, code: "already_exists" },
          {
            kept: "The existing resource was not changed.",
            next: [nextStep("resource.show", { resource: definition.name })],
          },
        );
      }
      const { name, type, path, branch, sandbox } = definition;
      const details = { resource: name, type, path, sandbox, ...(branch === undefined ? {} : { branch }) };
      await recordEvent(tx, this.#recordSource, { type: "resource.added", at, details });
      return { ...definition, host: hostname(), version: 1, createdAt: at, updatedAt: at, projects: [] };
    });
  }

  async getResource(name: string): Promise<ListedResource> {
    return this.#store.read(async (reader) => {
      const resource = await requireResource(reader, name);
      return { ...resource, projects: await findLinks(reader, { resource: resource.name }) };
    });
  }

  async listResources(filter: ResourceFilter = {}): Promise<ListedResource[]> {
    return this.#store.read(async (reader) => {
      const listed: ListedResource[] = [];
      for (const resource of await findResources(reader, filter)) {
        listed.push({ ...resource, projects: await findLinks(reader, { resource: resource.name }) });
      }
      return listed;
    });
  }

  /**
   * Forgets the resource; what is on the disk stays. Refused while a project has it or a validation is attached to it.
   */
  async removeResource(name: string): Promise<Resource> {
    return this.#store.transaction(async (tx) => {
      const resource = await requireResource(tx, name);
      if (!(await deleteResource(tx, resource.name))) {
        const links = await findLinks(tx, { resource: resource.name });
        if (links.length > 0) throw stillLinkedError(resource, links);
        throw stillAttachedError("resource", resource.name, await findAttachments(tx, "resource", resource.name));
      }
      const at = this.#recordSource.clock();
      await recordEvent(tx, this.#recordSource, { type: "resource.removed", at, details: { resource: resource.name } });
      return resource;
    });
  }

  /** Gives the project the resource under an alias (the last part of its name unless given). */
  async linkResource(
    project: string,
    resource: string,
    options: { alias?: string | undefined; readOnly?: boolean } = {},
  ): Promise<ProjectResource> {
    return this.#store.transaction(async (tx) =>
      addLink(tx, this.#recordSource, await requireProject(tx, project), { ...options, resource }),
    );
  }

  /** By alias or by the resource's name. Refused while the project has active plans: they work with it. */
  async unlinkResource(project: string, aliasOrResource: string): Promise<ProjectResource> {
    return this.#store.transaction(async (tx) => {
      const found = await requireProject(tx, project);
      const link = pickLink(found.name, aliasOrResource, await findLinks(tx, { project: found.name }));
      const active = await activePlanIds(tx, found.name);
      if (active.length > 0) throw activePlansError(found, active, []);
      await removeLink(tx, this.#recordSource, link);
      return link;
    });
  }
}

function stillLinkedError(resource: Resource, links: readonly ProjectResource[]): ConflictError {
  const projects = links.map(({ project }) => project);
  return new ConflictError(
    `The resource "${resource.name}" is linked to ${listed(projects)}.`,
    { expected: "not linked", actual: { projects } },
    {
      kept: "Nothing was changed.",
      next: projects
        .slice(0, SHOWN)
        .map((project) => nextStep("project.unlink-resource", { project, alias: resource.name })),
    },
  );
}

const SHOWN = 5;

function listed(projects: readonly QualifiedName[]): string {
  const more = projects.length - SHOWN;
  return `${projects.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** An alias has no "/", a full name has: so there is always a word that means one link only. */
function pickLink(project: QualifiedName, text: string, links: readonly ProjectResource[]): ProjectResource {
  const name = parseQualifiedName(text, "resource");
  const fitting = links.filter((link) => sameAlias(link.alias, text) || nameKey(link.resource) === nameKey(name));
  const [link, other] = fitting;
  if (link === undefined) {
    const suggestion = nearest(
      text,
      links.flatMap(({ alias, resource }) => [alias, resource]),
    );
    throw new NotFoundError("resource", text, {
      detail: { project, ...(suggestion === undefined ? {} : { suggestion }) },
      kept: "Nothing was changed.",
      next: [
        suggestion === undefined
          ? nextStep("project.show", { project })
          : nextStep("project.unlink-resource", { project, alias: suggestion }),
      ],
    });
  }
  if (other !== undefined) {
    throw new UsageError(
      `In the project "${project}" ${shown(text)} is the alias of one resource and the name of another.`,
      {
        kept: "Nothing was changed.",
        next: fitting.map(({ resource }) => nextStep("project.unlink-resource", { project, alias: resource })),
      },
    );
  }
  return link;
}

/** The definition with its real path, once the disk has what its type needs. */
export async function onDisk<T extends Pick<ResourceDefinition, "type" | "path" | "branch">>(
  definition: T,
): Promise<T> {
  const path = await directoryAt(definition.path);
  if (definition.type === "git-checkout") {
    const problem = await checkoutProblem(path, definition.branch);
    if (problem !== undefined) refuse(problem);
  }
  return { ...definition, path };
}

async function directoryAt(path: string): Promise<string> {
  const complain = (message: string): never => refuse({ path: "path", message: `${shown(path, 200)} ${message}` });
  try {
    const real = await realpath(path);
    const problem = pathProblem(real);
    if (problem !== undefined) complain(`leads to a place that ${problem}`);
    return (await stat(real)).isDirectory() ? real : complain("is not a directory");
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    return complain(
      code === "ENOENT"
        ? "does not exist"
        : `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function refuse(issue: ValidationIssue): never {
  throw new ValidationError(`The resource cannot be added: ${issue.message}.`, [issue]);
}
