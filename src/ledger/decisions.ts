/**
 * The decisions of plans, in the table `decisions`. Rows are only ever added; superseding is the one mark that is set
 * later, once.
 */
import { PHASE_TYPES, type Decision, type DecisionType, type Thought } from "../domain/plan/decision.ts";
import { DecisionPhaseViolationError, NotFoundError } from "../domain/errors/errors.ts";
import type { DecisionId, IdGenerator, PlanId } from "../domain/names/ids.ts";
import type { JsonValue } from "../domain/values/json.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import { readContents, stageContent, type StagedContent } from "../store/contents/contents.ts";
import { maskedJson, maskedText } from "../platform/masking.ts";
import type { Reader, Store, Tx } from "../store/port.ts";

export type NewDecision = Pick<Decision, "planId" | "attempt" | "type" | "phase" | "step" | "question" | "chosen"> & {
  readonly parent: DecisionId | undefined;
  readonly needs: readonly DecisionId[];
  readonly exactHash?: string | undefined;
  readonly thought?: Thought;
};

interface DecisionRow {
  readonly id: DecisionId;
  readonly plan_id: PlanId;
  readonly attempt: number;
  readonly sequence: number;
  readonly type: DecisionType;
  readonly phase: Phase;
  readonly step_id: string | null;
  readonly question: string;
  readonly chosen: string;
  readonly exact_hash: string | null;
  readonly parent_id: DecisionId | null;
  readonly needs: string;
  readonly confidence: string | null;
  readonly rationale: string | null;
  readonly alternatives: string | null;
  readonly reasoning: string | null;
  readonly snapshot: string | null;
  readonly created_at: number;
  readonly superseded_at: number | null;
  readonly superseded_by: DecisionId | null;
}

/**
 * Stages a choice that must be carried out exactly although a secret is in it; called before the transaction that
 * records the decision.
 */
export async function stageExact(store: Store, chosen: JsonValue): Promise<StagedContent | undefined> {
  if (maskedJson(chosen).masked === 0) return undefined;
  return stageContent(store, Buffer.from(JSON.stringify(chosen), "utf8"));
}

/** The choices as they were made, of the decisions in which something is masked. */
export async function exactChoices(
  store: Store,
  decisions: readonly Decision[],
): Promise<ReadonlyMap<DecisionId, JsonValue>> {
  const byHash = Map.groupBy(decisions, ({ exactHash }) => exactHash);
  const exact = new Map<DecisionId, JsonValue>();
  const hashes = [...byHash.keys()].filter((hash) => hash !== undefined);
  for await (const [hash, bytes] of readContents(store, hashes)) {
    const chosen = JSON.parse(Buffer.from(bytes).toString("utf8")) as JsonValue;
    for (const { id } of byHash.get(hash) ?? []) exact.set(id, chosen);
  }
  return exact;
}

/**
 * Records a decision of the plan as it stands in this transaction: a type that does not belong to the plan's phase is
 * refused, and no transition of the plan can come in between.
 */
export async function insertDecision(tx: Tx, ids: IdGenerator, decision: NewDecision): Promise<DecisionId> {
  const { planId, type } = decision;
  const plan = await tx.get<{ phase: Phase }>("SELECT phase FROM plans WHERE id = ?", planId);
  if (plan === undefined) throw new NotFoundError("plan", planId);
  const allowed = PHASE_TYPES[plan.phase];
  if (!allowed.includes(type)) throw new DecisionPhaseViolationError({ type, phase: plan.phase, allowed });
  return insertDecisionAgain(tx, ids, decision);
}

/**
 * The same for a decision that was made before and is only recorded again, in any phase. It takes the plan's next
 * sequence and inserts under it in one statement: no two decisions share one, and there is no gap.
 */
export async function insertDecisionAgain(tx: Tx, ids: IdGenerator, decision: NewDecision): Promise<DecisionId> {
  const { thought = {} } = decision;
  const id = ids() as DecisionId;
  await tx.run(
    `INSERT INTO decisions (id, plan_id, attempt, sequence, type, phase, step_id, question, chosen, exact_hash, parent_id,
       needs, confidence, rationale, alternatives, reasoning, snapshot, created_at)
     SELECT ?, ?, ?, COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, now_ms() FROM decisions
      WHERE plan_id = ?`,
    id,
    decision.planId,
    decision.attempt,
    decision.type,
    decision.phase,
    decision.step ?? null,
    maskedText(decision.question),
    JSON.stringify(maskedJson(decision.chosen).value),
    decision.exactHash ?? null,
    decision.parent ?? null,
    JSON.stringify(decision.needs),
    thought.confidence === undefined ? null : String(thought.confidence),
    thought.rationale === undefined ? null : maskedText(thought.rationale),
    thought.alternatives === undefined ? null : JSON.stringify(maskedJson([...thought.alternatives]).value),
    thought.reasoning === undefined ? null : JSON.stringify(maskedText(thought.reasoning)),
    thought.snapshot ?? null,
    decision.planId,
  );
  return id;
}

/**
 * Marks decisions as superseded: they stay, but do not count. `by` is the decision that replaces them, if there is one.
 * The tool calls made for them are superseded by `supersedeInvocations`.
 */
export async function supersedeDecisions(tx: Tx, decisions: readonly Decision[], by?: DecisionId): Promise<void> {
  for (const { id } of decisions) {
    await tx.run(
      "UPDATE decisions SET superseded_at = now_ms(), superseded_by = ? WHERE id = ? AND superseded_at IS NULL",
      by ?? null,
      id,
    );
  }
}

/**
 * Decides the same things again: the old decisions are superseded, and new ones stand in their places, also where one
 * of them needed another. All in the caller's transaction.
 */
export async function renewDecisions(
  tx: Tx,
  ids: IdGenerator,
  decisions: readonly Decision[],
  /** Superseded before, by a decision that counts no more: they are decided again, too. */
  restored: readonly Decision[] = [],
): Promise<void> {
  // Of the decisions that count there is one for each step, so the old ones go first.
  await supersedeDecisions(tx, decisions);
  const renewed = new Map<DecisionId, DecisionId>();
  const now = (id: DecisionId): DecisionId => renewed.get(id) ?? id;
  for (const decision of decisions) {
    const parent = decision.parent === undefined ? undefined : now(decision.parent);
    const id = await insertDecisionAgain(tx, ids, { ...decision, parent, needs: decision.needs.map(now) });
    await tx.run("UPDATE decisions SET superseded_by = ? WHERE id = ?", id, decision.id);
    renewed.set(decision.id, id);
  }
  for (const decision of restored) {
    const parent = decision.parent === undefined ? undefined : now(decision.parent);
    renewed.set(
      decision.id,
      await insertDecisionAgain(tx, ids, { ...decision, parent, needs: decision.needs.map(now) }),
    );
  }
}

/**
 * The decisions of an attempt in the order in which they were made; with `superseded`, also those that no longer count.
 */
export async function findDecisions(
  reader: Reader,
  planId: PlanId,
  attempt: number,
  options: { superseded: boolean } = { superseded: false },
): Promise<Decision[]> {
  const rows = await reader.all<DecisionRow>(
    `SELECT * FROM decisions WHERE plan_id = ? AND attempt = ? ${options.superseded ? "" : "AND superseded_at IS NULL"}
      ORDER BY sequence`,
    planId,
    attempt,
  );
  return rows.map(readDecision);
}

/** The messages of people to the plan, in any attempt, in their order. */
export async function findInterventions(reader: Reader, planId: PlanId): Promise<Decision[]> {
  const rows = await reader.all<DecisionRow>(
    `SELECT * FROM decisions WHERE plan_id = ? AND type = 'user_intervention' AND superseded_at IS NULL
      ORDER BY sequence`,
    planId,
  );
  return rows.map(readDecision);
}

export async function findDecision(reader: Reader, id: DecisionId): Promise<Decision | undefined> {
  const row = await reader.get<DecisionRow>("SELECT * FROM decisions WHERE id = ?", id);
  return row === undefined ? undefined : readDecision(row);
}

/** The decisions of any plan whose id begins with `prefix` (upper case); at most six. */
export async function decisionsAnywhere(reader: Reader, prefix: string): Promise<Decision[]> {
  const rows = await reader.all<DecisionRow>(
    "SELECT * FROM decisions WHERE id >= ? AND id < ? ORDER BY id LIMIT 6",
    prefix,
    `${prefix}~`,
  );
  return rows.map(readDecision);
}

/**
 * The decisions of a plan whose id begins with `prefix` (upper case), of any attempt, superseded or not; at most six.
 */
export async function decisionsByPrefix(reader: Reader, planId: PlanId, prefix: string): Promise<Decision[]> {
  const rows = await reader.all<DecisionRow>(
    "SELECT * FROM decisions WHERE plan_id = ? AND id >= ? AND id < ? ORDER BY id LIMIT 6",
    planId,
    prefix,
    `${prefix}~`,
  );
  return rows.map(readDecision);
}

export async function countDecisions(reader: Reader, planId: PlanId): Promise<number> {
  const row = await reader.get<{ count: number }>("SELECT COUNT(*) AS count FROM decisions WHERE plan_id = ?", planId);
  return row?.count ?? 0;
}

function readDecision(row: DecisionRow): Decision {
  return {
    id: row.id,
    planId: row.plan_id,
    attempt: row.attempt,
    sequence: row.sequence,
    type: row.type,
    phase: row.phase,
    step: row.step_id ?? undefined,
    question: row.question,
    chosen: JSON.parse(row.chosen) as JsonValue,
    exactHash: row.exact_hash ?? undefined,
    parent: row.parent_id ?? undefined,
    needs: JSON.parse(row.needs) as DecisionId[],
    thought: readThought(row),
    createdAt: row.created_at,
    supersededAt: row.superseded_at ?? undefined,
    supersededBy: row.superseded_by ?? undefined,
  };
}

function readThought({ confidence, rationale, alternatives, reasoning, snapshot }: DecisionRow): Thought {
  return {
    ...(confidence === null ? {} : { confidence: Number(confidence) }),
    ...(rationale === null ? {} : { rationale }),
    ...(alternatives === null ? {} : { alternatives: JSON.parse(alternatives) as string[] }),
    ...(reasoning === null ? {} : { reasoning: JSON.parse(reasoning) as string }),
    ...(snapshot === null ? {} : { snapshot }),
  };
}
