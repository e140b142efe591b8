import { isHookStep, type PlanChange } from "./step-runner.ts";

/**
 * Of a plan's changes, those that are there when only these steps are. A hook rewrites what the steps before it left, file by file:
 * what it made of a file goes with the change it was made of, and what it made of the others stays.
 */
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
