/**
 * The end of a landing: the journal's outcome and the plan's state in one transaction, so that they never disagree. The
 * caller holds the kernel locks of the resources and so knows that no owner is at work; a lease that lapsed meanwhile,
 * or that a dead process left, is taken over on the way.
 */
import { sealJournal, type Journal, type JournalReview } from "../ledger/journal.ts";
import type { Landed } from "./land.ts";
import { sealStep } from "./step-landing.ts";
import { operationBetween, type HashedEntryInput } from "../domain/plan/change-entry.ts";
import type { ChangesetId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { standingChanges } from "../changes/standing-changes.ts";
import { planChanges, REVIEW_STEP } from "../changes/plan-changes.ts";
import { nextWave } from "../changes/step-records.ts";
import { insertChangeset } from "../ledger/changesets.ts";
import { findDecisions, insertDecision } from "../ledger/decisions.ts";
import { acquireLease, endLease, findLease, LEASE_TTL_MS, revokeLease, type LeaseFacts } from "../ledger/leases.ts";
import { insertStep } from "../ledger/steps.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Store, Tx } from "../store/port.ts";
import { defaultHolder, transition, type RecordSource } from "../plans/transition.ts";

export async function sealLanding(
  parts: { readonly store: Store; readonly recordSource: RecordSource },
  journal: Journal,
  landed: Landed,
): Promise<Plan> {
  const { store, recordSource } = parts;
  const all = await nothingStands(store, journal);
  return store.transaction(async (tx) => {
    const before = await findPlan(tx, journal.planId);
    if (before === undefined) throw new Error(`the plan ${journal.planId} of a journal is gone`);
    if (journal.kind === "step") {
      await sealStep(tx, journal, landed);
      return before;
    }
    const outcome = landed.direction === "forward" ? "done" : "undone";
    if (!(await sealJournal(tx, journal.id, outcome, landed.kept))) return before;
    const held = await holdLease(tx, before);
    const lease = { kind: "end", held } as const;
    const request = { planId: journal.planId, lease };
    if (journal.kind === "apply") {
      if (journal.review !== undefined && outcome === "done")
        await recordReview(tx, recordSource, { plan: before, review: journal.review, epoch: held.epoch });
      const failure = { message: reasonOf(landed), category: "transient" } as const;
      const move =
        outcome === "done"
          ? ({ ...request, operation: "completeApply" } as const)
          : ({ ...request, operation: "failApply", failure } as const);
      return (await transition(tx, recordSource, move)).plan;
    }
    if (outcome === "undone") {
      await endLease(tx, held);
      return before;
    }
    const steps = journal.undoneSteps;
    const undone = { steps, all };
    const operation = journal.kind === "undo" ? "undoPlan" : "redoPlan";
    await insertChangeset(tx, {
      id: recordSource.ids() as ChangesetId,
      planId: journal.planId,
      entries: changesOf(journal),
    });
    return (await transition(tx, recordSource, { ...request, operation, undone })).plan;
  });
}

/** From here on the plan's record leads to exactly the part that was applied. */
async function recordReview(
  tx: Tx,
  { ids }: RecordSource,
  applied: { readonly plan: Plan; readonly review: JournalReview; readonly epoch: number },
): Promise<void> {
  const { plan, review, epoch } = applied;
  const { id: planId, attempt } = plan;
  const root = (await findDecisions(tx, planId, attempt)).find(({ parent }) => parent === undefined);
  const decision = await insertDecision(tx, ids, {
    planId,
    attempt,
    type: "user_intervention",
    phase: plan.phase,
    step: undefined,
    question: "Which of the changes are applied?",
    chosen: review.chosen,
    parent: root?.id,
    needs: [],
  });
  const { changeset, entries } = review;
  await insertChangeset(tx, { id: changeset, planId, entries: entries.map((entry) => ({ ...entry, decision })) });
  const result = { order: [await nextWave(tx, plan)], changeset };
  await insertStep(tx, { planId, phase: "execute", attempt, kind: "hook", key: REVIEW_STEP, epoch, result });
}

/** Whether the whole plan is undone once the landing is done: no step that changed something is still applied. */
async function nothingStands(store: Store, { planId, undoneSteps }: Journal): Promise<boolean> {
  if (undoneSteps.length === 0) return false;
  const { attempt = 0 } = (await store.read((reader) => findPlan(reader, planId))) ?? {};
  const changes = await planChanges(store, planId, attempt);
  const steps = changes.map(({ step }) => step).filter((step) => !undoneSteps.includes(step));
  return standingChanges(changes, new Set(steps)).length === 0;
}

/**
 * The lease of the process that works on the plan, or a new one: no other process can work on it while we hold the
 * kernel locks.
 */
async function holdLease(tx: Tx, { id: planId, phase }: Plan): Promise<LeaseFacts> {
  const found = await findLease(tx, planId);
  if (found !== undefined && !found.lapsed) return found;
  await revokeLease(tx, planId);
  return acquireLease(tx, { planId, phase, holder: defaultHolder(), ttlMs: LEASE_TTL_MS });
}

/** The changes of an undo or redo in the user's files, credited to it. */
function changesOf({ kind, landings }: Journal): HashedEntryInput[] {
  return landings.flatMap(({ alias: resource, files }) =>
    files.flatMap(({ path, before, after }) => {
      const operation = operationBetween(before, after);
      return operation === undefined ? [] : [{ resource, path, operation, before, after, toolInvocation: kind }];
    }),
  );
}

function reasonOf({ cause, kept }: Landed): string {
  if (cause instanceof Error) return cause.message;
  if (kept.length > 0) return `A person changed ${kept.slice(0, 3).join(", ")} while it was being applied.`;
  return "It was interrupted and reversed.";
}
