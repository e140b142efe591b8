/**
 * The changes of a plan's recorded steps. A tool call and a hook are recorded once, each with the changeset that
 * holds its changes; exactly the changes of the recorded steps of the plan's current attempt count, in program order.
 */
import type { ChangeEntry } from "../domain/plan/change-entry.ts";
import type { ChangesetId, PlanId } from "../domain/names/ids.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import { canChangeFiles, changingStepName } from "../ledger/records.ts";
import type { Reader, Store } from "../store/port.ts";
import { placedRecords, type Order } from "./step-records.ts";

/** The steps of an actor have names of letters, digits, "_" and "-". */
export function isHookStep(id: string): boolean {
  return id.startsWith("hook:");
}

/**
 * The change that a review makes when only a part of the plan is applied. Like a hook's it rewrites what the steps
 * left, and goes when they go.
 */
export const REVIEW_STEP = "hook::review";

export function isReviewStep(id: string): boolean {
  return id === REVIEW_STEP;
}

/** The change by which conflicts with the target were resolved. It rewrites what the steps left, as a hook does. */
const RESOLVE_STEP = "hook::resolve:";

export function resolveStep(number: number): string {
  return `${RESOLVE_STEP}${number}`;
}

export function isResolveStep(id: string): boolean {
  return id.startsWith(RESOLVE_STEP);
}

/** A recorded tool call or hook that has a changeset. */
export interface ChangingStep {
  readonly kind: "tool_call" | "hook";
  readonly id: string;
  readonly changeset: ChangesetId;
  readonly order: Order;
}

/**
 * The tool calls and hooks of an attempt that are not superseded, in program order; hooks come after the others, sorted
 * by their whole keys.
 */
export async function stepRecords(reader: Reader, planId: PlanId, attempt: number): Promise<ChangingStep[]> {
  const records = await placedRecords(reader, planId, attempt);
  return records.flatMap((record) => {
    if (!canChangeFiles(record) || record.changeset === undefined) return [];
    const { kind, changeset, order } = record;
    return [{ kind, id: changingStepName(record), changeset, order }];
  });
}

/** The recorded steps of an attempt in program order, with their changesets. */
export async function recordedSteps(
  store: Store,
  planId: PlanId,
  attempt: number,
): Promise<ReadonlyMap<string, ChangesetId>> {
  const records = await store.read((reader) => stepRecords(reader, planId, attempt));
  return new Map(records.map(({ id, changeset }) => [id, changeset]));
}

/** A change together with the step that made it. */
export interface PlanChange extends ChangeEntry {
  readonly step: string;
}

/** Every change of the plan's current attempt that counts, step by step. */
export async function planChanges(store: Store, planId: PlanId, attempt: number): Promise<PlanChange[]> {
  const changesets = new ChangesetStore(store);
  const changes: PlanChange[] = [];
  for (const [step, id] of await recordedSteps(store, planId, attempt)) {
    for (const entry of await changesets.entries(id)) changes.push({ ...entry, step });
  }
  return changes;
}
