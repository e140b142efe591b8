/** Plans as lists show them, read from the tables of plans in two statements for a page. */
import type { PlanId } from "../../domain/names/ids.ts";
import { nameKey, type QualifiedName } from "../../domain/names/qualified-name.ts";
import { STATES, type Phase, type PlanStatus, type State } from "../../domain/plan/transitions.ts";
import type { Reader, SqlValue } from "../port.ts";
import { IS_ACTIVE } from "./plans.ts";

export interface PlanFilter {
  readonly phase?: Phase | undefined;
  readonly state?: State | undefined;
  /** Only plans that can still continue. */
  readonly active?: boolean | undefined;
  readonly action?: QualifiedName | undefined;
  readonly project?: QualifiedName | undefined;
  /** By the keys of projects: only plans of one of them, or only plans of none of them. */
  readonly among?: readonly string[] | undefined;
  readonly outside?: readonly string[] | undefined;
}

/** A plan as lists show it. */
export interface PlanSummary {
  readonly id: PlanId;
  /** 1, 2, 3 …: a short name for people that never changes. */
  readonly number: number;
  /** The shortest beginning of the id that no other plan has now, for people. */
  readonly shortId: string;
  readonly name: QualifiedName;
  readonly action: QualifiedName;
  /** The request, or what its action says it does. */
  readonly description: string;
  readonly projects: readonly QualifiedName[];
  readonly status: PlanStatus;
  readonly attempt: number;
  readonly undone: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The question that it waits for a person to answer. */
  readonly awaiting: string | undefined;
}

interface SummaryRow {
  readonly id: PlanId;
  readonly sequence: number;
  readonly name: string;
  readonly action_name: string;
  readonly description: string;
  readonly phase: string;
  readonly state: string;
  readonly attempt: number;
  readonly undone_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly awaiting: string | null;
  readonly id_before: string | null;
  readonly id_after: string | null;
}

/** The newest plans first; older ones than the plan `before` when one is given. */
export async function findPlanSummaries(
  reader: Reader,
  filter: PlanFilter,
  page: { limit: number; before?: PlanId | undefined },
): Promise<PlanSummary[]> {
  const { where, parameters } = conditions(filter);
  if (page.before !== undefined) {
    where.push("sequence < (SELECT sequence FROM plans WHERE id = ?)");
    parameters.push(page.before);
  }
  const rows = await reader.all<SummaryRow>(
    `${SUMMARY} ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`} ORDER BY sequence DESC LIMIT ?`,
    ...parameters,
    page.limit,
  );
  return summaries(reader, rows);
}

/** The plan of this number. */
export async function findPlanByNumber(reader: Reader, number: number): Promise<PlanSummary | undefined> {
  const [found] = await summaries(reader, await reader.all<SummaryRow>(`${SUMMARY} WHERE sequence = ?`, number));
  return found;
}

// Ids are sorted, so only the neighbors on either side can share a longer beginning.
const SUMMARY = `SELECT id, sequence, name, action_name, description, phase, state, attempt, undone_at, created_at,
            updated_at,
            (SELECT question FROM questions WHERE plan_id = plans.id AND closed_at IS NULL) AS awaiting,
            (SELECT MAX(id) FROM plans AS others WHERE others.id < plans.id) AS id_before,
            (SELECT MIN(id) FROM plans AS others WHERE others.id > plans.id) AS id_after
       FROM plans`;

async function summaries(reader: Reader, rows: readonly SummaryRow[]): Promise<PlanSummary[]> {
  const projects = await projectsOf(
    reader,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    number: row.sequence,
    shortId: shortId(row),
    name: row.name as QualifiedName,
    action: row.action_name as QualifiedName,
    description: row.description,
    projects: projects.get(row.id) ?? [],
    status: { phase: row.phase, state: row.state } as PlanStatus,
    attempt: row.attempt,
    undone: row.undone_at !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    awaiting: row.awaiting ?? undefined,
  }));
}

/** Placeholders in one statement. */
const PAGE = 500;

async function projectsOf(
  reader: Reader,
  ids: readonly PlanId[],
): Promise<ReadonlyMap<PlanId, readonly QualifiedName[]>> {
  const found = new Map<PlanId, QualifiedName[]>(ids.map((id) => [id, []]));
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const rows = await reader.all<{ plan_id: PlanId; project_name: string }>(
      `SELECT plan_id, project_name FROM plan_projects WHERE plan_id IN (${marks(page)}) ORDER BY plan_id, position`,
      ...page,
    );
    for (const { plan_id: id, project_name: name } of rows) found.get(id)?.push(name as QualifiedName);
  }
  return found;
}

const SHORTEST_ID = 8;

function shortId({ id, id_before: before, id_after: after }: SummaryRow): string {
  const shared = Math.max(commonLength(id, before ?? ""), commonLength(id, after ?? ""));
  return id.slice(0, Math.max(SHORTEST_ID, shared + 1));
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** How many plans that fit the filter are in each state. */
export async function countPlans(reader: Reader, filter: PlanFilter): Promise<ReadonlyMap<State, number>> {
  const { where, parameters } = conditions(filter);
  if (where.length === 0) return countAllPlans(reader);
  const rows = await reader.all<{ state: State; plans: number }>(
    `SELECT state, COUNT(*) AS plans FROM plans WHERE ${where.join(" AND ")} GROUP BY state`,
    ...parameters,
  );
  return new Map(rows.map((row) => [row.state, row.plans]));
}

/**
 * A total is cheap and so is each state that few plans are in; the rest are the applied ones, by far the most in a
 * store that has been in use. (A million plans grouped by state took 62 ms, the total alone 4.5.)
 */
async function countAllPlans(reader: Reader): Promise<ReadonlyMap<State, number>> {
  const one = async (sql: string, ...parameters: SqlValue[]): Promise<number> =>
    (await reader.get<{ plans: number }>(sql, ...parameters))?.plans ?? 0;
  const counts = new Map<State, number>();
  let rest = await one("SELECT COUNT(*) AS plans FROM plans");
  for (const state of STATES.filter((candidate) => candidate !== "applied")) {
    const plans = await one("SELECT COUNT(*) AS plans FROM plans WHERE state = ?", state);
    if (plans > 0) counts.set(state, plans);
    rest -= plans;
  }
  return rest > 0 ? counts.set("applied", rest) : counts;
}

function conditions(filter: PlanFilter): { where: string[]; parameters: SqlValue[] } {
  const where: string[] = [];
  const parameters: SqlValue[] = [];
  const add = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return;
    where.push(condition);
    parameters.push(value);
  };
  add("phase = ?", filter.phase);
  add("state = ?", filter.state);
  add("action_key = ?", filter.action && nameKey(filter.action));
  add("id IN (SELECT plan_id FROM plan_projects WHERE project_key = ?)", filter.project && nameKey(filter.project));
  const { active = false, among, outside = [] } = filter;
  if (active) where.push(IS_ACTIVE);
  if (among !== undefined) {
    // An empty list of values is not valid in every dialect of SQL.
    where.push(among.length === 0 ? "1 = 0" : `id IN (${OF_PROJECTS} (${marks(among)}))`);
    parameters.push(...among);
  }
  if (outside.length > 0) {
    where.push(`id NOT IN (${OF_PROJECTS} (${marks(outside)}))`);
    parameters.push(...outside);
  }
  return { where, parameters };
}

const OF_PROJECTS = "SELECT plan_id FROM plan_projects WHERE project_key IN";

function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
