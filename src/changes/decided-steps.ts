/**
 * Connects decisions and the steps that carry them out: the steps to run, the steps that ran for a decision, and
 * everything that depends on one.
 */
import type { ChosenCall, ChosenWork, Decision } from "../domain/plan/decision.ts";
import { dependantsOf, type Touch } from "../domain/plan/dependants.ts";
import { NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { ChangesetId, DecisionId, PlanId } from "../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../domain/values/json.ts";
import { stepOrder } from "../domain/actor/tool-actor.ts";
import { exactChoices, findDecisions } from "../ledger/decisions.ts";
import { findInvocations } from "../ledger/invocations.ts";
import type { Store } from "../store/port.ts";
import { isHookStep, isResolveStep, isReviewStep, planChanges, recordedSteps } from "./plan-changes.ts";

export interface DecidedToolStep {
  readonly id: string;
  readonly tool: string;
  readonly params: JsonObject;
  /** The decision that this step carries out. */
  readonly decision: DecisionId;
}

/** A step whose calls are not known beforehand. */
export interface WorkStep {
  readonly id: string;
  readonly tool: undefined;
  readonly work: ChosenWork;
  readonly decision: DecisionId;
}

export type DecidedStep = DecidedToolStep | WorkStep;

/**
 * The decisions on steps, wave by wave, in program order. They are recorded in that order, and a rollback decides
 * again on the last of them only, so that the order in which they were made stays the program's.
 */
export function decisionWaves(decisions: readonly Decision[]): Decision[][] {
  const onSteps = decisions.filter(({ type, step }) => type === "strategy_choice" && step !== undefined);
  const byId = new Map(onSteps.map((decision) => [decision.id as string, decision]));
  return stepOrder({ steps: onSteps }).map((wave) => wave.flatMap((id) => byId.get(id) ?? []));
}

/** The steps of an attempt at the plan: exactly those that were decided, also when the actor has changed since. */
export async function decidedWaves(store: Store, planId: PlanId, attempt: number): Promise<DecidedStep[][]> {
  const decisions = await store.read((reader) => findDecisions(reader, planId, attempt));
  const exact = await exactChoices(store, decisions);
  return decisionWaves(decisions).map((wave) =>
    wave.map((decision) => {
      const step = { id: decision.step ?? decision.id, decision: decision.id };
      const chosen = exact.get(decision.id) ?? decision.chosen;
      if (!isCall(chosen)) return { ...step, tool: undefined, work: chosen as ChosenWork };
      const { tool, params } = chosen;
      return { ...step, tool, params };
    }),
  );
}

/** Whether what was chosen is one tool call, and nothing that is worked out on the way. */
export function isCall(chosen: JsonValue): chosen is ChosenCall {
  return typeof chosen === "object" && chosen !== null && "tool" in chosen && "params" in chosen;
}

/**
 * The recorded steps that carried out the decisions, in program order, with their changesets. A decision that a model
 * carried out did so by what it decided below it.
 */
export async function stepsOfDecisions(
  store: Store,
  planId: PlanId,
  attempt: number,
  decisions: ReadonlySet<DecisionId>,
): Promise<ReadonlyMap<string, ChangesetId>> {
  const invocations = await store.read((reader) => findInvocations(reader, planId, attempt));
  const own = new Set(invocations.filter((call) => decisions.has(call.decisionId)).map((call) => call.changesetId));
  const steps = [...(await recordedSteps(store, planId, attempt))];
  return new Map(steps.filter(([, changeset]) => own.has(changeset)));
}

/**
 * The decision and all that cannot stand without it: the decisions below it, those that need it, and those that later
 * changed a path that one of these changed. An undo of one of them must undo all of them.
 */
export async function dependants(
  store: Store,
  planId: PlanId,
  attempt: number,
  decisionId: DecisionId,
): Promise<ReadonlySet<DecisionId>> {
  const decisions = await store.read((reader) => findDecisions(reader, planId, attempt));
  if (!decisions.some(({ id }) => id === decisionId)) {
    throw new NotFoundError("decision", decisionId, { next: [nextStep("plan.tree", { plan: planId })] });
  }
  const changes = await planChanges(store, planId, attempt);
  const touches = changes.flatMap((change): Touch[] => {
    // A hook's change of a file is undone with the change it rewrote; the hook itself, and its other changes, stay.
    if (change.decision === undefined || isHookStep(change.step)) return [];
    const paths = change.fromPath === undefined ? [change.path] : [change.path, change.fromPath];
    return [{ decision: change.decision as DecisionId, resource: change.resource, paths }];
  });
  // Of a file that a review left in part, or that was merged by hand, the rest holds only with all changes of the file:
  // each depends on the others.
  const rewritten = changes.filter(({ step }) => isReviewStep(step) || isResolveStep(step));
  const reviewed = rewritten.map(({ resource, path }) => `${resource}\n${path}`);
  const tied = touches.filter(({ resource, paths }) => paths.some((path) => reviewed.includes(`${resource}\n${path}`)));
  return dependantsOf(decisionId, decisions, [...touches, ...tied]);
}
