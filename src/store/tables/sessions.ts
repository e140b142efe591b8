/** The owner of the tables `sessions` and `session_plans`. */
import { hostname } from "node:os";
import type { DecisionId, PlanId, SessionId } from "../../domain/names/ids.ts";
import { nameKey, type QualifiedName } from "../../domain/names/qualified-name.ts";
import type { Session, SessionPlan, SharedPart } from "../../domain/plan/session.ts";
import type { PlanStatus } from "../../domain/plan/transitions.ts";
import type { Reader, SqlValue, Tx } from "../port.ts";

interface SessionRow {
  readonly id: SessionId;
  readonly number: number;
  readonly version: number;
  readonly title: string;
  readonly project_name: string;
  readonly directory: string;
  readonly host: string;
  readonly created_at: number;
  readonly told_at: number;
  readonly forked_from: SessionId | null;
}

export async function insertSession(
  tx: Tx,
  session: Pick<Session, "id" | "title" | "project" | "directory" | "forkedFrom">,
): Promise<void> {
  await tx.run(
    `INSERT INTO sessions (number, id, version, title, project_key, project_name, directory, host, created_at, told_at,
       told, forked_from)
     SELECT COALESCE(MAX(number), 0) + 1, ?, 1, ?, ?, ?, ?, ?, now_ms(), now_ms(), COALESCE(MAX(told), 0) + 1, ? FROM sessions`,
    session.id,
    session.title,
    nameKey(session.project),
    session.project,
    session.directory,
    hostname(),
    session.forkedFrom ?? null,
  );
}

/**
 * The compare-and-swap that everything said in a session goes through: of any number of processes that saw the same
 * version one gets true.
 */
export async function moveSession(tx: Tx, seen: Pick<Session, "id" | "version">): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE sessions SET version = version + 1, told_at = now_ms(), told = (SELECT MAX(told) + 1 FROM sessions)
      WHERE id = ? AND version = ?`,
    seen.id,
    seen.version,
  );
  return changed === 1;
}

/** Behind the plans that the session has. */
export async function appendSessionPlan(
  tx: Tx,
  id: SessionId,
  { planId, shared }: Pick<SessionPlan, "planId" | "shared">,
): Promise<void> {
  await tx.run(
    `INSERT INTO session_plans (session_id, position, plan_id, shared, attempt, decisions, answer_id)
     SELECT ?, COALESCE(MAX(position), 0) + 1, ?, ?, ?, ?, ? FROM session_plans WHERE session_id = ?`,
    id,
    planId,
    shared === undefined ? 0 : 1,
    shared?.attempt ?? null,
    shared?.decisions ?? null,
    shared?.answer ?? null,
    id,
  );
}

export async function findSessionByNumber(reader: Reader, number: number): Promise<Session | undefined> {
  const row = await reader.get<SessionRow>("SELECT * FROM sessions WHERE number = ?", number);
  return row === undefined ? undefined : readSession(row);
}

/** Those whose id starts with `prefix` (upper case), at most six. */
export async function sessionsByPrefix(reader: Reader, prefix: string): Promise<Session[]> {
  const rows = await reader.all<SessionRow>(
    "SELECT * FROM sessions WHERE id >= ? AND id < ? ORDER BY id LIMIT 6",
    prefix,
    `${prefix}~`,
  );
  return rows.map(readSession);
}

/** The one of the directory in which something was said last. */
export async function lastSessionIn(reader: Reader, directory: string): Promise<Session | undefined> {
  const row = await reader.get<SessionRow>(
    "SELECT * FROM sessions WHERE directory = ? AND host = ? ORDER BY told DESC LIMIT 1",
    directory,
    hostname(),
  );
  return row === undefined ? undefined : readSession(row);
}

/** The session in which the plan was made. */
export async function sessionOfPlan(reader: Reader, planId: PlanId): Promise<Session | undefined> {
  const row = await reader.get<SessionRow>(
    `SELECT sessions.* FROM session_plans JOIN sessions ON sessions.id = session_plans.session_id
      WHERE session_plans.plan_id = ? AND session_plans.shared = 0`,
    planId,
  );
  return row === undefined ? undefined : readSession(row);
}

/** In their order. */
export async function sessionPlans(reader: Reader, id: SessionId): Promise<SessionPlan[]> {
  const rows = await reader.all<{
    position: number;
    plan_id: PlanId;
    shared: number;
    attempt: number | null;
    decisions: number | null;
    answer_id: DecisionId | null;
  }>("SELECT * FROM session_plans WHERE session_id = ? ORDER BY position", id);
  return rows.map((row) => ({ position: row.position, planId: row.plan_id, shared: sharedPart(row) }));
}

/** A session as lists show it, with where its last plan stands. */
export interface SessionSummary {
  readonly session: Session;
  readonly plans: number;
  readonly last: {
    readonly planId: PlanId;
    readonly status: PlanStatus;
    readonly undone: boolean;
    readonly awaiting: string | undefined;
    readonly hasChanges: boolean;
    readonly updatedAt: number;
  };
}

export interface SessionFilter {
  /** Sessions of this directory come first; with `only`, they alone. */
  readonly directory: string;
  readonly only: boolean;
  readonly project?: QualifiedName | undefined;
  readonly limit: number;
}

/** One statement for all of them: those of the directory first, then by when something was said last. */
export async function findSessionSummaries(reader: Reader, filter: SessionFilter): Promise<SessionSummary[]> {
  const { where, parameters } = conditions(filter);
  const rows = await reader.all<SessionRow & SummaryRow>(
    `${SUMMARY} ${where} ORDER BY CASE WHEN directory = ? AND host = ? THEN 0 ELSE 1 END, told DESC
      LIMIT ?`,
    ...parameters,
    filter.directory,
    hostname(),
    filter.limit,
  );
  return rows.map(readSummary);
}

/** The one of this session, in a list; empty for an unknown one. */
export async function findSessionSummary(reader: Reader, id: SessionId): Promise<SessionSummary[]> {
  return (await reader.all<SessionRow & SummaryRow>(`${SUMMARY} WHERE sessions.id = ?`, id)).map(readSummary);
}

const SUMMARY = `SELECT sessions.*, plans.id AS plan_id, plans.phase, plans.state, plans.undone_at, plans.updated_at,
            last.position AS plans,
            (SELECT question FROM questions WHERE plan_id = plans.id AND closed_at IS NULL) AS awaiting,
            EXISTS (SELECT 1 FROM changesets WHERE plan_id = plans.id AND entry_count > 0 AND superseded_at IS NULL)
              AS has_changes
       FROM sessions
       JOIN session_plans AS last ON last.session_id = sessions.id
        AND last.position = (SELECT MAX(position) FROM session_plans WHERE session_id = sessions.id)
       JOIN plans ON plans.id = last.plan_id`;

export async function countSessions(reader: Reader, filter: SessionFilter): Promise<number> {
  const { where, parameters } = conditions(filter);
  const row = await reader.get<{ sessions: number }>(
    `SELECT COUNT(*) AS sessions FROM sessions ${where}`,
    ...parameters,
  );
  return row?.sessions ?? 0;
}

/** The plans that were made in each of these sessions: a plan that a fork shares is not among the fork's. */
export async function ownPlansOf(
  reader: Reader,
  ids: readonly SessionId[],
): Promise<ReadonlyMap<SessionId, readonly PlanId[]>> {
  const found = new Map<SessionId, PlanId[]>(ids.map((id) => [id, []]));
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const rows = await reader.all<{ session_id: SessionId; plan_id: PlanId }>(
      `SELECT session_id, plan_id FROM session_plans
        WHERE shared = 0 AND session_id IN (${page.map(() => "?").join(", ")})`,
      ...page,
    );
    for (const { session_id: id, plan_id: plan } of rows) found.get(id)?.push(plan);
  }
  return found;
}

/** Placeholders in one statement. */
const PAGE = 500;

interface SummaryRow {
  readonly plan_id: PlanId;
  readonly phase: string;
  readonly state: string;
  readonly undone_at: number | null;
  readonly updated_at: number;
  readonly plans: number;
  readonly awaiting: string | null;
  /** A number in SQLite, a truth value elsewhere. */
  readonly has_changes: number | boolean;
}

function readSummary(row: SessionRow & SummaryRow): SessionSummary {
  return {
    session: readSession(row),
    plans: row.plans,
    last: {
      planId: row.plan_id,
      status: { phase: row.phase, state: row.state } as PlanStatus,
      undone: row.undone_at !== null,
      awaiting: row.awaiting ?? undefined,
      hasChanges: Boolean(row.has_changes),
      updatedAt: row.updated_at,
    },
  };
}

function conditions({ directory, only, project }: SessionFilter): { where: string; parameters: SqlValue[] } {
  const where: string[] = [];
  const parameters: SqlValue[] = [];
  if (only) {
    where.push("directory = ? AND host = ?");
    parameters.push(directory, hostname());
  }
  if (project !== undefined) {
    where.push("project_key = ?");
    parameters.push(nameKey(project));
  }
  return { where: where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`, parameters };
}

function sharedPart(row: {
  readonly shared: number;
  readonly attempt: number | null;
  readonly decisions: number | null;
  readonly answer_id: DecisionId | null;
}): SharedPart | undefined {
  if (row.shared === 0) return undefined;
  return { attempt: row.attempt ?? 1, decisions: row.decisions ?? 0, answer: row.answer_id ?? undefined };
}

function readSession(row: SessionRow): Session {
  return {
    id: row.id,
    number: row.number,
    version: row.version,
    title: row.title,
    project: row.project_name as QualifiedName,
    directory: row.directory,
    host: row.host,
    createdAt: row.created_at,
    toldAt: row.told_at,
    forkedFrom: row.forked_from ?? undefined,
  };
}
