/**
 * A change of the strategy while it is carried out. The steps of the present wave and before have begun and stay; those
 * that come later are superseded by the new ones, in the transaction that records the revision. Whether a person must
 * agree first is for the plan's profile to say (`auto_strategy_revision`).
 */
import type { Revision } from "../actors/loop/actor-effects.ts";
import { decisionWaves } from "../changes/decided-steps.ts";
import { stepOrder } from "../domain/actor/tool-actor.ts";
import { monotonicIds, type DecisionId } from "../domain/names/ids.ts";
import { storable } from "../domain/text/text.ts";
import { findDecisions, insertDecision, supersedeDecisions } from "../ledger/decisions.ts";
import { assertHeld, type Lease } from "../ledger/leases.ts";
import { beforeRevision } from "../plans/autonomy.ts";
import type { Tx } from "../store/port.ts";
import { thoughtOf, workOf } from "./tool-strategy.ts";

/** Why the revision does not take place: the user does not agree. Undefined when it may. */
export async function refusalOf(
  lease: Lease<"execute">,
  revision: Revision & { readonly key: string },
  user: string,
): Promise<string | undefined> {
  const { key, reason, steps } = revision;
  const list = steps.map(({ id, description }) => `${id} (${description})`).join("; ") || "no further steps";
  const question = storable(`The strategy should change: ${reason} Then: ${list}. Agreed?`, 2_000);
  const risk = Math.max(0, ...steps.map((step) => step.risk ?? 0.5));
  const answer = await beforeRevision(lease, { key: `revise:${key}`, question, risk }, user);
  if (answer === undefined || AGREED.test(answer)) return undefined;
  return `The user does not agree: ${answer}`;
}

const AGREED = /^\s*(?:y(?:es)?|agreed|ok(?:ay)?|sure|go ahead|do it)\b/i;

/** Called in the transaction of the revision's own record. `step` is the one that revises. */
export async function reviseSteps(
  tx: Tx,
  lease: Lease<"execute">,
  { step, revision }: { readonly step: string; readonly revision: Revision },
): Promise<void> {
  const { plan, phase } = lease;
  await assertHeld(tx, lease);
  const decisions = await findDecisions(tx, plan.id, plan.attempt);
  const waves = decisionWaves(decisions);
  const present = waves.findIndex((wave) => wave.some((decision) => decision.step === step));
  const begun = waves.slice(0, present + 1).flat();
  await supersedeDecisions(tx, waves.slice(present + 1).flat(), revision.decision);
  const ids = monotonicIds();
  const known = new Map<string, DecisionId>(
    begun.flatMap(({ step: id, id: at }) => (id === undefined ? [] : [[id, at]])),
  );
  // Behind everything that began, also where the model did not say so.
  const before = (waves[present] ?? []).map(({ id }) => id);
  const byId = new Map(revision.steps.map((one) => [one.id, one]));
  const own = revision.steps.map((one) => ({ ...one, needs: one.needs.filter((need) => byId.has(need)) }));
  for (const id of stepOrder({ steps: own }).flat()) {
    const one = byId.get(id);
    if (one === undefined) continue;
    const needs = one.needs.flatMap((need) => known.get(need) ?? []);
    const decision = await insertDecision(tx, ids, {
      planId: plan.id,
      attempt: plan.attempt,
      phase,
      type: "strategy_choice",
      step: id,
      question: `What does the step "${id}" do?`,
      chosen: workOf(one),
      parent: revision.decision,
      needs: [...new Set([...before, ...needs])],
      thought: thoughtOf(one),
    });
    known.set(id, decision);
  }
}
