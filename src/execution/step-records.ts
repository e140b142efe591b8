import type { ChangesetId, DecisionId, PlanId } from "../domain/ids.ts";
import type { Phase } from "../domain/transitions.ts";
import type { Reader, Store } from "../store/store.ts";

/**
 * What an execution recorded, by its place in the program. Not only tool calls have one: the answers of models, what they were shown and
 * the ends of steps do too, so that a rollback knows what lies behind a checkpoint.
 */

/** A position in the program: wave, position in it, then whatever tells apart what a step does. Compared from left to right. */
export type Order = readonly number[];

/** Anything that an attempt's execution recorded with a position in the program. */
export interface PlacedRecord {
  readonly key: string;
  readonly order: Order;
  /** Of a tool call or a hook that was not skipped. */
  readonly changeset?: ChangesetId;
  /** Of a question to a model. */
  readonly decision?: DecisionId;
  /** Of a step that ended. */
  readonly summary?: string;
}

/** All of it that counts, in program order; the hooks behind the others. */
export async function placedRecords(
  reader: Reader,
  planId: PlanId,
  attempt: number,
  phase: Phase = "execute",
): Promise<PlacedRecord[]> {
  const rows = await reader.all<{ key: string; result: string }>(
    `SELECT key, result FROM steps WHERE plan_id = ? AND phase = ? AND attempt = ?
        AND (key LIKE 'tool-step:%' OR key LIKE 'hook:%' OR key LIKE 'ask:%' OR key LIKE 'context:%' OR key LIKE 'once:%'
          OR key LIKE 'worked:%' OR key LIKE 'gave-up:%')`,
    planId,
    phase,
    attempt,
  );
  const records = rows.map(({ key, result }) => ({ ...(JSON.parse(result) as Omit<PlacedRecord, "key">), key }));
  return records.sort((a, b) => comparedOrder(a.order, b.order));
}

export function comparedOrder(a: Order, b: Order): number {
  const first = a.findIndex((number, index) => number !== b[index]);
  if (first === -1) return a.length - b.length;
  return (a[first] ?? 0) - (b[first] ?? -1);
}

/** What the steps that ended said of themselves, by their ids. */
export async function stepSummaries(
  reader: Reader,
  planId: PlanId,
  attempt: number,
): Promise<ReadonlyMap<string, string>> {
  const records = await placedRecords(reader, planId, attempt);
  return new Map(
    records.flatMap(({ key, summary }) => (summary === undefined ? [] : [[key.slice(workKey("").length), summary]])),
  );
}

/** The steps that need not be run again. */
export async function endedSteps(store: Store, planId: PlanId, attempt: number): Promise<ReadonlySet<string>> {
  const records = await store.read((reader) => placedRecords(reader, planId, attempt));
  return new Set(records.map(({ key }) => key.replace(/^(?:tool-step|worked):/, "")));
}

export function workKey(id: string): string {
  return `worked:${id}`;
}

/** The decided step that a recorded call is part of: what a step does on the way is named behind a slash. */
export function planStepOf(call: string): string {
  return call.split("/", 1)[0] ?? call;
}
