/**
 * The turns of a session: what was asked, what was answered, what became of it. Read from the records of its plans,
 * which are the only place where they are kept.
 */
import { diffOf } from "../changes/diff-cache.ts";
import type { PlanDiff } from "../changes/diff-of-plan.ts";
import { planChanges } from "../changes/plan-changes.ts";
import { placedRecords } from "../changes/step-records.ts";
import type { DecisionId, SessionId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { SessionPlan, SharedPart } from "../domain/plan/session.ts";
import { standingOf, type Standing } from "../domain/plan/standing.ts";
import { findDecisions, findInterventions } from "../ledger/decisions.ts";
import { findAppliedJournal } from "../ledger/journal.ts";
import type { Landing } from "../ledger/landing.ts";
import { findLease } from "../ledger/leases.ts";
import { openQuestion, type PlanQuestion } from "../ledger/questions.ts";
import { isFollowUpStep } from "../plans/follow-up.ts";
import { guidanceOf } from "../plans/plan-questions.ts";
import type { Reader, Store } from "../store/port.ts";
import { findPlan } from "../store/tables/plans.ts";
import { sessionPlans } from "../store/tables/sessions.ts";

/** A request and the answer to it in words. A plan has one for its request, and one for each message after its end. */
interface Exchange {
  readonly request: string;
  readonly answer: string | undefined;
  readonly at: number;
}

/** Words of a person on the way: guidance, or the answer to a question of the plan. */
interface Remark {
  readonly question: string | undefined;
  readonly text: string;
  readonly at: number;
}

/** One plan of a session. */
export interface SessionTurn {
  readonly place: SessionPlan;
  readonly plan: Plan;
  readonly exchanges: readonly [Exchange, ...Exchange[]];
  readonly remarks: readonly Remark[];
  readonly standing: Standing;
  readonly question: PlanQuestion | undefined;
  readonly diff: PlanDiff;
  /** Where its changes were applied, for a plan that was. */
  readonly landings: readonly Landing[];
}

export async function sessionTurns(store: Store, id: SessionId): Promise<SessionTurn[]> {
  const places = await store.read((reader) => sessionPlans(reader, id));
  const turns: SessionTurn[] = [];
  for (const place of places) turns.push(await turnAt(store, place));
  return turns;
}

export async function turnAt(store: Store, place: SessionPlan): Promise<SessionTurn> {
  const { planId, shared } = place;
  const facts = await store.read(async (reader) => {
    const plan = await findPlan(reader, planId);
    if (plan === undefined) throw new Error(`the plan ${planId} of a session is not there`);
    const question = await openQuestion(reader, planId);
    const lease = await findLease(reader, planId);
    const landings = plan.state === "applied" ? ((await findAppliedJournal(reader, planId))?.landings ?? []) : [];
    return { plan, question, lease, landings, said: await saidIn(reader, plan, shared) };
  });
  const { plan, question, lease, landings, said } = facts;
  const diff = await diffOf(store, await planChanges(store, planId, shared?.attempt ?? plan.attempt));
  const standing = standingOf(plan, {
    undone: plan.undoneAt !== undefined,
    asks: question !== undefined,
    isWorkedOn: plan.state === "processing" && lease?.lapsed === false,
    hasChanges: diff.files.length > 0,
  });
  return { place, plan, ...said, standing, question, diff, landings };
}

async function saidIn(
  reader: Reader,
  plan: Plan,
  shared: SharedPart | undefined,
): Promise<Pick<SessionTurn, "exchanges" | "remarks">> {
  const { id, description: request, createdAt: at } = plan;
  const attempt = shared?.attempt ?? plan.attempt;
  const last = shared?.decisions ?? Infinity;
  const known = new Set<DecisionId>(
    (await findInterventions(reader, id)).filter(({ sequence }) => sequence <= last).map((one) => one.id),
  );
  const guidance = (await guidanceOf(reader, plan)).filter(({ decision }) => known.has(decision));
  const answers = await answersIn(reader, plan, attempt, last);
  const followUps = guidance.filter(({ isStep }) => isStep);
  // Each follow-up has the step that it became; what ended before the first of them answers the request.
  const later = followUps.map((one, index): Exchange => ({
    request: one.text,
    answer: answers.followUps[index],
    at: one.at,
  }));
  return {
    exchanges: [{ request, answer: answers.first, at }, ...later],
    remarks: guidance
      .filter(({ isStep }) => !isStep)
      .map((one) => ({ question: one.question, text: one.text, at: one.at })),
  };
}

/** The summaries with which the steps ended: the last of the request's own steps, and that of each follow-up. */
async function answersIn(
  reader: Reader,
  plan: Plan,
  attempt: number,
  last: number,
): Promise<{ readonly first: string | undefined; readonly followUps: readonly (string | undefined)[] }> {
  const decisions = (await findDecisions(reader, plan.id, attempt)).filter(({ sequence }) => sequence <= last);
  const steps = new Set(decisions.flatMap(({ step }) => step ?? []));
  const ended = (await placedRecords(reader, plan.id, attempt)).flatMap((record) =>
    record.kind === "step_end" && steps.has(record.id) ? [record] : [],
  );
  const summaries = new Map(ended.map(({ id, summary }) => [id, summary.trim() === "" ? undefined : summary.trim()]));
  const own = [...summaries.keys()].findLast((id) => !isFollowUpStep(id));
  const followUps = [...steps].filter(isFollowUpStep);
  return {
    first: own === undefined ? undefined : summaries.get(own),
    followUps: followUps.map((step) => summaries.get(step)),
  };
}
