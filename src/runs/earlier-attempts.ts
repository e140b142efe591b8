/** The facts of earlier attempts at a plan for a new one: how far each came, and why it was given up. */
import { diffOf } from "../changes/diff-cache.ts";
import { planChanges } from "../changes/plan-changes.ts";
import { stepSummaries } from "../changes/step-records.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { revertReason } from "../plans/revert-reason.ts";
import type { Store } from "../store/port.ts";
import { findFailures } from "../store/tables/plans.ts";

/** Characters of an earlier attempt's patch: what was tried, not every line of it. */
const PATCH_LIMIT = 4_000;

export async function earlierAttempts(store: Store, plan: Plan): Promise<string[]> {
  const told: string[] = [];
  for (let attempt = 1; attempt < plan.attempt; attempt += 1) {
    const { failures, summaries, reason } = await store.read(async (reader) => ({
      failures: (await findFailures(reader, plan.id)).filter((failure) => failure.attempt === attempt),
      summaries: await stepSummaries(reader, plan.id, attempt),
      reason: await revertReason(reader, plan, attempt),
    }));
    const { patch } = await diffOf(store, await planChanges(store, plan.id, attempt));
    const parts = [
      `Attempt ${attempt} was given up${reason === undefined ? "." : `: ${reason}`}`,
      ...failures.map(({ message }) => `It failed: ${message}`),
      ...[...summaries].map(([step, summary]) => `Its step "${step}": ${summary}`),
      ...(patch === "" ? [] : [`Its changes, which are not in the sandbox now:\n${cut(patch)}`]),
    ];
    told.push(parts.join("\n  ").replaceAll("\n", "\n  "));
  }
  return told;
}

/** The work of the present attempt so far, for a conversation that begins in the middle of it. */
export async function workSoFar(store: Store, plan: Plan): Promise<string> {
  const { patch } = await diffOf(store, await planChanges(store, plan.id, plan.attempt));
  return patch === "" ? "" : `The changes so far:\n\n${cut(patch)}`;
}

function cut(patch: string): string {
  if (patch.length <= PATCH_LIMIT) return patch;
  return `${patch.slice(0, PATCH_LIMIT).toWellFormed()}\n[cut here: ${patch.length} characters in all]`;
}
