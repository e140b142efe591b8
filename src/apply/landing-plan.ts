/**
 * One apply, undo or redo of a plan, before its merge is worked out. The three differ only in which steps' changes are
 * in the resources before (`from`) and after (`to`); `prepare-landings.ts` turns this into one `Landing` for each
 * resource.
 */
import type { Plan } from "../domain/plan/plan.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";
import { standingChanges } from "../changes/standing-changes.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import type { JournalKind } from "../ledger/journal.ts";
import type { Landing } from "../ledger/landing.ts";

export interface LandingPlan {
  readonly kind: JournalKind;
  readonly plan: Plan;
  /** The plan's sandboxes, one for each resource. */
  readonly records: readonly SandboxRecord[];
  /** Every change of the plan's attempt, whether its step is in `from` and `to` or not. */
  readonly entries: readonly PlanChange[];
  /** The steps whose changes are in the resources now. */
  readonly from: ReadonlySet<string>;
  /** The steps whose changes will be in the resources. */
  readonly to: ReadonlySet<string>;
  /** The landings of the plan's apply; undefined when this is the apply. */
  readonly applied: readonly Landing[] | undefined;
  /** The branch that an apply makes for the changes, instead of the one that the plan started from. */
  readonly onto?: string | undefined;
}

/** The changes that enter or leave the resources. */
export function movingEntries({ entries, from, to }: Pick<LandingPlan, "entries" | "from" | "to">): PlanChange[] {
  const [before, after] = [new Set(standingChanges(entries, from)), new Set(standingChanges(entries, to))];
  return entries.filter((entry) => before.has(entry) !== after.has(entry));
}
