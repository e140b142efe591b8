/**
 * Which steps an undo or redo moves, and whether it may. The steps that are undone at present are in the plan's last
 * journal; a redo brings all of them back, an undo adds the wanted ones to them.
 */
import { findUndoneSteps, isLanding } from "../ledger/journal.ts";
import type { Landing } from "../ledger/landing.ts";
import { movingEntries, type LandingPlan } from "./landing-plan.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { statusKey, type Phase } from "../domain/plan/transitions.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import { acquireLease, Lease, LEASE_TTL_MS } from "../ledger/leases.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Reader, Store } from "../store/port.ts";
import { landedOf } from "./landed-changes.ts";
import { notAppliedError, nothingToDoError } from "./landing-errors.ts";
import { defaultHolder, landingInProgressError, requireVersion } from "../plans/transition.ts";

/** The changes that a person asks to undo or redo, out of all that the plan has. */
export interface WantedChange {
  readonly kind: "undo" | "redo";
  /** Every step of the plan. */
  readonly all: ReadonlySet<string>;
  readonly entries: readonly PlanChange[];
  /** Only these; all steps unless given. */
  readonly steps: ReadonlySet<string> | undefined;
  /** Only if the plan still has this version. */
  readonly seenVersion?: number | undefined;
}

interface Undoable {
  /** The plan as it is now. */
  readonly now: Plan;
  /** The steps that are undone at present. */
  readonly undone: ReadonlySet<string>;
  readonly applied: readonly Landing[];
}

/** The steps that are in the resources before and after. */
export function sidesOf(
  { kind, all, steps }: Omit<WantedChange, "entries" | "seenVersion">,
  undone: ReadonlySet<string>,
): Pick<LandingPlan, "from" | "to"> {
  const undoneAfter = kind === "redo" ? new Set<string>() : new Set([...undone, ...(steps ?? all)]);
  return { from: stepsWithout(all, undone), to: stepsWithout(all, undoneAfter) };
}

/**
 * The lease of a plan whose changes are in its resources, if there is something to undo or redo: checked and taken in
 * one transaction.
 */
export async function takeApplied(
  store: Store,
  plan: Plan,
  wanted: WantedChange,
): Promise<Omit<Undoable, "now"> & { readonly lease: Lease }> {
  const [holder, ttlMs] = [defaultHolder(), LEASE_TTL_MS];
  const { now, facts, undone, applied } = await store.transaction(async (tx) => {
    const found = await undoable(tx, plan, wanted);
    requireVersion(found.now, wanted.seenVersion);
    const { phase } = found.now;
    return { ...found, facts: await acquireLease(tx, { planId: plan.id, phase, holder, ttlMs }) };
  });
  const lease = new Lease<Phase>({ store, plan: now, phase: now.phase, facts, ttlMs });
  return { lease, undone, applied };
}

/** @throws ConflictError when the plan cannot be undone or redone now, or when nothing would change. */
export async function undoable(reader: Reader, plan: Plan, wanted: WantedChange): Promise<Undoable> {
  const { kind, all, entries, steps } = wanted;
  const now = await findPlan(reader, plan.id);
  const applied = now === undefined ? undefined : await landedOf(reader, now, entries);
  if (now === undefined || applied === undefined) throw notAppliedError(now ?? plan, kind);
  // The next steps of an unfinished plan would build on a state from which some of its steps are missing.
  if (steps !== undefined && statusKey(now) !== "apply/applied") throw notAppliedError(now, kind);
  if (await isLanding(reader, plan.id)) throw landingInProgressError(plan);
  const undone = new Set(await findUndoneSteps(reader, plan.id));
  const open = kind === "redo" ? undone : stepsWithout(steps ?? all, undone);
  // A plan without any change can be undone as a whole, as it could be applied.
  const idle = entries.length > 0 && movingEntries({ entries, ...sidesOf(wanted, undone) }).length === 0;
  if (open.size === 0 || idle) throw nothingToDoError(plan, kind, steps);
  return { now, undone, applied };
}

export function stepsWithout(all: ReadonlySet<string>, some: ReadonlySet<string>): Set<string> {
  return new Set([...all].filter((one) => !some.has(one)));
}
