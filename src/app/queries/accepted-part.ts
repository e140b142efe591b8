/** The part of a plan that its review accepted, as it is applied. */
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { countChanged } from "../../domain/text/git-patch.ts";
import type { TakenPart } from "../../apply/partial-landing.ts";
import type { Store } from "../../store/port.ts";
import { reviewable, unitLines, unitName, verdictOf } from "./review-facts.ts";

export interface AcceptedPart {
  /** Undefined when everything is accepted: then the whole plan is applied. */
  readonly taken: TakenPart | undefined;
  readonly amount: {
    readonly files: number;
    readonly taken: number;
    readonly all: number;
    readonly insertions: number;
    readonly deletions: number;
  };
}

/** Longer lists stay in the review, where they can be read whole. */
const MOST_NAMED = 100;

export async function acceptedPart(store: Store, plan: Plan): Promise<AcceptedPart> {
  const { files, review } = await reviewable(store, plan);
  const all = files.flatMap((file) => file.units.map((unit) => ({ file, unit })));
  const taken = all.filter(({ unit }) => verdictOf(review, unit) === "accepted");
  if (taken.length === 0) {
    throw new UsageError(`Nothing of plan ${plan.id} is accepted.`, {
      kept: "Nothing was changed.",
      next: [nextStep("plan.review", { plan: plan.id })],
    });
  }
  const left = all.filter((one) => !taken.includes(one));
  const counted = taken.filter(({ unit }) => unit.kind === "lines" || unit.kind === "whole");
  const lines = counted.flatMap(({ file, unit }) => unitLines(file, unit));
  const amount = {
    files: new Set(taken.map(({ file }) => file)).size,
    taken: taken.length,
    all: all.length,
    ...countChanged([{ header: "", oldStart: 0, newStart: 0, lines }]),
  };
  if (left.length === 0) return { taken: undefined, amount };
  const reasons = left.slice(0, MOST_NAMED).map(({ file, unit }) => {
    const reason = review.marks.get(unit.id)?.reason ?? null;
    return { change: unitName(file, unit), verdict: verdictOf(review, unit), reason };
  });
  const names = reasons.map(({ change, reason }) => (reason === null ? change : `${change} (${reason})`)).join(", ");
  const guidance = `${taken.length} of ${all.length} changes are applied. Left out: ${names}.`;
  const chosen = { guidance, question: null, applied: taken.length, left: reasons };
  return { taken: { revision: review.revision, units: new Set(taken.map(({ unit }) => unit.id)), chosen }, amount };
}
