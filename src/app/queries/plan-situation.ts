/** Where a plan stands: who works on it, what it asks, what it recorded. Read on one snapshot. */
import type { Plan } from "../../domain/plan/plan.ts";
import { standingOf } from "../../domain/plan/standing.ts";
import { groupOfPlan } from "../../ledger/candidate-records.ts";
import { changedFileCounts } from "../../ledger/changed-files.ts";
import { findUndoneSteps } from "../../ledger/journal.ts";
import { planActivity } from "../../ledger/activity.ts";
import { findLease } from "../../ledger/leases.ts";
import { planUsage } from "../../ledger/model-calls.ts";
import { openQuestion } from "../../ledger/questions.ts";
import { nextSteps } from "../../plans/next-steps.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { Reader } from "../../store/port.ts";
import { placesOf } from "./in-place.ts";

export async function planSituation(reader: Reader, plan: Plan) {
  const lease = await findLease(reader, plan.id);
  const question = await openQuestion(reader, plan.id);
  const abandoned = plan.state === "processing" && lease?.lapsed === true && question === undefined;
  const activity = await planActivity(reader, plan.id);
  const undoneSteps = await findUndoneSteps(reader, plan.id);
  const inPlace = await placesOf(reader, plan);
  const changedInPlace = inPlace.length > 0 && activity.changes > 0;
  const chosen = (await groupOfPlan(reader, plan.id))?.chosen;
  const standing = standingOf(plan, {
    undone: plan.undoneAt !== undefined,
    asks: question !== undefined,
    isWorkedOn: plan.state === "processing" && lease?.lapsed === false,
    passedOver: chosen !== undefined && chosen.plan !== plan.id,
    hasChanges: (await changedFileCounts(reader, [plan.id])).has(plan.id),
  });
  const next: NextStep[] = nextSteps(plan, { asks: question !== undefined, undoneSteps, changedInPlace });
  return {
    standing,
    question,
    activity,
    undoneSteps,
    inPlace,
    next,
    /** The process that works on it. */
    lease: lease?.lapsed === false ? lease : undefined,
    /** A process that stopped without ending its work. */
    abandonedBy: abandoned ? lease?.holder : undefined,
    usage: await planUsage(reader, plan.id),
  };
}
