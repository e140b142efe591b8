/** The owner of the table `projects`. */
import type { Project } from "../../domain/resource/project.ts";
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import { IS_ACTIVE } from "./plans.ts";
import type { Reader, Tx } from "../port.ts";

interface ProjectRow {
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Inserts the project unless its name is taken; false when it is. */
export async function insertProject(
  tx: Tx,
  project: Pick<Project, "name" | "description">,
  at: number,
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO projects (key, name, namespace, description, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (key) DO NOTHING`,
    nameKey(project.name),
    project.name,
    nameParts(project.name).namespace.toLowerCase(),
    project.description ?? null,
    at,
    at,
  );
  return inserted === 1;
}

export async function deleteProject(tx: Tx, name: QualifiedName): Promise<void> {
  await tx.run("DELETE FROM projects WHERE key = ?", nameKey(name));
}

export async function findProject(reader: Reader, name: QualifiedName): Promise<Project | undefined> {
  const row = await reader.get<ProjectRow>("SELECT * FROM projects WHERE key = ?", nameKey(name));
  return row === undefined ? undefined : readProject(row);
}

export async function findProjects(reader: Reader, namespace?: string): Promise<Project[]> {
  const rows = await reader.all<ProjectRow>(
    "SELECT * FROM projects WHERE (CAST(? AS TEXT) IS NULL OR namespace = ?) ORDER BY key",
    namespace?.toLowerCase() ?? null,
    namespace?.toLowerCase() ?? null,
  );
  return rows.map(readProject);
}

/** Plans linked to the project: all of them, and those that can still continue. */
export async function projectPlanCounts(
  reader: Reader,
  name: QualifiedName,
): Promise<{ total: number; active: number }> {
  // Active plans are few, links are many: the one is counted from the plans' states, the other from the links alone.
  const row = await reader.get<{ total: number; active: number }>(
    `SELECT (SELECT COUNT(*) FROM plan_projects WHERE project_key = ?) AS total,
            (SELECT COUNT(*) FROM plans WHERE ${IS_ACTIVE}
                AND EXISTS (SELECT 1 FROM plan_projects WHERE plan_id = plans.id AND project_key = ?)) AS active`,
    nameKey(name),
    nameKey(name),
  );
  return { total: row?.total ?? 0, active: row?.active ?? 0 };
}

function readProject(row: ProjectRow): Project {
  return {
    name: row.name as QualifiedName,
    description: row.description ?? undefined,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
