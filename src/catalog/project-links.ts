import { aliasIssue } from "../domain/names/alias.ts";
import { ConflictError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Project } from "../domain/resource/project.ts";
import { nameKey, nameParts, parseQualifiedName, type QualifiedName } from "../domain/names/qualified-name.ts";
import type { ProjectResource, Resource } from "../domain/resource/resource.ts";
import { findProject, findProjects } from "../store/tables/projects.ts";
import { deleteLink, findLinks, findResource, findResources, insertLink } from "../store/tables/resources.ts";
import type { Reader, Tx } from "../store/port.ts";
import { recordEvent, type RecordSource } from "../plans/transition.ts";
import { notFoundError } from "../domain/names/not-found.ts";

/**
 * Links between projects and resources, for the services of both. Every function works in the caller's transaction, so
 * that a project comes into being together with its links, and goes together with them.
 */
export interface ResourceLinkInput {
  readonly resource: string;
  /** Left out: the last part of the resource's name. */
  readonly alias?: string | undefined;
  readonly readOnly?: boolean;
}

export async function requireProject(reader: Reader, text: string): Promise<Project> {
  const name = parseQualifiedName(text, "project");
  const project = await findProject(reader, name);
  if (project !== undefined) return project;
  throw notFoundError("project", name, names(await findProjects(reader)));
}

export async function requireResource(reader: Reader, text: string): Promise<Resource> {
  const name = parseQualifiedName(text, "resource");
  const resource = await findResource(reader, name);
  if (resource !== undefined) return resource;
  throw notFoundError("resource", name, names(await findResources(reader)));
}

function names(named: readonly { readonly name: QualifiedName }[]): QualifiedName[] {
  return named.map(({ name }) => name);
}

/**
 * Links the resource to the project; the row, the event and the audit entry together. `first` is to be done before
 * another try.
 */
export async function addLink(
  tx: Tx,
  recordSource: RecordSource,
  project: Pick<Project, "name">,
  input: ResourceLinkInput,
  first: readonly NextStep[] = [],
): Promise<ProjectResource> {
  const resource = await requireResource(tx, input.resource);
  const { alias = nameParts(resource.name).name, readOnly = false } = input;
  const issue = aliasIssue(alias);
  if (issue !== undefined) throw new ValidationError(`The resource cannot be linked: ${issue.message}.`, [issue]);
  const linkedAt = recordSource.clock();
  const link: ProjectResource = {
    project: project.name,
    resource: resource.name,
    type: resource.type,
    host: resource.host,
    path: resource.path,
    branch: resource.branch,
    sandbox: resource.sandbox,
    alias,
    readOnly,
    linkedAt,
  };
  if (!(await insertLink(tx, link))) throw linkTakenError(link, await findLinks(tx, { project: project.name }), first);
  const details = { project: project.name, resource: resource.name, alias, read_only: readOnly };
  await recordEvent(tx, recordSource, { type: "project.resource_linked", at: linkedAt, details });
  return link;
}

function linkTakenError(
  wanted: ProjectResource,
  links: readonly ProjectResource[],
  first: readonly NextStep[],
): ConflictError {
  const { project, resource, alias } = wanted;
  const kept = "Nothing was changed.";
  const twin = links.find((link) => nameKey(link.resource) === nameKey(resource));
  if (twin !== undefined) {
    return new ConflictError(
      `The project "${project}" has the resource "${resource}" already, as "${twin.alias}".`,
      { expected: "not linked", actual: { alias: twin.alias }, code: "already_exists" },
      { kept, next: first.length > 0 ? first : [nextStep("project.show", { project })] },
    );
  }
  const owner = links.find((link) => sameAlias(link.alias, alias));
  return new ConflictError(
    `The alias "${alias}" is taken in the project "${project}"${owner === undefined ? "" : `, by "${owner.resource}"`}.`,
    { expected: "an alias of its own", actual: { alias: owner?.alias, resource: owner?.resource } },
    { kept, next: [...first, nextStep("project.link-resource", { project, resource, alias: "<alias>" })] },
  );
}

export function sameAlias(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

export async function removeLink(tx: Tx, recordSource: RecordSource, link: ProjectResource): Promise<void> {
  await deleteLink(tx, link);
  const details = { project: link.project, resource: link.resource, alias: link.alias };
  await recordEvent(tx, recordSource, { type: "project.resource_unlinked", at: recordSource.clock(), details });
}

/** A project with active plans keeps the resources that those plans work with. */
export function activePlansError(
  project: Pick<Project, "name">,
  active: readonly PlanId[],
  next: readonly NextStep[],
): ConflictError {
  return new ConflictError(
    `The project "${project.name}" has ${active.length} active ${active.length === 1 ? "plan" : "plans"}.`,
    { expected: "no active plan", actual: { active_plans: active.slice(0, 20) } },
    { kept: "Nothing was changed.", next: [nextStep("plan.list", { project: project.name }), ...next] },
  );
}
