/** The owner of the tables `resources` and `project_resources`. */
import { hostname } from "node:os";
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import {
  findResourceType,
  type ProjectResource,
  type Resource,
  type ResourceDefinition,
  type ResourceTypeName,
  type SandboxStrategy,
} from "../../domain/resource/resource.ts";
import type { Reader, Tx } from "../port.ts";

interface ResourceRow {
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  readonly host: string;
  readonly path: string;
  readonly branch: string | null;
  readonly sandbox: string | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Inserts the resource unless its name is taken; false when it is. */
export async function insertResource(tx: Tx, resource: ResourceDefinition, at: number): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO resources (key, name, namespace, type, description, host, path, branch, sandbox, version,
       created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (key) DO NOTHING`,
    nameKey(resource.name),
    resource.name,
    nameParts(resource.name).namespace.toLowerCase(),
    resource.type,
    resource.description ?? null,
    hostname(),
    resource.path,
    resource.branch ?? null,
    resource.sandbox,
    at,
    at,
  );
  return inserted === 1;
}

/** From now on the resource is at this place of this machine. */
export async function moveResource(tx: Tx, name: QualifiedName, path: string, at: number): Promise<void> {
  await tx.run(
    "UPDATE resources SET path = ?, host = ?, version = version + 1, updated_at = ? WHERE key = ?",
    path,
    hostname(),
    at,
    nameKey(name),
  );
}

/** Deletes the resource unless a project has it or a validation is attached to it; false when so. */
export async function deleteResource(tx: Tx, name: QualifiedName): Promise<boolean> {
  const deleted = await tx.run(
    `DELETE FROM resources WHERE key = ?
        AND NOT EXISTS (SELECT 1 FROM project_resources WHERE resource_key = resources.key)
        AND NOT EXISTS (SELECT 1 FROM validation_attachments WHERE resource_key = resources.key)`,
    nameKey(name),
  );
  return deleted === 1;
}

export async function findResource(reader: Reader, name: QualifiedName): Promise<Resource | undefined> {
  const row = await reader.get<ResourceRow>("SELECT * FROM resources WHERE key = ?", nameKey(name));
  return row === undefined ? undefined : readResource(row);
}

export interface ResourceFilter {
  readonly namespace?: string | undefined;
  readonly type?: string | undefined;
}

export async function findResources(reader: Reader, filter: ResourceFilter = {}): Promise<Resource[]> {
  const rows = await reader.all<ResourceRow>(
    "SELECT * FROM resources WHERE (CAST(? AS TEXT) IS NULL OR namespace = ?) AND (CAST(? AS TEXT) IS NULL OR type = ?) ORDER BY key",
    filter.namespace?.toLowerCase() ?? null,
    filter.namespace?.toLowerCase() ?? null,
    filter.type ?? null,
    filter.type ?? null,
  );
  return rows.map(readResource);
}

/** Links the resource unless the project has it, or has its alias in any case, already; false when it does. */
export async function insertLink(
  tx: Tx,
  link: Pick<ProjectResource, "project" | "resource" | "alias" | "readOnly" | "linkedAt">,
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO project_resources (project_key, alias, resource_key, read_only, linked_at)
     SELECT ?, ?, ?, ?, ?
      WHERE NOT EXISTS (SELECT 1 FROM project_resources WHERE project_key = ? AND LOWER(alias) = LOWER(?))
     ON CONFLICT DO NOTHING`,
    nameKey(link.project),
    link.alias,
    nameKey(link.resource),
    Number(link.readOnly),
    link.linkedAt,
    nameKey(link.project),
    link.alias,
  );
  return inserted === 1;
}

export async function deleteLink(tx: Tx, link: Pick<ProjectResource, "project" | "resource">): Promise<void> {
  await tx.run(
    "DELETE FROM project_resources WHERE project_key = ? AND resource_key = ?",
    nameKey(link.project),
    nameKey(link.resource),
  );
}

/**
 * The resources of one project in the order of their aliases, or one resource in all its projects in the order of
 * theirs.
 */
export async function findLinks(
  reader: Reader,
  of: { readonly project: QualifiedName } | { readonly resource: QualifiedName },
): Promise<ProjectResource[]> {
  const [column, name] = "project" in of ? ["project_key", of.project] : ["resource_key", of.resource];
  const rows = await reader.all<{
    project_name: string;
    resource_name: string;
    type: string;
    host: string;
    path: string;
    branch: string | null;
    sandbox: string | null;
    alias: string;
    read_only: number;
    linked_at: number;
  }>(
    `SELECT projects.name AS project_name, resources.name AS resource_name, type, host, path, branch, sandbox,
            alias, read_only, linked_at
       FROM project_resources
       JOIN projects ON projects.key = project_key
       JOIN resources ON resources.key = resource_key
      WHERE ${column} = ? ORDER BY project_key, LOWER(alias)`,
    nameKey(name),
  );
  return rows.map((row) => ({
    project: row.project_name as QualifiedName,
    resource: row.resource_name as QualifiedName,
    type: row.type as ResourceTypeName,
    host: row.host,
    path: row.path,
    branch: row.branch ?? undefined,
    sandbox: readSandbox(row),
    alias: row.alias,
    readOnly: row.read_only === 1,
    linkedAt: row.linked_at,
  }));
}

function readResource(row: ResourceRow): Resource {
  return {
    name: row.name as QualifiedName,
    type: row.type as ResourceTypeName,
    description: row.description ?? undefined,
    host: row.host,
    path: row.path,
    branch: row.branch ?? undefined,
    sandbox: readSandbox(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** One that was added before resources said so has what its type has. */
function readSandbox({ sandbox, type }: Pick<ResourceRow, "sandbox" | "type">): SandboxStrategy {
  return (sandbox as SandboxStrategy | null) ?? findResourceType(type)?.sandbox ?? "filesystem_copy";
}

/**
 * The keys of the projects with a resource at this place of this machine: a checkout that is exactly there, or a
 * directory that is there or around it.
 */
export async function projectKeysAt(reader: Reader, place: string): Promise<string[]> {
  const rows = await reader.all<{ project_key: string }>(
    `SELECT DISTINCT project_key FROM project_resources JOIN resources ON resources.key = resource_key
      WHERE host = ? AND (path = ? OR (type <> 'git-checkout' AND SUBSTR(?, 1, LENGTH(path) + 1) = path || '/'))`,
    hostname(),
    place,
    place,
  );
  return rows.map(({ project_key: key }) => key);
}
