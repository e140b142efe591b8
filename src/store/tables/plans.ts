/**
 * The owner of the tables of a plan: `plans`, `plan_projects`, `plan_arguments`, `plan_invariants` and `plan_failures`.
 * A plan's state is changed only by `movePlan`.
 */
import type { ArgumentValue } from "../../domain/action/arguments.ts";
import { keptProfile, type AutomationProfile, type ProfileSource } from "../../domain/profile/automation-profile.ts";
import type { PlanId } from "../../domain/names/ids.ts";
import type { FailureCategory, PhaseTimes, Plan, PlanFailure } from "../../domain/plan/plan.ts";
import { nameKey, type QualifiedName } from "../../domain/names/qualified-name.ts";
import type { Phase, PlanStatus } from "../../domain/plan/transitions.ts";
import { actorColumns, readActors, type ActorColumns } from "./actor-columns.ts";
import { maskedText } from "../../platform/masking.ts";
import type { Reader, Tx } from "../port.ts";

interface PlanRow extends ActorColumns {
  readonly id: string;
  readonly name: string;
  readonly action_name: string;
  readonly attempt: number;
  readonly reversion_count: number;
  readonly version: number;
  readonly phase: string;
  readonly state: string;
  readonly description: string;
  readonly definition_of_done: string;
  readonly read_only: number;
  readonly profile: string;
  readonly profile_source: string;
  readonly cancel_reason: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly strategize_started_at: number | null;
  readonly strategize_ended_at: number | null;
  readonly execute_started_at: number | null;
  readonly execute_ended_at: number | null;
  readonly apply_started_at: number | null;
  readonly apply_ended_at: number | null;
  readonly undone_at: number | null;
}

export async function insertPlan(tx: Tx, plan: Plan): Promise<void> {
  await tx.run(
    `INSERT INTO plans (sequence, id, name, action_key, action_name, attempt, reversion_count, version, phase, state, description,
       definition_of_done, read_only, strategy_actor, execution_actor, profile, profile_source, created_at, updated_at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM plans`,
    plan.id,
    plan.name,
    nameKey(plan.action),
    plan.action,
    plan.attempt,
    plan.reversionCount,
    plan.version,
    plan.phase,
    plan.state,
    plan.description,
    plan.definitionOfDone,
    Number(plan.readOnly),
    ...actorColumns(plan.actors),
    JSON.stringify(plan.profile),
    plan.profileSource,
    plan.createdAt,
    plan.updatedAt,
  );
  for (const [position, link] of plan.projects.entries()) {
    await tx.run(
      `INSERT INTO plan_projects (plan_id, position, project_key, project_name, alias, read_only)
       VALUES (?, ?, ?, ?, ?, ?)`,
      plan.id,
      position,
      nameKey(link.project),
      link.project,
      link.alias,
      Number(link.readOnly),
    );
  }
  for (const [position, [name, value]] of [...plan.arguments].entries()) {
    await tx.run(
      "INSERT INTO plan_arguments (plan_id, position, name, value) VALUES (?, ?, ?, ?)",
      plan.id,
      position,
      name,
      JSON.stringify(value),
    );
  }
  for (const [position, text] of plan.invariants.entries()) {
    await tx.run("INSERT INTO plan_invariants (plan_id, position, text) VALUES (?, ?, ?)", plan.id, position, text);
  }
}

/**
 * The compare-and-swap that every state change goes through: writes the columns that a transition may change; false
 * when the plan no longer equals `seen`.
 */
export async function movePlan(tx: Tx, seen: Plan, after: Plan): Promise<boolean> {
  const times = after.phaseTimes;
  const changed = await tx.run(
    `UPDATE plans SET phase = ?, state = ?, version = ?, attempt = ?, reversion_count = ?, cancel_reason = ?,
       updated_at = ?, strategize_started_at = ?, strategize_ended_at = ?, execute_started_at = ?, execute_ended_at = ?,
       apply_started_at = ?, apply_ended_at = ?, undone_at = ?
     WHERE id = ? AND version = ? AND phase = ? AND state = ?`,
    after.phase,
    after.state,
    after.version,
    after.attempt,
    after.reversionCount,
    after.cancelReason ?? null,
    after.updatedAt,
    times.strategize.startedAt ?? null,
    times.strategize.endedAt ?? null,
    times.execute.startedAt ?? null,
    times.execute.endedAt ?? null,
    times.apply.startedAt ?? null,
    times.apply.endedAt ?? null,
    after.undoneAt ?? null,
    seen.id,
    seen.version,
    seen.phase,
    seen.state,
  );
  return changed === 1;
}

export async function findPlan(reader: Reader, id: PlanId): Promise<Plan | undefined> {
  const row = await reader.get<PlanRow>("SELECT * FROM plans WHERE id = ?", id);
  return row === undefined ? undefined : readPlan(reader, row);
}

/** The profile that was frozen into the plan; undefined for an unknown plan. */
export async function findPlanProfile(reader: Reader, id: PlanId): Promise<AutomationProfile | undefined> {
  const row = await reader.get<{ profile: string }>("SELECT profile FROM plans WHERE id = ?", id);
  return row === undefined ? undefined : keptProfile(row.profile);
}

/** Ids that start with `prefix` (upper case), at most `limit` of them. */
export async function planIdsByPrefix(reader: Reader, prefix: string, limit: number): Promise<PlanId[]> {
  const rows = await reader.all<{ id: string }>(
    "SELECT id FROM plans WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
    prefix,
    `${prefix}~`,
    limit,
  );
  return rows.map(({ id }) => id as PlanId);
}

/** The plan can still continue. Named state by state, so that the index of states answers it. */
export const IS_ACTIVE = "plans.state IN ('queued', 'processing', 'complete', 'constrained', 'errored')";

/** Plans of the project that can still continue. */
export async function activePlanIds(reader: Reader, project: QualifiedName): Promise<PlanId[]> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM plans WHERE ${IS_ACTIVE}
        AND EXISTS (SELECT 1 FROM plan_projects WHERE plan_id = plans.id AND project_key = ?) ORDER BY sequence`,
    nameKey(project),
  );
  return rows.map(({ id }) => id as PlanId);
}

export async function hasPlans(reader: Reader, action: QualifiedName): Promise<boolean> {
  const row = await reader.get("SELECT 1 FROM plans WHERE action_key = ? LIMIT 1", nameKey(action));
  return row !== undefined;
}

export async function insertFailure(tx: Tx, planId: PlanId, failure: Omit<PlanFailure, "position">): Promise<void> {
  await tx.run(
    `INSERT INTO plan_failures (plan_id, position, phase, attempt, kind, message, category, at)
     SELECT ?, COALESCE(MAX(position), 0) + 1, ?, ?, ?, ?, ?, ? FROM plan_failures WHERE plan_id = ?`,
    planId,
    failure.phase,
    failure.attempt,
    failure.kind,
    maskedText(failure.message),
    failure.category,
    failure.at,
    planId,
  );
}

export async function findFailures(reader: Reader, planId: PlanId): Promise<PlanFailure[]> {
  const rows = await reader.all<{
    position: number;
    phase: Phase;
    attempt: number;
    kind: PlanFailure["kind"];
    message: string;
    category: FailureCategory;
    at: number;
  }>(
    `SELECT position, phase, attempt, kind, message, category, at FROM plan_failures
      WHERE plan_id = ? ORDER BY position`,
    planId,
  );
  return rows.map((row) => ({ ...row }));
}

async function readPlan(reader: Reader, row: PlanRow): Promise<Plan> {
  const links = await reader.all<{ project_name: string; alias: string; read_only: number }>(
    "SELECT project_name, alias, read_only FROM plan_projects WHERE plan_id = ? ORDER BY position",
    row.id,
  );
  const values = await reader.all<{ name: string; value: string }>(
    "SELECT name, value FROM plan_arguments WHERE plan_id = ? ORDER BY position",
    row.id,
  );
  const invariants = await reader.all<{ text: string }>(
    "SELECT text FROM plan_invariants WHERE plan_id = ? ORDER BY position",
    row.id,
  );
  return {
    id: row.id as PlanId,
    name: row.name as QualifiedName,
    action: row.action_name as QualifiedName,
    attempt: row.attempt,
    reversionCount: row.reversion_count,
    version: row.version,
    ...({ phase: row.phase, state: row.state } as PlanStatus),
    description: row.description,
    definitionOfDone: row.definition_of_done,
    readOnly: row.read_only === 1,
    actors: readActors(row),
    arguments: new Map(values.map(({ name, value }) => [name, JSON.parse(value) as ArgumentValue])),
    invariants: invariants.map(({ text }) => text),
    projects: links.map((link) => ({
      project: link.project_name as QualifiedName,
      alias: link.alias,
      readOnly: link.read_only === 1,
    })),
    profile: keptProfile(row.profile),
    profileSource: row.profile_source as ProfileSource,
    cancelReason: row.cancel_reason ?? undefined,
    undoneAt: row.undone_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    phaseTimes: {
      strategize: times(row.strategize_started_at, row.strategize_ended_at),
      execute: times(row.execute_started_at, row.execute_ended_at),
      apply: times(row.apply_started_at, row.apply_ended_at),
    },
  };
}

function times(startedAt: number | null, endedAt: number | null): PhaseTimes {
  return { startedAt: startedAt ?? undefined, endedAt: endedAt ?? undefined };
}
