/**
 * Questions of plans to people, in the table `questions`. A plan has at most one open question, and while it is open no
 * phase of it can be started. It is asked in the transaction that gives the lease up and closed in the one that records
 * the answer, so a plan never waits for nothing and never continues without the answer it waited for.
 */
import type { Assessment } from "../domain/plan/confidence.ts";
import { AwaitingInputError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { DecisionId, IdGenerator, PlanId } from "../domain/names/ids.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import type { Reader, Tx } from "../store/port.ts";

export interface PlanQuestion {
  readonly id: string;
  readonly planId: PlanId;
  readonly attempt: number;
  readonly phase: Phase;
  /** The position in the program that asks: a later run finds the answer by it. */
  readonly key: string;
  readonly question: string;
  readonly alternatives: readonly string[];
  /** Why it was not decided without asking. */
  readonly assessment: Assessment | undefined;
  readonly askedAt: number;
}

interface QuestionRow {
  readonly id: string;
  readonly plan_id: PlanId;
  readonly attempt: number;
  readonly phase: Phase;
  readonly key: string;
  readonly question: string;
  readonly alternatives: string;
  readonly assessment: string | null;
  readonly asked_at: number;
}

export type NewQuestion = Omit<PlanQuestion, "id" | "askedAt">;

export async function insertQuestion(tx: Tx, ids: IdGenerator, asked: NewQuestion): Promise<void> {
  await tx.run(
    `INSERT INTO questions (sequence, id, plan_id, attempt, phase, key, question, alternatives, assessment, asked_at)
     SELECT COALESCE(MAX(sequence), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, now_ms() FROM questions WHERE plan_id = ?`,
    ids(),
    asked.planId,
    asked.attempt,
    asked.phase,
    asked.key,
    asked.question,
    JSON.stringify(asked.alternatives),
    asked.assessment === undefined ? null : JSON.stringify(asked.assessment),
    asked.planId,
  );
}

export async function openQuestion(reader: Reader, planId: PlanId): Promise<PlanQuestion | undefined> {
  const row = await reader.get<QuestionRow>("SELECT * FROM questions WHERE plan_id = ? AND closed_at IS NULL", planId);
  return row === undefined ? undefined : readQuestion(row);
}

/** False when another process closed it first. */
export async function answerQuestion(tx: Tx, id: string, answer: DecisionId): Promise<boolean> {
  const changed = await tx.run(
    "UPDATE questions SET closed_at = now_ms(), answer_id = ? WHERE id = ? AND closed_at IS NULL",
    answer,
    id,
  );
  return changed === 1;
}

/** The plan takes another way, on which the answer is not needed. */
export async function withdrawQuestion(tx: Tx, planId: PlanId): Promise<void> {
  await tx.run("UPDATE questions SET closed_at = now_ms() WHERE plan_id = ? AND closed_at IS NULL", planId);
}

/** The decision that answers what was asked at this position in this attempt. */
export async function answerAt(
  reader: Reader,
  plan: { readonly id: PlanId; readonly attempt: number },
  key: string,
): Promise<DecisionId | undefined> {
  const row = await reader.get<{ answer_id: DecisionId }>(
    `SELECT answer_id FROM questions WHERE plan_id = ? AND attempt = ? AND key = ? AND answer_id IS NOT NULL
      ORDER BY sequence DESC LIMIT 1`,
    plan.id,
    plan.attempt,
    key,
  );
  return row?.answer_id;
}

/** The answers to questions that were asked at positions with this beginning, in any attempt. */
export async function answersAt(reader: Reader, planId: PlanId, prefix: string): Promise<ReadonlySet<DecisionId>> {
  const rows = await reader.all<{ answer_id: DecisionId; key: string }>(
    "SELECT answer_id, key FROM questions WHERE plan_id = ? AND answer_id IS NOT NULL",
    planId,
  );
  return new Set(rows.filter(({ key }) => key.startsWith(prefix)).map((row) => row.answer_id));
}

/** Refuses to start a phase of a plan that waits for an answer; in the transaction that would start it. */
export async function requireNoQuestion(tx: Tx, planId: PlanId): Promise<void> {
  const open = await openQuestion(tx, planId);
  if (open !== undefined) throw awaitingInputError(open);
}

export function awaitingInputError(
  asked: Pick<PlanQuestion, "planId" | "question" | "alternatives" | "assessment">,
): AwaitingInputError {
  const { planId, question, alternatives, assessment } = asked;
  const choices = alternatives.length === 0 ? "" : ` (${alternatives.join("; ")})`;
  return new AwaitingInputError(`The plan ${planId} waits for an answer: ${question}${choices}`, {
    next: [nextStep("plan.prompt", { plan: planId, text: "<answer>" }), nextStep("plan.cancel", { plan: planId })],
    detail: { plan_id: planId, question, alternatives, ...(assessment === undefined ? {} : { assessment }) },
  });
}

function readQuestion(row: QuestionRow): PlanQuestion {
  return {
    id: row.id,
    planId: row.plan_id,
    attempt: row.attempt,
    phase: row.phase,
    key: row.key,
    question: row.question,
    alternatives: JSON.parse(row.alternatives) as string[],
    assessment: row.assessment === null ? undefined : (JSON.parse(row.assessment) as Assessment),
    askedAt: row.asked_at,
  };
}
