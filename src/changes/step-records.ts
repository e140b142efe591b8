/**
 * The records of a plan's execution in the order of the program. Tool calls have a position in it, and so have the
 * answers of models, the contexts they were shown and the ends of steps, so that a rollback knows which records lie
 * behind a checkpoint.
 */
import type { PlanId } from "../domain/names/ids.ts";
import type { Phase } from "../domain/plan/transitions.ts";
import type { Order, StepRecord } from "../ledger/records.ts";
import { findStepRecords } from "../ledger/steps.ts";
import type { Reader, Store } from "../store/port.ts";

export type { Order } from "../ledger/records.ts";

/** All records that count, in program order; the hooks behind the others. */
export async function placedRecords(
  reader: Reader,
  planId: PlanId,
  attempt: number,
  phase: Phase = "execute",
): Promise<StepRecord[]> {
  const records = await findStepRecords(reader, { id: planId, attempt }, phase);
  return records.sort((a, b) => comparedOrder(a.order, b.order));
}

export function comparedOrder(a: Order, b: Order): number {
  const first = a.findIndex((number, index) => number !== b[index]);
  if (first === -1) return a.length - b.length;
  return (a[first] ?? 0) - (b[first] ?? -1);
}

/** The summaries of the steps that ended, by the steps' ids. */
export async function stepSummaries(
  reader: Reader,
  planId: PlanId,
  attempt: number,
): Promise<ReadonlyMap<string, string>> {
  const records = await placedRecords(reader, planId, attempt);
  return new Map(records.flatMap((record) => (record.kind === "step_end" ? [[record.id, record.summary]] : [])));
}

/** The steps that need not be run again. */
export async function endedSteps(store: Store, planId: PlanId, attempt: number): Promise<ReadonlySet<string>> {
  const records = await store.read((reader) => placedRecords(reader, planId, attempt));
  return new Set(records.flatMap(({ kind, id }) => (kind === "tool_call" || kind === "step_end" ? [id] : [])));
}

/** The wave in which records of these steps are; undefined when there are none yet. */
export async function waveOf(
  reader: Reader,
  plan: { readonly id: PlanId; readonly attempt: number },
  steps: ReadonlySet<string>,
): Promise<number | undefined> {
  const records = await placedRecords(reader, plan.id, plan.attempt);
  return records.find(({ id, kind }) => kind !== "hook" && steps.has(planStepOf(id)))?.order[0];
}

/** The number of a wave that comes behind everything that is recorded. */
export async function nextWave(
  reader: Reader,
  plan: { readonly id: PlanId; readonly attempt: number },
): Promise<number> {
  const records = await placedRecords(reader, plan.id, plan.attempt);
  return 1 + Math.max(-1, ...records.map(({ order }) => order[0] ?? 0));
}

/** The decided step that a recorded call is part of: the calls of a step are named behind a slash. */
export function planStepOf(call: string): string {
  return call.split("/", 1)[0] ?? call;
}
