/**
 * The changes in the resources that can be undone or redone: those that apply landed or, for a plan that works in place
 * and has stopped, those of its steps.
 */
import { findAppliedJournal, stepLandings } from "../ledger/journal.ts";
import type { Landing } from "../ledger/landing.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey, target } from "../domain/plan/transitions.ts";
import { netChanges } from "../changes/net-changes.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import type { Reader } from "../store/port.ts";

/** Undefined when there can be none. */
export async function landedOf(
  reader: Reader,
  plan: Plan,
  entries: readonly PlanChange[],
): Promise<readonly Landing[] | undefined> {
  if (target(statusKey(plan), "undoPlan") === undefined) return undefined;
  const steps = await stepLandings(reader, plan);
  if (steps.length > 0) return inPlaceLandings(steps, entries);
  if (statusKey(plan) !== "apply/applied") return undefined;
  return (await findAppliedJournal(reader, plan.id))?.landings;
}

/** The facts of a sandbox with the branch on which its changes landed, where apply made one for them. */
export function landedOn(record: SandboxRecord, landings: readonly Landing[]): SandboxRecord {
  const made = landings.find(({ alias }) => alias === record.alias)?.git;
  return made?.created === true ? { ...record, ref: made.ref } : record;
}

/** The steps of each resource together, as if they had landed at once. */
function inPlaceLandings(steps: readonly Landing[], entries: readonly PlanChange[]): Landing[] {
  return [...Map.groupBy(steps, ({ alias }) => alias)].map(([alias, landings]) => {
    const net = netChanges(entries.filter(({ resource }) => resource === alias));
    const files = [...net].map(([path, { before, after }]) => ({ path, before, after }));
    const newDirectories = [...new Set(landings.flatMap((landing) => landing.newDirectories))].sort();
    return { alias, root: landings[0]?.root ?? "", git: undefined, files, newDirectories };
  });
}
