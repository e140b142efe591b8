/** The owner of the tables `actors` and `actor_steps`. */
import type { Actor, ActorDefinition, ActorType } from "../../domain/actor/actor.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import type { ToolStep } from "../../domain/actor/tool-actor.ts";
import type { ToolRef } from "../../domain/names/tool-names.ts";
import { IS_ACTIVE } from "./plans.ts";
import type { Reader, Tx } from "../port.ts";

interface ActorRow {
  readonly key: string;
  readonly name: string;
  readonly type: ActorType;
  readonly description: string;
  /** All of it as JSON; a tool actor has steps instead. */
  readonly definition: string | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface StepRow {
  readonly id: string;
  readonly tool: string;
  readonly parameters: string;
  readonly needs: string;
}

/**
 * Inserts the actor unless its name is taken; false when it is. Exactly one of any number of concurrent callers gets
 * true.
 */
export async function insertActor(tx: Tx, actor: ActorDefinition, at: number): Promise<boolean> {
  const key = nameKey(actor.name);
  const inserted = await tx.run(
    `INSERT INTO actors (key, name, namespace, type, description, definition, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (key) DO NOTHING`,
    key,
    actor.name,
    nameParts(actor.name).namespace.toLowerCase(),
    actor.type,
    actor.description,
    actor.type === "tool" ? null : JSON.stringify(actor),
    at,
    at,
  );
  if (inserted === 0) return false;
  await insertSteps(tx, actor);
  return true;
}

/** Replaces the definition that has the name, and counts its version up. */
export async function updateActor(tx: Tx, actor: ActorDefinition, at: number): Promise<void> {
  const key = nameKey(actor.name);
  await tx.run("DELETE FROM actor_steps WHERE actor_key = ?", key);
  await tx.run(
    `UPDATE actors SET name = ?, type = ?, description = ?, definition = ?, version = version + 1, updated_at = ?
      WHERE key = ?`,
    actor.name,
    actor.type,
    actor.description,
    actor.type === "tool" ? null : JSON.stringify(actor),
    at,
    key,
  );
  await insertSteps(tx, actor);
}

async function insertSteps(tx: Tx, actor: ActorDefinition): Promise<void> {
  const key = nameKey(actor.name);
  for (const [position, step] of (actor.type === "tool" ? actor.steps : []).entries()) {
    await tx.run(
      "INSERT INTO actor_steps (actor_key, position, id, tool, parameters, needs) VALUES (?, ?, ?, ?, ?, ?)",
      key,
      position,
      step.id,
      step.tool,
      JSON.stringify(step.params),
      JSON.stringify(step.needs),
    );
  }
}

export async function deleteActor(tx: Tx, name: QualifiedName): Promise<void> {
  await tx.run("DELETE FROM actor_steps WHERE actor_key = ?", nameKey(name));
  await tx.run("DELETE FROM actors WHERE key = ?", nameKey(name));
}

export async function findActor(reader: Reader, name: QualifiedName): Promise<Actor | undefined> {
  const row = await reader.get<ActorRow>("SELECT * FROM actors WHERE key = ?", nameKey(name));
  return row === undefined ? undefined : readActor(reader, row);
}

export async function findActors(reader: Reader, namespace?: string): Promise<Actor[]> {
  const rows = await reader.all<ActorRow>(
    "SELECT * FROM actors WHERE (CAST(? AS TEXT) IS NULL OR namespace = ?) ORDER BY key",
    namespace?.toLowerCase() ?? null,
    namespace?.toLowerCase() ?? null,
  );
  const actors: Actor[] = [];
  for (const row of rows) actors.push(await readActor(reader, row));
  return actors;
}

export async function actorNames(reader: Reader): Promise<string[]> {
  const rows = await reader.all<{ name: string }>("SELECT name FROM actors ORDER BY key");
  return rows.map(({ name }) => name);
}

/**
 * The available actions that name the actor in any role. An actor's name in an action is in the case its author wrote.
 */
export async function actionsUsing(reader: Reader, actor: QualifiedName): Promise<string[]> {
  const rows = await reader.all<{ name: string }>(
    `SELECT name FROM actions WHERE state = 'available'
        AND (? IN (LOWER(strategy_actor), LOWER(execution_actor))
          OR key IN (SELECT action_key FROM action_step_actors WHERE LOWER(actor) = ?))
      ORDER BY key`,
    nameKey(actor),
    nameKey(actor),
  );
  return rows.map(({ name }) => name);
}

/** All registered graphs. */
export async function findGraphs(reader: Reader): Promise<Actor[]> {
  const rows = await reader.all<ActorRow>("SELECT * FROM actors WHERE type = 'graph' ORDER BY key");
  const actors: Actor[] = [];
  for (const row of rows) actors.push(await readActor(reader, row));
  return actors;
}

async function readActor(reader: Reader, row: ActorRow): Promise<Actor> {
  const facts = { version: row.version, createdAt: row.created_at, updatedAt: row.updated_at };
  if (row.definition !== null) return { ...readDefinition(row.definition), ...facts };
  const steps = await reader.all<StepRow>(
    "SELECT id, tool, parameters, needs FROM actor_steps WHERE actor_key = ? ORDER BY position",
    row.key,
  );
  const { description } = row;
  return { name: row.name as QualifiedName, type: "tool", description, steps: steps.map(readStep), ...facts };
}

/**
 * A definition as it was stored. Earlier versions had a role hint without effect, and the view "apply", which inherited
 * from "execute".
 */
function readDefinition(text: string): ActorDefinition {
  const { roleHint: _, ...kept } = JSON.parse(text) as Record<string, unknown>;
  const contextView = kept["contextView"] === "apply" ? "execute" : kept["contextView"];
  return { ...kept, contextView } as ActorDefinition;
}

function readStep(row: StepRow): ToolStep {
  return {
    id: row.id,
    tool: row.tool as ToolRef,
    params: JSON.parse(row.parameters) as JsonObject,
    needs: JSON.parse(row.needs) as string[],
  };
}

/** The actions of all plans that can still continue and have it as their execution actor. */
export async function activePlanActions(reader: Reader, actor: QualifiedName): Promise<string[]> {
  const rows = await reader.all<{ action_name: string }>(
    `SELECT DISTINCT action_name FROM plans WHERE ${IS_ACTIVE} AND LOWER(execution_actor) = ?`,
    nameKey(actor),
  );
  return rows.map(({ action_name: action }) => action);
}

/** Plans that can still continue and need the actor: the definition they were made with must not change under them. */
export async function activePlansUsing(reader: Reader, actor: QualifiedName): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM plans WHERE ${IS_ACTIVE}
        AND (? IN (LOWER(strategy_actor), LOWER(execution_actor))
          OR id IN (SELECT plan_id FROM plan_step_actors WHERE LOWER(actor) = ?))
      ORDER BY sequence LIMIT 20`,
    nameKey(actor),
    nameKey(actor),
  );
  return rows.map(({ id }) => id);
}
