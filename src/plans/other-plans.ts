import { landingHistory } from "../apply/journal.ts";
import type { LandedPlan, OtherPlan } from "../apply/other-plans.ts";
import type { PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { findSandboxRecords, type SandboxRecord } from "../execution/sandbox-record.ts";
import { planChanges, type PlanChange } from "../execution/step-runner.ts";
import { findPlan } from "../store/plans.ts";
import type { Reader, Store } from "../store/store.ts";
import { landedOf } from "./landed.ts";

/**
 * The plans that landed in the resources of this one and changed the same paths, by this one's aliases. Whoever asks holds the resources'
 * kernel locks, so no other landing comes in between.
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
    for (const id of await store.read((reader) => plansOnPaths(reader, plan.id, record.path, [...paths]))) {
      const other = await otherPlan(store, id, record);
      if (other !== undefined) others.push(other);
    }
    found.set(record.alias, others);
  }
  return found;
}

/** Which of the plan's steps were in after each of its landings. */
export async function stepHistory(
  reader: Reader,
  planId: PlanId,
  entries: readonly PlanChange[],
): Promise<LandedPlan["history"]> {
  const steps = [...new Set(entries.map(({ step }) => step))];
  return (await landingHistory(reader, planId)).map(({ sequence, undoneSteps }) => ({
    sequence,
    steps: new Set(steps.filter((step) => !undoneSteps.has(step))),
  }));
}

/** As many as a statement takes without trouble. */
const PATHS_AT_ONCE = 400;

/** The other plans whose sandboxes were made of the place, and which changed one of the paths. */
async function plansOnPaths(reader: Reader, own: PlanId, place: string, paths: readonly string[]): Promise<PlanId[]> {
  const found = new Set<PlanId>();
  for (let start = 0; start < paths.length; start += PATHS_AT_ONCE) {
    const some = paths.slice(start, start + PATHS_AT_ONCE);
    const marks = some.map(() => "?").join(", ");
    const rows = await reader.all<{ plan_id: PlanId }>(
      `SELECT DISTINCT sandboxes.plan_id FROM sandboxes
         JOIN changesets ON changesets.plan_id = sandboxes.plan_id
         JOIN change_entries ON change_entries.changeset_id = changesets.id AND change_entries.resource = sandboxes.alias
        WHERE sandboxes.path = ? AND sandboxes.plan_id <> ?
          AND (change_entries.path IN (${marks}) OR change_entries.from_path IN (${marks}))`,
      place,
      own,
      ...some,
      ...some,
    );
    for (const { plan_id: id } of rows) found.add(id);
  }
  return [...found];
}

/** Undefined for a plan of which nothing ever landed there, or only on another branch. */
async function otherPlan(store: Store, planId: PlanId, place: SandboxRecord): Promise<OtherPlan | undefined> {
  const plan = await store.read((reader) => findPlan(reader, planId));
  if (plan === undefined) return undefined;
  const all = await planChanges(store, plan.id, plan.attempt);
  return store.read(async (reader) => {
    const record = (await findSandboxRecords(reader, plan.id, plan.attempt)).find((one) => isSamePlace(one, place));
    const landings = await landedOf(reader, plan, all);
    if (record === undefined || landings === undefined) return undefined;
    const entries = all.filter(({ resource }) => resource === record.alias);
    const applied = landings.find(({ alias }) => alias === record.alias);
    return { planId, record, entries, applied, history: await stepHistory(reader, planId, entries) };
  });
}

function isSamePlace(a: SandboxRecord, b: SandboxRecord): boolean {
  return a.path === b.path && a.ref === b.ref && (a.baseCommit === undefined) === (b.baseCommit === undefined);
}
