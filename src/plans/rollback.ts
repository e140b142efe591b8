import type { Decision } from "../domain/plan/decision.ts";
import { NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { idPrefix, onlyOne } from "../domain/names/id-prefix.ts";
import type { ChangesetId, InvocationId, PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { decisionWaves } from "../changes/decided-steps.ts";
import { comparedOrder, placedRecords, planStepOf, type Order } from "../changes/step-records.ts";
import { stepRecords } from "../changes/plan-changes.ts";
import { findChangeset, findEntries, supersedeChangesets } from "../ledger/changesets.ts";
import { findDecisions, renewDecisions, supersedeDecisions } from "../ledger/decisions.ts";
import { findInvocations, supersedeInvocations } from "../ledger/invocations.ts";
import { canChangeFiles, changingStepName } from "../ledger/records.ts";
import { stepsOutside, supersedeSteps } from "../ledger/steps.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Reader, Tx } from "../store/port.ts";
import { requireSandboxToRollBack } from "./in-place-rules.ts";
import { permitted, transition, type RecordSource } from "./transition.ts";

/**
 * Rolling a plan back to a checkpoint. A sandbox is always its base and the changes of recorded steps, so a checkpoint
 * is not a copy of files but a position among those steps: before all of them, or after one that changed something. A
 * rollback marks everything after that position as superseded, in one transaction; nothing is deleted. The next
 * execution rebuilds the sandboxes from the remaining steps and continues there.
 */
const BEGINNING = "start";

export interface Checkpoint {
  /** "start", or the id of the changeset after which it lies. */
  readonly id: ChangesetId | typeof BEGINNING;
  /** The step after which it lies. */
  readonly step: string | undefined;
  readonly at: number;
  readonly changes: number;
  /** The files that step changed: `alias/path`, each once. */
  readonly files: readonly string[];
  /** Where it is in the program; before everything when it is empty. */
  readonly order: Order;
}

/** The records that a rollback marks as superseded. */
export interface RollbackImpact {
  readonly steps: readonly string[];
  readonly decisions: number;
  readonly toolCalls: number;
  /** `alias/path`, each once. */
  readonly files: readonly string[];
  /** Nothing was done behind the checkpoint. */
  readonly nothing: boolean;
}

/** The plan after a rollback, and what the rollback took out. */
export interface RolledBack {
  readonly plan: Plan;
  readonly checkpoint: Checkpoint;
  readonly impact: RollbackImpact;
}

/** The checkpoints of the plan's current attempt, in program order. */
export async function findCheckpoints(reader: Reader, plan: Plan): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = [
    { id: BEGINNING, step: undefined, at: plan.createdAt, changes: 0, files: [], order: [] },
  ];
  for (const { kind, id: step, changeset, order } of await stepRecords(reader, plan.id, plan.attempt)) {
    // Hooks end an execution; going back means going back to before them.
    if (kind !== "tool_call") continue;
    const found = await findChangeset(reader, changeset);
    if (found === undefined || found.entryCount === 0) continue;
    const { entryCount: changes, openedAt, closedAt } = found;
    checkpoints.push({
      id: changeset,
      step,
      at: closedAt ?? openedAt,
      changes,
      files: await filesOf(reader, [changeset]),
      order,
    });
  }
  return checkpoints;
}

/** The checkpoint with that id, or the only one whose id begins with it. */
export async function requireCheckpoint(reader: Reader, plan: Plan, idOrPrefix: string): Promise<Checkpoint> {
  const checkpoints = await findCheckpoints(reader, plan);
  const next = [nextStep("plan.rollback", { plan: plan.id })];
  const wanted = idOrPrefix.toLowerCase() === BEGINNING ? BEGINNING : idPrefix("checkpoint", idOrPrefix, next);
  const found = checkpoints.filter(({ id }) => id.startsWith(wanted));
  return onlyOne("checkpoint", wanted, found, next);
}

/** The records that a rollback to the checkpoint would mark as superseded. */
export async function rollbackImpact(reader: Reader, plan: Plan, checkpoint: Checkpoint): Promise<RollbackImpact> {
  return (await behind(reader, plan, checkpoint)).impact;
}

/**
 * In the caller's one transaction: the plan goes to execute/queued, and everything behind the checkpoint is superseded.
 */
export async function rollBack(
  tx: Tx,
  recordSource: RecordSource,
  request: { planId: PlanId; checkpoint: string; expectedVersion: number | undefined; reason: string | undefined },
): Promise<RolledBack> {
  const { planId, expectedVersion, reason } = request;
  const seen = await findPlan(tx, planId);
  if (seen === undefined) throw new NotFoundError("plan", planId, { next: [nextStep("plan.list")] });
  // The second of two processes must hear that the plan moved, not that its checkpoint is gone.
  permitted(seen, { operation: "rollbackPlan", expectedVersion });
  await requireSandboxToRollBack(tx, seen);
  const checkpoint = await requireCheckpoint(tx, seen, request.checkpoint);
  const { keptKeys, changesets, calls, renewed, restored, dropped, impact } = await behind(tx, seen, checkpoint);
  const { steps, decisions, toolCalls } = impact;
  const facts = { checkpoint: checkpoint.id, superseded: { steps, decisions, tool_calls: toolCalls } };
  const lease = { kind: "lapsed" } as const;
  const { plan } = await transition(tx, recordSource, {
    planId,
    operation: "rollbackPlan",
    lease,
    reason,
    facts,
  });
  await supersedeSteps(tx, plan, keptKeys);
  await supersedeChangesets(tx, changesets);
  await supersedeInvocations(tx, calls);
  await supersedeDecisions(tx, dropped);
  await renewDecisions(tx, recordSource.ids, renewed, restored);
  return { plan, checkpoint, impact };
}

/** The records after a checkpoint. */
interface Behind {
  /** Of the recorded steps up to it. */
  readonly keptKeys: ReadonlySet<string>;
  readonly changesets: readonly ChangesetId[];
  /** Those of superseded decisions, and of two that one answer asked for the one that is behind the checkpoint. */
  readonly calls: readonly InvocationId[];
  /** Decisions on steps, which are decided on again. */
  readonly renewed: readonly Decision[];
  /** Decisions on steps that a revision behind the checkpoint had replaced: they are decided on again. */
  readonly restored: readonly Decision[];
  /** Decisions made on the way, which come again when the way is taken again. */
  readonly dropped: readonly Decision[];
  readonly impact: RollbackImpact;
}

async function behind(reader: Reader, plan: Plan, { order }: Checkpoint): Promise<Behind> {
  const records = await placedRecords(reader, plan.id, plan.attempt);
  const decisions = await findDecisions(reader, plan.id, plan.attempt);
  const kept = records.filter((record) => comparedOrder(record.order, order) <= 0);
  const gone = records.filter((record) => comparedOrder(record.order, order) > 0);
  const begun = new Set(kept.map((record) => (record.kind === "hook" ? record.key : planStepOf(record.id))));
  // A decision that a model made on the way stands as long as its answer does.
  const answers = new Set(kept.flatMap((record) => (record.kind === "answer" ? [record.decision] : [])));
  const stands = ({ id, phase, type, step }: Decision): boolean =>
    phase !== "execute" ||
    // The words of a person stay.
    type === "user_intervention" ||
    answers.has(id) ||
    (step !== undefined && begun.has(step));
  const standing = new Set(decisions.filter(stands).map(({ id }) => id));
  const renewed = decisionWaves(decisions)
    .flat()
    .filter(({ phase, parent, step }) => {
      if (step !== undefined && begun.has(step)) return false;
      return phase !== "execute" || (parent !== undefined && standing.has(parent));
    });
  const again = new Set(renewed.map(({ id }) => id));
  const dropped = decisions.filter(({ id }) => !standing.has(id) && !again.has(id));
  const goneIds = new Set(dropped.map(({ id }) => id));
  const all = await findDecisions(reader, plan.id, plan.attempt, { superseded: true });
  const restored = all.filter(
    ({ type, step, supersededBy }) =>
      type === "strategy_choice" && step !== undefined && supersededBy !== undefined && goneIds.has(supersededBy),
  );
  const superseded = new Set([...renewed, ...dropped].map(({ id }) => id));
  const goneSteps = gone.filter(canChangeFiles);
  const goneChangesets = goneSteps.flatMap(({ changeset }) => changeset ?? []);
  const calls = (await findInvocations(reader, plan.id, plan.attempt)).filter(
    (call) => superseded.has(call.decisionId) || goneChangesets.includes(call.changesetId),
  );
  const keptKeys = new Set(kept.map(({ key }) => key));
  const outside = await stepsOutside(reader, plan, keptKeys);
  return {
    keptKeys,
    changesets: [...new Set([...calls.map(({ changesetId }) => changesetId), ...goneChangesets])],
    calls: calls.map(({ id }) => id),
    renewed,
    restored,
    dropped,
    impact: {
      steps: goneSteps.flatMap((record) => (record.changeset === undefined ? [] : [changingStepName(record)])),
      decisions: superseded.size,
      toolCalls: calls.length,
      files: await filesOf(reader, goneChangesets),
      nothing: calls.length === 0 && outside.length === 0,
    },
  };
}

/** The files the changesets touched: `alias/path`, each once. */
async function filesOf(reader: Reader, changesets: readonly ChangesetId[]): Promise<string[]> {
  const files = new Set<string>();
  for (const id of changesets) {
    for (const { resource, path, fromPath } of await findEntries(reader, id)) {
      if (fromPath !== undefined) files.add(`${resource}/${fromPath}`);
      files.add(`${resource}/${path}`);
    }
  }
  return [...files].sort();
}
