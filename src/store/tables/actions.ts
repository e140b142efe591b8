/** The owner of the tables `actions`, `action_arguments`, `action_invariants` and `action_step_actors`. */
import type { Action, ActionDefinition, ActionState } from "../../domain/action/action.ts";
import type { ArgumentSpec, ArgumentType, ArgumentValue } from "../../domain/action/arguments.ts";
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import { actorColumns, readActors, type ActorColumns } from "./actor-columns.ts";
import type { Reader, Tx } from "../port.ts";

interface ActionRow extends ActorColumns {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly long_description: string | null;
  readonly definition_of_done: string;
  readonly automation_profile: string | null;
  readonly reusable: number;
  readonly read_only: number;
  readonly state: string;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface ArgumentRow {
  readonly action_key: string;
  readonly name: string;
  readonly type: string;
  readonly required: number;
  readonly description: string;
  readonly default_value: string | null;
  readonly min_value: string | null;
  readonly max_value: string | null;
  readonly pattern: string | null;
}

/**
 * Inserts the action unless its name is taken; false when it is. Exactly one of any number of concurrent callers gets
 * true.
 */
export async function insertAction(tx: Tx, action: ActionDefinition, at: number): Promise<boolean> {
  const key = nameKey(action.name);
  const inserted = await tx.run(
    `INSERT INTO actions (key, name, namespace, description, long_description, definition_of_done, strategy_actor,
       execution_actor, automation_profile, reusable, read_only, state, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'available', 1, ?, ?)
     ON CONFLICT (key) DO NOTHING`,
    key,
    action.name,
    nameParts(action.name).namespace.toLowerCase(),
    action.description,
    action.longDescription ?? null,
    action.definitionOfDone,
    ...actorColumns(action.actors),
    action.automationProfile ?? null,
    Number(action.reusable),
    Number(action.readOnly),
    at,
    at,
  );
  if (inserted === 0) return false;
  await insertParts(tx, action);
  return true;
}

/** Replaces the definition that has the name, and counts its version up; whether it takes plans stays as it is. */
export async function updateAction(tx: Tx, action: ActionDefinition, at: number): Promise<void> {
  const key = nameKey(action.name);
  await tx.run(
    `UPDATE actions SET name = ?, description = ?, long_description = ?, definition_of_done = ?, strategy_actor = ?,
       execution_actor = ?, automation_profile = ?, reusable = ?, read_only = ?, version = version + 1, updated_at = ?
      WHERE key = ?`,
    action.name,
    action.description,
    action.longDescription ?? null,
    action.definitionOfDone,
    ...actorColumns(action.actors),
    action.automationProfile ?? null,
    Number(action.reusable),
    Number(action.readOnly),
    at,
    key,
  );
  await tx.run("DELETE FROM action_arguments WHERE action_key = ?", key);
  await tx.run("DELETE FROM action_invariants WHERE action_key = ?", key);
  await tx.run("DELETE FROM action_step_actors WHERE action_key = ?", key);
  await insertParts(tx, action);
}

async function insertParts(tx: Tx, action: ActionDefinition): Promise<void> {
  const key = nameKey(action.name);
  for (const [position, spec] of action.arguments.entries()) await insertArgument(tx, key, position, spec);
  for (const [position, text] of action.invariants.entries()) {
    await tx.run("INSERT INTO action_invariants (action_key, position, text) VALUES (?, ?, ?)", key, position, text);
  }
  for (const [position, actor] of action.stepActors.entries()) {
    await tx.run("INSERT INTO action_step_actors (action_key, position, actor) VALUES (?, ?, ?)", key, position, actor);
  }
}

async function insertArgument(tx: Tx, key: string, position: number, spec: ArgumentSpec): Promise<void> {
  await tx.run(
    `INSERT INTO action_arguments
       (action_key, position, name, type, required, description, default_value, min_value, max_value, pattern)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key,
    position,
    spec.name,
    spec.type,
    Number(spec.required),
    spec.description,
    json(spec.default),
    json(spec.min),
    json(spec.max),
    spec.pattern ?? null,
  );
}

/** Changes the state if the action is still at `version`; false when another process was first. */
export async function updateActionState(tx: Tx, action: Action, state: ActionState, at: number): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE actions SET state = ?, version = version + 1, updated_at = ? WHERE key = ? AND version = ?",
    state,
    at,
    nameKey(action.name),
    action.version,
  );
  return changed === 1;
}

export async function findAction(reader: Reader, name: QualifiedName): Promise<Action | undefined> {
  const row = await reader.get<ActionRow>("SELECT * FROM actions WHERE key = ?", nameKey(name));
  return row === undefined ? undefined : readAction(reader, row);
}

export interface ActionFilter {
  readonly namespace?: string | undefined;
  readonly state?: ActionState | undefined;
}

export async function findActions(reader: Reader, filter: ActionFilter): Promise<Action[]> {
  const rows = await reader.all<ActionRow>(
    "SELECT * FROM actions WHERE (CAST(? AS TEXT) IS NULL OR namespace = ?) AND (CAST(? AS TEXT) IS NULL OR state = ?) ORDER BY key",
    filter.namespace?.toLowerCase() ?? null,
    filter.namespace?.toLowerCase() ?? null,
    filter.state ?? null,
    filter.state ?? null,
  );
  const actions: Action[] = [];
  for (const row of rows) actions.push(await readAction(reader, row));
  return actions;
}

export async function actionNames(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ name: string }>("SELECT name FROM actions ORDER BY key");
  return rows.map(({ name }) => name);
}

/** How many plans were made of each action, by the action's key. */
export async function planCounts(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.all<{ action_key: string; plans: number }>(
    "SELECT action_key, COUNT(*) AS plans FROM plans GROUP BY action_key",
  );
  return new Map(rows.map((row) => [row.action_key, row.plans]));
}

async function readAction(reader: Reader, row: ActionRow): Promise<Action> {
  const specs = await reader.all<ArgumentRow>(
    "SELECT * FROM action_arguments WHERE action_key = ? ORDER BY position",
    row.key,
  );
  const invariants = await reader.all<{ text: string }>(
    "SELECT text FROM action_invariants WHERE action_key = ? ORDER BY position",
    row.key,
  );
  const stepActors = await reader.all<{ actor: string }>(
    "SELECT actor FROM action_step_actors WHERE action_key = ? ORDER BY position",
    row.key,
  );
  return {
    name: row.name as QualifiedName,
    description: row.description,
    longDescription: row.long_description ?? undefined,
    definitionOfDone: row.definition_of_done,
    actors: readActors(row),
    stepActors: stepActors.map(({ actor }) => actor as QualifiedName),
    arguments: specs.map(readArgument),
    invariants: invariants.map(({ text }) => text),
    automationProfile: row.automation_profile ?? undefined,
    reusable: row.reusable === 1,
    readOnly: row.read_only === 1,
    state: row.state as ActionState,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function readArgument(row: ArgumentRow): ArgumentSpec {
  return {
    name: row.name,
    type: row.type as ArgumentType,
    required: row.required === 1,
    description: row.description,
    default: parsed<ArgumentValue>(row.default_value),
    min: parsed<number>(row.min_value),
    max: parsed<number>(row.max_value),
    pattern: row.pattern ?? undefined,
  };
}

function json(value: ArgumentValue | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function parsed<T>(text: string | null): T | undefined {
  return text === null ? undefined : (JSON.parse(text) as T);
}
