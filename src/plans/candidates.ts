/**
 * Several plans of one request: made in one transaction, so that no crash leaves a part of them, and chosen by one
 * compare-and-swap, so that however many callers choose, one of them wins.
 */
import { ConflictError, NotFoundError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Microdollars } from "../domain/money/money.ts";
import { idPrefix, onlyOne } from "../domain/names/id-prefix.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { CandidateGroup, ChoiceRule } from "../domain/plan/candidate.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { stateText } from "../domain/plan/standing.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import {
  findCandidateGroup,
  groupIdsByPrefix,
  groupOfPlan,
  insertCandidateGroup,
  markChosen,
  notChosen,
} from "../ledger/candidate-records.ts";
import { findLease } from "../ledger/leases.ts";
import { recordSystemEvent } from "../ledger/system-events.ts";
import type { Reader, Store } from "../store/port.ts";
import { findPlan, planIdsByPrefix } from "../store/tables/plans.ts";
import { sessionOfPlan } from "../store/tables/sessions.ts";
import { inPlaceOf } from "./in-place-rules.ts";
import { joinSession } from "./join-session.ts";
import { recordSourceOf, type ServiceParts } from "./transition.ts";
import { argumentsFor, makePlan, requireAction, type UseActionInput } from "./use-action.ts";

export interface CandidateWishes {
  /** One for each candidate, in their order. */
  readonly inputs: readonly UseActionInput[];
  readonly cap: Microdollars | undefined;
  readonly judge: string | undefined;
  readonly rule: ChoiceRule | undefined;
  /** A session begins there with the one that is chosen. */
  readonly directory?: string | undefined;
}

export async function makeCandidates(
  parts: ServiceParts,
  wishes: CandidateWishes,
): Promise<{ readonly group: CandidateGroup; readonly plans: readonly Plan[] }> {
  const { store } = parts;
  const recordSource = recordSourceOf(parts);
  const actions = await store.read((reader) =>
    Promise.all(wishes.inputs.map(({ action }) => requireAction(reader, action))),
  );
  // Outside of the transaction: the patterns of an action are a user's regular expressions.
  const values = wishes.inputs.map((input, index) => {
    const action = actions[index];
    if (action === undefined) throw new Error("each candidate has an action");
    return { input, values: argumentsFor(action, input) };
  });
  return store.transaction(async (tx) => {
    const plans: Plan[] = [];
    for (const one of values) plans.push(await makePlan(tx, recordSource, one.input, one.values));
    for (const plan of plans) await requireSeparateFiles(tx, plan);
    const id = recordSource.ids();
    const { cap, judge, rule, directory } = wishes;
    const ids = plans.map((plan) => plan.id);
    await insertCandidateGroup(tx, { id, plans: ids, cap, judge, rule, directory });
    const details = { group: id, plans: ids, judge: judge ?? null, rule: rule ?? null };
    await recordSystemEvent(tx, { type: "candidates.made", user: recordSource.user, planId: undefined, details });
    const group = await findCandidateGroup(tx, id);
    if (group === undefined) throw new Error("the group was just made");
    return { group, plans };
  });
}

/** In place they would work on the same files. */
async function requireSeparateFiles(reader: Reader, plan: Plan): Promise<void> {
  const [place] = await inPlaceOf(reader, plan);
  if (place === undefined) return;
  throw new UsageError(
    `The resource "${place.alias}" is worked on in place, so several candidates would change the same files.`,
    { kept: "Nothing was written.", next: [{ text: "leave out --best-of, and name one --actor" }] },
  );
}

/** By the id of the group or of one of its plans, or by a beginning of either. */
export async function candidateGroupNamed(store: Store, text: string): Promise<CandidateGroup> {
  const next = [nextStep("plan.list")];
  const wanted = idPrefix("plan or candidate group", text, next);
  return store.read(async (reader) => {
    const groups = (await groupIdsByPrefix(reader, wanted, 6)).map((id) => ({ id, group: true }));
    const plans = (await planIdsByPrefix(reader, wanted, 6)).map((id) => ({ id, group: false }));
    const found = onlyOne("plan or candidate group", wanted, [...groups, ...plans], next);
    const group = found.group
      ? await findCandidateGroup(reader, found.id)
      : await groupOfPlan(reader, found.id as PlanId);
    if (group === undefined) throw noCandidateError(found.id);
    return group;
  });
}

export function noCandidateError(plan: string): UsageError {
  return new UsageError(`The plan ${plan} is not one of several candidates.`, {
    kept: "Nothing was changed.",
    next: [nextStep("plan.diff", { plan }), nextStep("plan.apply", { plan })],
  });
}

/**
 * Chooses the plan among the candidates of its group: the first caller wins, and a caller that wants another plan after
 * that gets a `ConflictError`. Choosing the chosen one again changes nothing, so that a killed choice can continue.
 */
export async function chooseCandidate(parts: ServiceParts, planId: PlanId): Promise<CandidateGroup> {
  const { user, ids } = recordSourceOf(parts);
  return parts.store.transaction(async (tx) => {
    const group = await groupOfPlan(tx, planId);
    if (group === undefined) throw noCandidateError(planId);
    const plan = await findPlan(tx, planId);
    if (plan === undefined) throw new NotFoundError("plan", planId);
    if (statusKey(plan) !== "execute/complete" && plan.phase !== "apply") throw notExecutedError(plan);
    if (await markChosen(tx, group.id, planId)) {
      const details = { group: group.id, candidates: group.plans };
      await recordSystemEvent(tx, { type: "candidate.chosen", user, planId, details });
      // The conversation goes on with the chosen one; the others are part of none.
      if (group.directory !== undefined && (await sessionOfPlan(tx, planId)) === undefined)
        await joinSession(tx, ids, plan, { kind: "new", directory: group.directory });
      return (await findCandidateGroup(tx, group.id)) ?? group;
    }
    if (group.chosen?.plan !== planId) throw chosenBeforeError(group, planId);
    return group;
  });
}

/** For a plan that is applied directly: it is chosen unless another one was, and then it is applied as well. */
export async function chooseIfOpen(parts: ServiceParts, planId: PlanId): Promise<void> {
  const group = await parts.store.read((reader) => groupOfPlan(reader, planId));
  if (group === undefined || group.chosen !== undefined) return;
  await chooseCandidate(parts, planId).catch((error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
  });
}

/** A candidate that is not needed any more. */
export interface PassedOver {
  readonly plan: PlanId;
  readonly version: number;
  readonly chosen: PlanId;
}

/**
 * The candidates that were passed over: another one is applied, was not undone, and no process works on them. They stay
 * until the user cleans up.
 */
export async function passedOverCandidates(reader: Reader): Promise<PassedOver[]> {
  const found: PassedOver[] = [];
  for (const [planId, chosen] of await notChosen(reader)) {
    const [plan, winner] = [await findPlan(reader, planId), await findPlan(reader, chosen)];
    const settled = winner !== undefined && statusKey(winner) === "apply/applied" && winner.undoneAt === undefined;
    const worked = (await findLease(reader, planId))?.lapsed === false;
    if (plan !== undefined && settled && !worked) found.push({ plan: planId, version: plan.version, chosen });
  }
  return found;
}

function notExecutedError(plan: Plan): UsageError {
  return new UsageError(`The plan ${plan.id} is ${stateText(plan)}: only an executed candidate can be chosen.`, {
    kept: "Nothing was changed.",
    next: [nextStep("plan.execute", { plan: plan.id }), nextStep("plan.compare", { id: plan.id })],
  });
}

function chosenBeforeError({ chosen }: CandidateGroup, wanted: PlanId): ConflictError {
  const actual = chosen?.plan ?? "none";
  return new ConflictError(
    `The candidate ${actual} was chosen already.`,
    { expected: "no candidate is chosen yet", actual },
    {
      kept: "The choice stays as it is, and nothing was changed.",
      next: [
        nextStep("plan.compare", { id: wanted }),
        nextStep("plan.apply", { plan: wanted }, "to apply this one as well"),
      ],
    },
  );
}
