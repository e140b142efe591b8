/**
 * The decisions of people about single changes of a plan's diff, in the tables `reviews` and `review_marks`. Each save
 * is for the revision that its reviewer saw: of two reviewers at once, one is refused.
 */
import { ConflictError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { maskedText } from "../platform/masking.ts";
import type { Reader, Tx } from "../store/port.ts";
import { recordSystemEvent } from "./system-events.ts";

export type Verdict = "accepted" | "rejected";

export interface ReviewMark {
  /** Undefined for a comment on a change that is not decided. */
  readonly verdict: Verdict | undefined;
  readonly reason: string | undefined;
  readonly comment: string | undefined;
}

export interface Review {
  /** 0 before anything was marked; it goes up by one with each save. */
  readonly revision: number;
  /** By the unit of the diff. */
  readonly marks: ReadonlyMap<string, ReviewMark>;
}

type Reviewed = Pick<Plan, "id" | "attempt">;

export async function findReview(reader: Reader, plan: Reviewed): Promise<Review> {
  const found = await reader.get<{ revision: number }>("SELECT revision FROM reviews WHERE plan_id = ?", plan.id);
  const rows = await reader.all<{
    unit: string;
    verdict: Verdict | null;
    reason: string | null;
    comment: string | null;
  }>(
    "SELECT unit, verdict, reason, comment FROM review_marks WHERE plan_id = ? AND attempt = ?",
    plan.id,
    plan.attempt,
  );
  const marks = rows.map(({ unit, verdict, reason, comment }): [string, ReviewMark] => [
    unit,
    { verdict: verdict ?? undefined, reason: reason ?? undefined, comment: comment ?? undefined },
  ]);
  return { revision: found?.revision ?? 0, marks: new Map(marks) };
}

/** Writes the marks, and takes back those that say nothing, if the review is still the one that was seen. */
export async function saveReview(
  tx: Tx,
  save: {
    readonly plan: Reviewed;
    readonly seen: number;
    readonly marks: ReadonlyMap<string, ReviewMark>;
    readonly user: string;
  },
): Promise<number> {
  const { plan, seen, marks, user } = save;
  const moved =
    seen === 0
      ? await tx.run(
          "INSERT INTO reviews (plan_id, revision, updated_at) VALUES (?, 1, now_ms()) ON CONFLICT (plan_id) DO NOTHING",
          plan.id,
        )
      : await tx.run(
          "UPDATE reviews SET revision = revision + 1, updated_at = now_ms() WHERE plan_id = ? AND revision = ?",
          plan.id,
          seen,
        );
  if (moved !== 1) throw reviewedMeanwhileError(plan.id, seen);
  for (const [unit, mark] of marks) await writeMark(tx, plan, unit, mark, user);
  const details = {
    accepted: [...marks.values()].filter(({ verdict }) => verdict === "accepted").length,
    rejected: [...marks.values()].filter(({ verdict }) => verdict === "rejected").length,
  };
  await recordSystemEvent(tx, { type: "plan.reviewed", user, planId: plan.id, details });
  return seen + 1;
}

async function writeMark(tx: Tx, plan: Reviewed, unit: string, mark: ReviewMark, user: string): Promise<void> {
  const { verdict, reason, comment } = mark;
  await tx.run("DELETE FROM review_marks WHERE plan_id = ? AND attempt = ? AND unit = ?", plan.id, plan.attempt, unit);
  if (verdict === undefined && comment === undefined) return;
  await tx.run(
    `INSERT INTO review_marks (plan_id, attempt, unit, verdict, reason, comment, marked_by, marked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, now_ms())`,
    plan.id,
    plan.attempt,
    unit,
    verdict ?? null,
    reason === undefined ? null : maskedText(reason),
    comment === undefined ? null : maskedText(comment),
    user,
  );
}

/** In the transaction that acts on the review: it must be the one that was seen. */
export async function assertReviewed(reader: Reader, planId: PlanId, seen: number): Promise<void> {
  const found = await reader.get<{ revision: number }>("SELECT revision FROM reviews WHERE plan_id = ?", planId);
  if ((found?.revision ?? 0) !== seen) throw reviewedMeanwhileError(planId, seen);
}

function reviewedMeanwhileError(planId: PlanId, seen: number): ConflictError {
  return new ConflictError(
    `Another reviewer changed the review of plan ${planId} in the meantime.`,
    { expected: `revision ${seen} of the review`, actual: "a later revision" },
    {
      kept: "The other reviewer's marks are kept; nothing of this was recorded.",
      next: [nextStep("plan.review", { plan: planId })],
    },
  );
}
