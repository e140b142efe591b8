import type { Decision } from "../domain/decision.ts";
import { NotFoundError } from "../domain/errors.ts";
import { idPrefix, onlyOne } from "../domain/id-prefix.ts";
import type { ChangesetId, InvocationId, PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { decisionWaves } from "../execution/decided-steps.ts";
import { comparedOrder, placedRecords, planStepOf, type Order } from "../execution/step-records.ts";
import { isToolStep, stepRecords } from "../execution/step-runner.ts";
import { findDecisions, renewDecisions, supersedeDecisions } from "../ledger/decisions.ts";
import { findInvocations, supersedeInvocations } from "../ledger/invocations.ts";
import { stepsBeside, supersedeSteps } from "../ledger/steps.ts";
import { findPlan } from "../store/plans.ts";
import type { Reader, Tx } from "../store/store.ts";
import { requireSandboxToRollBack } from "./in-place.ts";
import { permitted, transition, type Ambience } from "./transition.ts";

/**
 * Rolling a plan back to a checkpoint. A sandbox is always its base and the changes of recorded steps, so a checkpoint is no copy of
 * files but a position among those steps: before all of them, or after one that changed something. Rolling back takes what lies
 * behind that position out of what counts, in one transaction; nothing is deleted. The next execution makes the sandboxes what is
 * left and goes on from there.
 */
const BEGINNING = "start";

export interface Checkpoint {
  /** "start", or the id of the changeset after which it lies. */
  readonly id: ChangesetId | typeof BEGINNING;
  /** The step after which it lies. */
  readonly step: string | undefined;
  readonly at: number;
  readonly changes: number;
  /** What that step changed: `alias/path`, each once. */
  readonly files: readonly string[];
  /** Where it is in the program; before everything when it is empty. */
  readonly order: Order;
}

/** What a rollback takes out of what counts. */
export interface RollbackImpact {
  readonly steps: readonly string[];
  readonly decisions: number;
  readonly toolCalls: number;
  /** `alias/path`, each once. */
  readonly files: readonly string[];
  /** Nothing was done behind the checkpoint. */
  readonly nothing: boolean;
}

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
  for (const { key, id: step, changeset, order } of await stepRecords(reader, plan.id, plan.attempt)) {
    // Hooks end an execution, and whoever goes back goes back to before them.
    if (!isToolStep(key)) continue;
    const row = await reader.get<{ entry_count: number; opened_at: number; closed_at: number | null }>(
      "SELECT entry_count, opened_at, closed_at FROM changesets WHERE id = ? AND entry_count > 0",
      changeset,
    );
    if (row === undefined) continue;
    const { entry_count: changes, opened_at: openedAt, closed_at: closedAt } = row;
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
  const next = [`agents plan rollback ${plan.id}`];
  const wanted = idOrPrefix.toLowerCase() === BEGINNING ? BEGINNING : idPrefix("checkpoint", idOrPrefix, next);
  const found = checkpoints.filter(({ id }) => id.startsWith(wanted));
  return onlyOne("checkpoint", wanted, found, next);
}

/** What rolling back to the checkpoint takes out of what counts. */
export async function rollbackImpact(reader: Reader, plan: Plan, checkpoint: Checkpoint): Promise<RollbackImpact> {
  return (await behind(reader, plan, checkpoint)).impact;
}

/** In the caller's one transaction: the plan goes to execute/queued, and everything behind the checkpoint is superseded. */
export async function rollBack(
  tx: Tx,
  ambience: Ambience,
  request: { planId: PlanId; checkpoint: string; expectedVersion: number | undefined; reason: string | undefined },
): Promise<RolledBack> {
  const { planId, expectedVersion, reason } = request;
  const seen = await findPlan(tx, planId);
  if (seen === undefined) throw new NotFoundError("plan", planId, { next: ["agents plan list"] });
  // Whoever comes second must hear that the plan moved on, not that its checkpoint is gone.
  permitted(seen, { operation: "rollbackPlan", expectedVersion });
  await requireSandboxToRollBack(tx, seen);
  const checkpoint = await requireCheckpoint(tx, seen, request.checkpoint);
  const { keptKeys, changesets, calls, renewed, dropped, impact } = await behind(tx, seen, checkpoint);
  const { steps, decisions, toolCalls } = impact;
  const facts = { checkpoint: checkpoint.id, superseded: { steps, decisions, tool_calls: toolCalls } };
  const lease = { kind: "lapsed" } as const;
  const { plan } = await transition(tx, ambience, {
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
  await renewDecisions(tx, ambience.ids, renewed);
  return { plan, checkpoint, impact };
}

/** What lies behind a checkpoint. */
interface Behind {
  /** Of the recorded steps up to it. */
  readonly keptKeys: ReadonlySet<string>;
  readonly changesets: readonly ChangesetId[];
  /** Those of superseded decisions, and of two that one answer asked for the one that is behind the checkpoint. */
  readonly calls: readonly InvocationId[];
  /** Decisions on steps, which are decided on again. */
  readonly renewed: readonly Decision[];
  /** Decisions made on the way, which come anew when the way is gone again. */
  readonly dropped: readonly Decision[];
  readonly impact: RollbackImpact;
}

async function behind(reader: Reader, plan: Plan, { order, step }: Checkpoint): Promise<Behind> {
  const records = await placedRecords(reader, plan.id, plan.attempt);
  const decisions = await findDecisions(reader, plan.id, plan.attempt);
  const kept = records.filter((record) => comparedOrder(record.order, order) <= 0);
  const gone = records.filter((record) => comparedOrder(record.order, order) > 0);
  const onSteps = decisionWaves(decisions).flat();
  const last = onSteps.findIndex((decision) => step !== undefined && decision.step === planStepOf(step));
  const renewed = step === undefined ? onSteps : last === -1 ? [] : onSteps.slice(last + 1);
  // What a model decided on the way stands as long as its answer does; hooks come last, and are always behind.
  const standing = new Set(kept.flatMap(({ decision }) => decision ?? []));
  const dropped = decisions.filter(
    ({ id, phase, type }) =>
      phase === "execute" &&
      // What a person said stays said.
      type !== "user_intervention" &&
      !standing.has(id),
  );
  const superseded = new Set([...renewed, ...dropped].map(({ id }) => id));
  const goneChangesets = gone.flatMap(({ changeset }) => changeset ?? []);
  const calls = (await findInvocations(reader, plan.id, plan.attempt)).filter(
    (call) => superseded.has(call.decisionId) || goneChangesets.includes(call.changesetId),
  );
  const keptKeys = new Set(kept.map(({ key }) => key));
  const beside = await stepsBeside(reader, plan, keptKeys);
  return {
    keptKeys,
    changesets: [...new Set([...calls.map(({ changesetId }) => changesetId), ...goneChangesets])],
    calls: calls.map(({ id }) => id),
    renewed,
    dropped,
    impact: {
      steps: gone.flatMap(({ key, changeset }) => (changeset === undefined ? [] : [key.replace(/^tool-step:/, "")])),
      decisions: superseded.size,
      toolCalls: calls.length,
      files: await filesOf(reader, goneChangesets),
      nothing: calls.length === 0 && beside.length === 0,
    },
  };
}

/** Takes the changesets, and the tool calls they belong to, out of what counts: a call that has a decision has a changeset too. */
async function supersedeChangesets(tx: Tx, changesets: readonly ChangesetId[]): Promise<void> {
  for (const id of changesets)
    await tx.run("UPDATE changesets SET superseded_at = now_ms() WHERE id = ? AND superseded_at IS NULL", id);
}

/** What the changesets touched: `alias/path`, each once. */
async function filesOf(reader: Reader, changesets: readonly ChangesetId[]): Promise<string[]> {
  const files = new Set<string>();
  for (const id of changesets) {
    const rows = await reader.all<{ resource: string; path: string; from_path: string | null }>(
      "SELECT resource, path, from_path FROM change_entries WHERE changeset_id = ? ORDER BY sequence",
      id,
    );
    for (const { resource, path, from_path: from } of rows) {
      if (from !== null) files.add(`${resource}/${from}`);
      files.add(`${resource}/${path}`);
    }
  }
  return [...files].sort();
}
