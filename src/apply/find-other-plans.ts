/** The other plans that an undo or redo has to consider: those that changed the same paths of the same resources. */
import { landingHistory } from "../ledger/journal.ts";
import type { PlanOnResource, OtherPlan } from "./shared-worlds.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { findSandboxRecords, plansThatChanged, type SandboxRecord } from "../ledger/sandbox-records.ts";
import { planChanges, type PlanChange } from "../changes/plan-changes.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Reader, Store } from "../store/port.ts";
import { landedOf, landedOn } from "./landed-changes.ts";

/**
 * The plans that were applied to the resources of this one and changed the same paths, by this one's aliases. The
 * caller holds the resources' kernel locks, so no other landing comes in between.
 */
export async function findOtherPlans(
  store: Store,
  plan: Plan,
  records: readonly SandboxRecord[],
  entries: readonly PlanChange[],
): Promise<ReadonlyMap<string, OtherPlan[]>> {
  const found = new Map<string, OtherPlan[]>();
  for (const record of records) {
    const own = entries.filter(({ resource }) => resource === record.alias);
    const paths = new Set(own.flatMap(({ path, fromPath }) => [path, fromPath ?? path]));
    const others: OtherPlan[] = [];
    for (const id of await store.read((reader) => plansThatChanged(reader, plan.id, record.path, [...paths]))) {
      const other = await otherPlan(store, id, record);
      if (other !== undefined) others.push(other);
    }
    found.set(record.alias, others);
  }
  return found;
}

/** Which of the plan's steps were applied after each of its landings. */
export async function stepHistory(
  reader: Reader,
  planId: PlanId,
  entries: readonly PlanChange[],
): Promise<PlanOnResource["history"]> {
  const steps = [...new Set(entries.map(({ step }) => step))];
  return (await landingHistory(reader, planId)).map(({ sequence, undoneSteps }) => ({
    sequence,
    steps: new Set(steps.filter((step) => !undoneSteps.has(step))),
  }));
}

/** Undefined for a plan that was never applied there, or only to another branch. */
async function otherPlan(store: Store, planId: PlanId, place: SandboxRecord): Promise<OtherPlan | undefined> {
  const plan = await store.read((reader) => findPlan(reader, planId));
  if (plan === undefined) return undefined;
  const all = await planChanges(store, plan.id, plan.attempt);
  return store.read(async (reader) => {
    const landings = await landedOf(reader, plan, all);
    if (landings === undefined) return undefined;
    const records = await findSandboxRecords(reader, plan.id, plan.attempt);
    const record = records.map((one) => landedOn(one, landings)).find((one) => isSamePlace(one, place));
    if (record === undefined) return undefined;
    const entries = all.filter(({ resource }) => resource === record.alias);
    const applied = landings.find(({ alias }) => alias === record.alias);
    return { planId, record, entries, applied, history: await stepHistory(reader, planId, entries) };
  });
}

function isSamePlace(a: SandboxRecord, b: SandboxRecord): boolean {
  return a.path === b.path && a.ref === b.ref && (a.baseCommit === undefined) === (b.baseCommit === undefined);
}
