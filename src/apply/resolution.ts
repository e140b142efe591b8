/**
 * Conflicts that a person, or the plan's own actor, resolves. For each file the record gets two changes behind all
 * others: the target's file takes the place of the plan's, credited to the target, and then the result takes its
 * place, credited to the one who resolved it. So base and changes still make the sandbox, the plan is not credited with
 * the target's lines, and the next apply merges from the state that the file was resolved with: if the target has moved
 * on, that is a merge like any other. All of it is one transaction, which writes no file.
 */
import { nextStep } from "../domain/errors/next-step.ts";
import { ConflictError, PlanError } from "../domain/errors/errors.ts";
import type { ChangesetId, DecisionId } from "../domain/names/ids.ts";
import { operationBetween, type FileImage, type HashedEntryInput } from "../domain/plan/change-entry.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { JsonObject } from "../domain/values/json.ts";
import { TARGET_TAKEN } from "../changes/net-changes.ts";
import { isResolveStep, resolveStep, stepRecords, type PlanChange } from "../changes/plan-changes.ts";
import { nextWave } from "../changes/step-records.ts";
import { insertChangeset } from "../ledger/changesets.ts";
import { findDecisions, insertDecision } from "../ledger/decisions.ts";
import { insertStep } from "../ledger/steps.ts";
import type { FileState } from "../platform/file-state.ts";
import { permitted, transition, type RecordSource } from "../plans/transition.ts";
import { commitContents, contentHash, stageContent, type StagedContent } from "../store/contents/contents.ts";
import type { Store, Tx } from "../store/port.ts";
import { conflictError, isResolvable } from "./landing-errors.ts";
import type { PlanApplier } from "./plan-applier.ts";
import { conflictSides, type ConflictSide, type ShownConflict } from "./conflict-sides.ts";

/** A conflict with the file as it will be; undefined when there will be none. */
export interface Resolution {
  readonly conflict: ShownConflict;
  readonly result: FileState | undefined;
}

/** The changes of a resolution, ready to be recorded. */
export interface ResolvingChange {
  readonly changeset: ChangesetId;
  readonly entries: readonly PlanChange[];
}

/** Who resolves: named in the record, behind the target's own changes. */
const RESOLVED_BY = "resolve";

/** @throws ConflictError when the plan has no conflict, or one that cannot be merged by hand. */
export async function conflictsToResolve(store: Store, applier: PlanApplier, plan: Plan): Promise<ShownConflict[]> {
  permitted(plan, { operation: "resolvePlan" });
  const { conflicts } = await applier.preview("apply", plan.id);
  if (conflicts.length === 0) {
    throw new ConflictError(
      `Nothing is in the way of plan ${plan.id}: there is no conflict to resolve.`,
      { expected: "a conflict", actual: "none" },
      { kept: "Nothing was changed.", next: [nextStep("plan.apply", { plan: plan.id })] },
    );
  }
  if (!conflicts.every(isResolvable)) throw conflictError(plan, "apply", conflicts);
  return conflictSides(store, plan, conflicts);
}

/** Works the changes out, with their contents in the store. Nothing refers to them yet. */
export async function resolvingChange(
  store: Store,
  { ids }: RecordSource,
  plan: Plan,
  resolutions: readonly Resolution[],
): Promise<ResolvingChange> {
  const changeset = ids() as ChangesetId;
  const records = await store.read((reader) => stepRecords(reader, plan.id, plan.attempt));
  const step = resolveStep(records.filter(({ id }) => isResolveStep(id)).length + 1);
  const contents = new Map<string, Uint8Array>();
  const imageOf = ({ content, mode }: FileState): FileImage => {
    const hash = contentHash(content);
    contents.set(hash, content);
    return { hash, mode };
  };
  const changes = resolutions.flatMap(({ conflict, result }): HashedEntryInput[] => {
    const { resource, path } = conflict;
    const [plans, target] = [conflict.plans, conflict.yours].map((side) => {
      const state = stateOf(side);
      return state === undefined ? undefined : imageOf(state);
    });
    const after = result === undefined ? undefined : imageOf(result);
    const change = (before: FileImage | undefined, next: FileImage | undefined, by: string): HashedEntryInput[] => {
      const operation = operationBetween(before, next);
      return operation === undefined ? [] : [{ resource, path, operation, before, after: next, toolInvocation: by }];
    };
    return [...change(plans, target, TARGET_TAKEN), ...change(target, after, RESOLVED_BY)];
  });
  const staged: StagedContent[] = [];
  for (const [hash, content] of contents) staged.push(await stageContent(store, content, hash));
  await store.transaction((tx) => commitContents(tx, staged));
  return { changeset, entries: changes.map((one, index) => asPlanChange(one, { changeset, step, index })) };
}

/** The file of a side; undefined where there is none. */
export function stateOf({ kind, mode, content }: ConflictSide): FileState | undefined {
  return kind === "missing" ? undefined : { content, mode: Number.parseInt(mode ?? "", 8) };
}

/** Refuses a resolution after which the plan would still conflict: of a file that one side has renamed, for example. */
export async function requireMerged(applier: PlanApplier, plan: Plan, { entries }: ResolvingChange): Promise<void> {
  const { conflicts } = await applier.preview("apply", plan.id, { resolution: entries });
  const [left] = conflicts.filter(isResolvable);
  if (left === undefined) return;
  throw new PlanError(`${left.resource}/${left.path} still conflicts: one side has renamed a file or moved on.`, {
    kept: "Nothing was changed.",
    next: [
      nextStep("plan.resolve", { plan: plan.id }, "again"),
      nextStep("plan.apply", { plan: plan.id, onto: "<branch>" }, "or"),
    ],
  });
}

/** The plan that was seen is ready again, as it will be resolved; refused when it has changed since. */
export async function moveResolved(
  tx: Tx,
  recordSource: RecordSource,
  seen: Plan,
  { changeset, entries }: ResolvingChange,
): Promise<Plan> {
  const files = [...new Set(entries.map(({ resource, path }) => `${resource}/${path}`))];
  const moved = await transition(tx, recordSource, {
    planId: seen.id,
    operation: "resolvePlan",
    lease: { kind: "lapsed" },
    expectedVersion: seen.version,
    facts: { changeset, files },
  });
  return moved.plan;
}

/** In the transaction that moves the plan, credited to the decision. */
export async function recordChange(
  tx: Tx,
  plan: Plan,
  { changeset, entries }: ResolvingChange,
  decision: DecisionId,
): Promise<void> {
  const { id: planId, attempt } = plan;
  await insertChangeset(tx, { id: changeset, planId, entries: entries.map((entry) => ({ ...entry, decision })) });
  const result = { order: [await nextWave(tx, plan)], changeset };
  const key = entries[0]?.step ?? resolveStep(1);
  await insertStep(tx, { planId, phase: "execute", attempt, kind: "hook", key, epoch: 0, result });
}

/** A person's resolution: all of it in the caller's transaction. */
export async function recordResolution(
  tx: Tx,
  recordSource: RecordSource,
  seen: Plan,
  { guidance, ...change }: ResolvingChange & { readonly guidance: string },
): Promise<void> {
  const plan = await moveResolved(tx, recordSource, seen, change);
  const { id: planId, attempt, phase } = plan;
  const chosen: JsonObject = { guidance, question: null };
  const root = (await findDecisions(tx, planId, attempt)).find(({ parent }) => parent === undefined);
  const decision = await insertDecision(tx, recordSource.ids, {
    planId,
    attempt,
    type: "user_intervention",
    phase,
    step: undefined,
    question: "How are the conflicts resolved?",
    chosen,
    parent: root?.id,
    needs: [],
  });
  await recordChange(tx, plan, change, decision);
}

function asPlanChange(
  change: HashedEntryInput,
  { changeset: changesetId, step, index }: { readonly changeset: ChangesetId; readonly step: string; index: number },
): PlanChange {
  const { resource, path, operation, before, after, toolInvocation } = change;
  const credit = { toolInvocation, decision: undefined };
  return {
    changesetId,
    sequence: index + 1,
    at: 0,
    step,
    resource,
    path,
    fromPath: undefined,
    operation,
    before,
    after,
    ...credit,
  };
}
