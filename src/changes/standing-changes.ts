/**
 * Of a plan's changes, those that are there when only these steps are. A hook rewrites the files that the steps
 * before it left: its change of a file is undone with the step's change of that file, and its changes of other files
 * stay.
 */
import { isHookStep, type PlanChange } from "./plan-changes.ts";

export function standingChanges(changes: readonly PlanChange[], steps: ReadonlySet<string>): PlanChange[] {
  const stands = new Map<string, boolean>();
  return changes.filter((change) => {
    const place = `${change.resource}\n${change.path}`;
    const from = change.fromPath === undefined ? place : `${change.resource}\n${change.fromPath}`;
    const standing = steps.has(change.step) && (!isHookStep(change.step) || stands.get(from) !== false);
    for (const one of [place, from]) stands.set(one, standing);
    return standing;
  });
}
