/** The owner of the tables `validations` and `validation_attachments`. */
import type { AttachedValidation, Attachment, AttachmentScope } from "../../domain/validation/attachment.ts";
import type { AttachmentId, PlanId } from "../../domain/names/ids.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import {
  DEFAULT_TIMEOUT_MS,
  VALIDATION_MODES,
  type Check,
  type ReadOnlyTool,
  type Validation,
  type ValidationDefinition,
  type ValidationMode,
} from "../../domain/validation/validation.ts";
import { findLinks } from "./resources.ts";
import type { Reader, Tx } from "../port.ts";

interface ValidationRow {
  readonly name: string;
  readonly description: string;
  readonly mode: string;
  readonly command: string | null;
  readonly cwd: string | null;
  readonly timeout_ms: number | null;
  readonly tool: string | null;
  readonly parameters: string | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/**
 * Inserts the validation unless its name is taken; false when it is. Exactly one of any number of concurrent callers
 * gets true.
 */
export async function insertValidation(tx: Tx, validation: ValidationDefinition, at: number): Promise<boolean> {
  const { name, description, mode, check } = validation;
  const inserted = await tx.run(
    `INSERT INTO validations (key, name, namespace, description, mode, command, cwd, timeout_ms, tool, parameters, version,
       created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (key) DO NOTHING`,
    nameKey(name),
    name,
    nameParts(name).namespace.toLowerCase(),
    description,
    mode,
    ...checkColumns(check),
    at,
    at,
  );
  return inserted === 1;
}

/** Replaces the definition that has the name, and counts its version up; what it is attached to stays. */
export async function updateValidation(tx: Tx, validation: ValidationDefinition, at: number): Promise<void> {
  const { name, description, mode, check } = validation;
  await tx.run(
    `UPDATE validations SET name = ?, description = ?, mode = ?, command = ?, cwd = ?, timeout_ms = ?, tool = ?,
       parameters = ?, version = version + 1, updated_at = ? WHERE key = ?`,
    name,
    description,
    mode,
    ...checkColumns(check),
    at,
    nameKey(name),
  );
}

function checkColumns(check: Check): (string | number | null)[] {
  if (check.kind === "tool") return [null, null, null, check.tool, JSON.stringify(check.params)];
  return [check.command, check.cwd ?? null, check.timeoutMs, null, null];
}

/** Deletes the validation unless it is attached somewhere; false when it is. */
export async function deleteValidation(tx: Tx, name: QualifiedName): Promise<boolean> {
  const deleted = await tx.run(
    `DELETE FROM validations WHERE key = ?
        AND NOT EXISTS (SELECT 1 FROM validation_attachments WHERE validation_key = validations.key)`,
    nameKey(name),
  );
  return deleted === 1;
}

export async function findValidation(reader: Reader, name: QualifiedName): Promise<Validation | undefined> {
  const row = await reader.get<ValidationRow>("SELECT * FROM validations WHERE key = ?", nameKey(name));
  return row === undefined ? undefined : readValidation(row);
}

export async function findValidations(reader: Reader, namespace?: string): Promise<Validation[]> {
  const rows = await reader.all<ValidationRow>(
    "SELECT * FROM validations WHERE (CAST(? AS TEXT) IS NULL OR namespace = ?) ORDER BY key",
    namespace?.toLowerCase() ?? null,
    namespace?.toLowerCase() ?? null,
  );
  return rows.map(readValidation);
}

/** Attaches unless it is attached to the resource in the same scope already; false when it is. */
export async function insertAttachment(tx: Tx, attachment: Attachment): Promise<boolean> {
  const { id, validation, resource, scope, createdAt } = attachment;
  const inserted = await tx.run(
    `INSERT INTO validation_attachments (sequence, id, validation_key, resource_key, scope, project_key, plan_id, created_at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ? FROM validation_attachments WHERE true ON CONFLICT (validation_key, resource_key, scope) DO NOTHING`,
    id,
    nameKey(validation),
    nameKey(resource),
    scopeKey(scope),
    scope.kind === "project" ? nameKey(scope.project) : null,
    scope.kind === "plan" ? scope.planId : null,
    createdAt,
  );
  return inserted === 1;
}

/** Uniqueness is decided by it: SQL takes no two NULLs for the same. */
function scopeKey(scope: AttachmentScope): string {
  switch (scope.kind) {
    case "everywhere":
      return "everywhere";
    case "project":
      return `project ${nameKey(scope.project)}`;
    case "plan":
      return `plan ${scope.planId}`;
  }
}

export async function deleteAttachment(tx: Tx, id: AttachmentId): Promise<void> {
  await tx.run("DELETE FROM validation_attachments WHERE id = ?", id);
}

interface AttachmentRow {
  readonly id: string;
  readonly validation_name: string;
  readonly mode: string;
  readonly resource_name: string;
  readonly project_name: string | null;
  readonly plan_id: string | null;
  readonly created_at: number;
}

const ATTACHMENTS = `SELECT validation_attachments.id, validations.name AS validation_name, validations.mode,
    resources.name AS resource_name, projects.name AS project_name, plan_id, validation_attachments.created_at
  FROM validation_attachments
  JOIN validations ON validations.key = validation_key
  JOIN resources ON resources.key = resource_key
  LEFT JOIN projects ON projects.key = project_key`;

const OWNERS = { validation: "validation_key", resource: "resource_key", project: "project_key" } as const;

/** The attachments of one validation, to one resource, or for one project; the oldest first. */
export async function findAttachments(
  reader: Reader,
  of: keyof typeof OWNERS,
  name: QualifiedName,
): Promise<Attachment[]> {
  const rows = await reader.all<AttachmentRow>(
    `${ATTACHMENTS} WHERE ${OWNERS[of]} = ? ORDER BY validation_attachments.sequence`,
    nameKey(name),
  );
  return rows.map(readAttachment);
}

/** By a prefix of the id; at most `limit`. */
export async function attachmentsByPrefix(reader: Reader, prefix: string, limit: number): Promise<Attachment[]> {
  const rows = await reader.all<AttachmentRow>(
    `${ATTACHMENTS} WHERE validation_attachments.id >= ? AND validation_attachments.id < ?
      ORDER BY validation_attachments.id LIMIT ?`,
    prefix,
    `${prefix}~`,
    limit,
  );
  return rows.map(readAttachment);
}

/**
 * The validations of the plan as they are now: by resource, the required ones first, then by name. A validation that
 * reaches a resource in several ways is run once, for the oldest of them.
 */
export async function attachedValidations(reader: Reader, plan: Plan): Promise<AttachedValidation[]> {
  const found = new Map<string, AttachedValidation>();
  for (const { project } of plan.projects) {
    for (const link of await findLinks(reader, { project })) {
      const rows = await reader.all<ValidationRow & { id: string }>(
        `SELECT validations.*, validation_attachments.id FROM validation_attachments
           JOIN validations ON validations.key = validation_key
          WHERE resource_key = ? AND (scope = 'everywhere' OR project_key = ? OR plan_id = ?)
          ORDER BY validation_attachments.sequence`,
        nameKey(link.resource),
        nameKey(project),
        plan.id,
      );
      for (const row of rows) {
        const key = `${link.alias}\n${row.name}`;
        const attached = { attachment: row.id as AttachmentId, resource: link.alias, validation: readValidation(row) };
        if (!found.has(key)) found.set(key, attached);
      }
    }
  }
  return [...found.values()].sort(
    (a, b) =>
      compare(a.resource, b.resource) ||
      VALIDATION_MODES.indexOf(a.validation.mode) - VALIDATION_MODES.indexOf(b.validation.mode) ||
      compare(nameKey(a.validation.name), nameKey(b.validation.name)),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function readValidation(row: ValidationRow): Validation {
  return {
    name: row.name as QualifiedName,
    description: row.description,
    mode: row.mode as ValidationMode,
    check: readCheck(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function readCheck(row: ValidationRow): Check {
  if (row.command === null) {
    return { kind: "tool", tool: row.tool as ReadOnlyTool, params: JSON.parse(row.parameters ?? "{}") as JsonObject };
  }
  const timeoutMs = row.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  return { kind: "command", command: row.command, cwd: row.cwd ?? undefined, timeoutMs };
}

function readAttachment(row: AttachmentRow): Attachment {
  const scope: AttachmentScope =
    row.plan_id !== null
      ? { kind: "plan", planId: row.plan_id as PlanId }
      : row.project_name !== null
        ? { kind: "project", project: row.project_name as QualifiedName }
        : { kind: "everywhere" };
  return {
    id: row.id as AttachmentId,
    validation: row.validation_name as QualifiedName,
    mode: row.mode as ValidationMode,
    resource: row.resource_name as QualifiedName,
    scope,
    createdAt: row.created_at,
  };
}
