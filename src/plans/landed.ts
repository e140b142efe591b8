import { findAppliedJournal, stepLandings } from "../apply/journal.ts";
import type { Landing } from "../apply/landing.ts";
import type { Plan } from "../domain/plan.ts";
import { statusKey, target } from "../domain/transitions.ts";
import { netChanges } from "../execution/net-changes.ts";
import type { PlanChange } from "../execution/step-runner.ts";
import type { Reader } from "../store/store.ts";

/**
 * What there is in the resources to take out or to bring back: what apply landed or, of a plan that works in place and stands still,
 * what its steps did. Undefined when there can be nothing.
 */
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

/** The steps of each resource taken together, as if they had landed at once. */
function inPlaceLandings(steps: readonly Landing[], entries: readonly PlanChange[]): Landing[] {
  return [...Map.groupBy(steps, ({ alias }) => alias)].map(([alias, landings]) => {
    const net = netChanges(entries.filter(({ resource }) => resource === alias));
    const files = [...net].map(([path, { before, after }]) => ({ path, before, after }));
    const newDirectories = [...new Set(landings.flatMap((landing) => landing.newDirectories))].sort();
    return { alias, root: landings[0]?.root ?? "", git: undefined, files, newDirectories };
  });
}
