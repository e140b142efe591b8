/**
 * The candidates of a request, in the tables `candidate_groups`, `candidates` and `candidate_verdicts`. A group never
 * gains or loses a plan after it was made, so a call that was reserved for it is also settled for it.
 */
import type { CandidateGroup, ChoiceRule } from "../domain/plan/candidate.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { dollars, type Microdollars } from "../domain/money/money.ts";
import type { DecisionId, PlanId } from "../domain/names/ids.ts";
import { maskedText } from "../platform/masking.ts";
import type { Reader, Tx } from "../store/port.ts";
import { recordSystemEvent } from "./system-events.ts";
import type { Cap } from "./spending-caps.ts";

export async function insertCandidateGroup(
  tx: Tx,
  group: Pick<CandidateGroup, "id" | "plans" | "cap" | "judge" | "rule" | "directory">,
): Promise<void> {
  await tx.run(
    "INSERT INTO candidate_groups (id, cap, judge, rule, directory, created_at) VALUES (?, ?, ?, ?, ?, now_ms())",
    group.id,
    group.cap ?? null,
    group.judge ?? null,
    group.rule ?? null,
    group.directory ?? null,
  );
  for (const [index, plan] of group.plans.entries()) {
    await tx.run("INSERT INTO candidates (plan_id, group_id, position) VALUES (?, ?, ?)", plan, group.id, index + 1);
  }
}

interface GroupRow {
  readonly id: string;
  readonly cap: number | null;
  readonly judge: string | null;
  readonly rule: ChoiceRule | null;
  readonly directory: string | null;
  readonly chosen_plan: PlanId | null;
  readonly chosen_at: number | null;
  readonly created_at: number;
}

export async function findCandidateGroup(reader: Reader, id: string): Promise<CandidateGroup | undefined> {
  const row = await reader.get<GroupRow>("SELECT * FROM candidate_groups WHERE id = ?", id);
  if (row === undefined) return undefined;
  const members = await reader.all<{ plan_id: PlanId }>(
    "SELECT plan_id FROM candidates WHERE group_id = ? ORDER BY position",
    id,
  );
  return {
    id: row.id,
    plans: members.map(({ plan_id }) => plan_id),
    cap: row.cap ?? undefined,
    judge: row.judge ?? undefined,
    rule: row.rule ?? undefined,
    directory: row.directory ?? undefined,
    chosen: row.chosen_plan === null ? undefined : { plan: row.chosen_plan, at: row.chosen_at ?? 0 },
    createdAt: row.created_at,
  };
}

/** The group that the plan is a candidate of. */
export async function groupOfPlan(reader: Reader, plan: PlanId): Promise<CandidateGroup | undefined> {
  const row = await reader.get<{ group_id: string }>("SELECT group_id FROM candidates WHERE plan_id = ?", plan);
  return row === undefined ? undefined : findCandidateGroup(reader, row.group_id);
}

/** The groups of those plans that are candidates: one statement for a page of plans, and two for each group. */
export async function groupsOf(reader: Reader, plans: readonly PlanId[]): Promise<ReadonlyMap<PlanId, CandidateGroup>> {
  const groups = new Map<PlanId, CandidateGroup>();
  for (const plan of await candidatesAmong(reader, plans)) {
    const group = groups.get(plan) ?? (await groupOfPlan(reader, plan));
    for (const member of group?.plans ?? []) if (group !== undefined) groups.set(member, group);
  }
  return groups;
}

/** Placeholders in one statement. */
const PAGE = 500;

async function candidatesAmong(reader: Reader, plans: readonly PlanId[]): Promise<PlanId[]> {
  const found: PlanId[] = [];
  for (let from = 0; from < plans.length; from += PAGE) {
    const page = plans.slice(from, from + PAGE);
    const rows = await reader.all<{ plan_id: PlanId }>(
      `SELECT plan_id FROM candidates WHERE plan_id IN (${page.map(() => "?").join(", ")})`,
      ...page,
    );
    found.push(...rows.map(({ plan_id: id }) => id));
  }
  return found;
}

/** Ids that start with `prefix` (upper case), at most `limit` of them. */
export async function groupIdsByPrefix(reader: Reader, prefix: string, limit: number): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(
    "SELECT id FROM candidate_groups WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
    prefix,
    `${prefix}~`,
    limit,
  );
  return rows.map(({ id }) => id);
}

/** The candidates whose group has chosen another one and that are not at their end: by plan, the one chosen. */
export async function notChosen(reader: Reader): Promise<ReadonlyMap<PlanId, PlanId>> {
  const rows = await reader.all<{ plan_id: PlanId; chosen_plan: PlanId }>(
    `SELECT candidates.plan_id, candidate_groups.chosen_plan
       FROM candidates JOIN candidate_groups ON candidate_groups.id = candidates.group_id
       JOIN plans ON plans.id = candidates.plan_id
      WHERE candidate_groups.chosen_plan IS NOT NULL AND candidate_groups.chosen_plan <> candidates.plan_id
        AND plans.state NOT IN ('applied', 'cancelled')`,
  );
  return new Map(rows.map((row) => [row.plan_id, row.chosen_plan]));
}

/**
 * The choice: the first caller for a group wins, in one statement. False when a candidate was chosen before, also this
 * one.
 */
export async function markChosen(tx: Tx, group: string, plan: PlanId): Promise<boolean> {
  const marked = await tx.run(
    "UPDATE candidate_groups SET chosen_plan = ?, chosen_at = now_ms() WHERE id = ? AND chosen_plan IS NULL",
    plan,
    group,
  );
  return marked === 1;
}

/** Counts from the next call of any candidate on. */
export async function changeGroupCap(
  tx: Tx,
  change: {
    readonly group: GroupScope;
    readonly planId: PlanId;
    readonly cap: Microdollars | undefined;
    readonly user: string;
  },
): Promise<void> {
  const { group, planId, cap, user } = change;
  await tx.run("UPDATE candidate_groups SET cap = ? WHERE id = ?", cap ?? null, group.id);
  const text = (amount: Microdollars | undefined): string | null => (amount === undefined ? null : dollars(amount));
  const details = { group: group.id, from: text(group.cap?.amount), to: text(cap) };
  await recordSystemEvent(tx, { type: "budget.changed", user, planId, details });
}

/** A group as a scope of spending. */
export interface GroupScope {
  readonly id: string;
  readonly cap: Cap | undefined;
}

/** The scope that the calls of a plan count against besides its own; undefined for a plan that is not a candidate. */
export async function groupScopeOf(reader: Reader, plan: PlanId): Promise<GroupScope | undefined> {
  const row = await reader.get<{ id: string; cap: number | null }>(
    `SELECT candidate_groups.id, candidate_groups.cap
       FROM candidates JOIN candidate_groups ON candidate_groups.id = candidates.group_id
      WHERE candidates.plan_id = ?`,
    plan,
  );
  if (row === undefined) return undefined;
  const raise = nextStep("plan.budget", { plan, dollars: "<dollars>" });
  return { id: row.id, cap: row.cap === null ? undefined : { amount: row.cap, raise } };
}

/** A model's recommendation among the results of candidates. */
export interface CandidateVerdict {
  readonly judge: string;
  readonly plan: PlanId;
  /** In the tree of the recommended plan. */
  readonly decision: DecisionId;
  readonly reasons: string;
}

/** `results` is the digest of everything that was compared: other results need another verdict. */
export async function insertVerdict(
  tx: Tx,
  verdict: CandidateVerdict & { readonly group: string; readonly results: string },
): Promise<void> {
  await tx.run(
    `INSERT INTO candidate_verdicts (sequence, group_id, results, judge, plan_id, decision_id, reasons, at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, now_ms() FROM candidate_verdicts`,
    verdict.group,
    verdict.results,
    verdict.judge,
    verdict.plan,
    verdict.decision,
    maskedText(verdict.reasons),
  );
}

/** The verdicts on these results, the newest first. */
export async function findVerdicts(reader: Reader, group: string, results: string): Promise<CandidateVerdict[]> {
  const rows = await reader.all<{ judge: string; plan_id: PlanId; decision_id: DecisionId; reasons: string }>(
    `SELECT judge, plan_id, decision_id, reasons FROM candidate_verdicts WHERE group_id = ? AND results = ?
      ORDER BY sequence DESC`,
    group,
    results,
  );
  return rows.map(({ judge, plan_id, decision_id, reasons }) => ({
    judge,
    plan: plan_id,
    decision: decision_id,
    reasons,
  }));
}
