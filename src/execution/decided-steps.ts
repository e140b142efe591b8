import type { ChosenCall, ChosenWork, Decision } from "../domain/decision.ts";
import { dependantsOf, type Touch } from "../domain/dependants.ts";
import { NotFoundError } from "../domain/errors.ts";
import type { ChangesetId, DecisionId, PlanId } from "../domain/ids.ts";
import type { JsonValue } from "../domain/json.ts";
import { stepOrder } from "../domain/tool-actor.ts";
import { exactChoices, findDecisions } from "../ledger/decisions.ts";
import { findInvocations } from "../ledger/invocations.ts";
import type { Store } from "../store/store.ts";
import { isHookStep, planChanges, recordedSteps, type DecidedStep } from "./step-runner.ts";

/** Between decisions and the steps that carry them out: what is to run, what ran for a decision, and what hangs on one. */

/**
 * The decisions on steps, wave by wave, in program order. They are recorded in that order, and a rollback decides again on the last
 * of them only, so that the order in which they were made stays the program's.
 */
export function decisionWaves(decisions: readonly Decision[]): Decision[][] {
  const onSteps = decisions.filter(({ type, step }) => type === "strategy_choice" && step !== undefined);
  const byId = new Map(onSteps.map((decision) => [decision.id as string, decision]));
  return stepOrder({ steps: onSteps }).map((wave) => wave.flatMap((id) => byId.get(id) ?? []));
}

/** What an attempt at the plan is to run: exactly what was decided, whatever became of the actor since. */
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

/** The recorded steps that carried out the decision, in program order, with their changesets. */
export async function stepsOfDecision(
  store: Store,
  planId: PlanId,
  attempt: number,
  decisionId: DecisionId,
): Promise<ReadonlyMap<string, ChangesetId>> {
  return stepsOfDecisions(store, planId, attempt, new Set([decisionId]));
}

/** The same for several: a decision that a model carried out did so by what it decided below it. */
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
 * The decision and all that cannot stand without it: what was decided below it, what needs it, and what later changed a path that one
 * of these changed. Whoever takes one of them back must take all of them back.
 */
export async function dependants(
  store: Store,
  planId: PlanId,
  attempt: number,
  decisionId: DecisionId,
): Promise<ReadonlySet<DecisionId>> {
  const decisions = await store.read((reader) => findDecisions(reader, planId, attempt));
  if (!decisions.some(({ id }) => id === decisionId)) {
    throw new NotFoundError("decision", decisionId, { next: [`agents plan tree ${planId}`] });
  }
  const touches = (await planChanges(store, planId, attempt)).flatMap((change): Touch[] => {
    // What a hook made of a file goes with the change it was made of; the hook itself, and the rest it did, stay.
    if (change.decision === undefined || isHookStep(change.step)) return [];
    const paths = change.fromPath === undefined ? [change.path] : [change.path, change.fromPath];
    return [{ decision: change.decision as DecisionId, resource: change.resource, paths }];
  });
  return dependantsOf(decisionId, decisions, touches);
}
