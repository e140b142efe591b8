/**
 * One decision with everything around it: its calls, its files, the decisions that rely on it, the context its model
 * was shown.
 */
import * as z from "zod";
import type { ChangeEntry } from "../../domain/plan/change-entry.ts";
import type { Decision } from "../../domain/plan/decision.ts";
import { NotFoundError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { idPrefix, onlyOne } from "../../domain/names/id-prefix.ts";
import type { DecisionId, PlanId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { placedRecords, planStepOf } from "../../changes/step-records.ts";
import { dependants } from "../../changes/decided-steps.ts";
import { decisionOutcomes, requireDecision, type DecisionOutcome } from "../../changes/decision-outcomes.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { countDecisions, decisionsAnywhere, findDecision, findDecisions } from "../../ledger/decisions.ts";
import { modelCallsOf, type ModelCallFacts } from "../../ledger/model-calls.ts";
import type { Reader, Store } from "../../store/port.ts";
import type { App } from "../base/app.ts";
import { decisionTree } from "./decision-tree.ts";

/** Everything that is known of one decision. */
export interface Explained {
  readonly plan: Plan;
  readonly outcome: DecisionOutcome;
  /** How many decisions the plan has. */
  readonly total: number;
  /** Every decision of the attempt, to name those it is related to. */
  readonly known: ReadonlyMap<DecisionId, Decision>;
  readonly files: readonly ExplainedFile[];
  /** The decisions that depend on it. */
  readonly dependants: readonly DecisionId[];
  /** The question to a model that led to it. */
  readonly call: ModelCallFacts | undefined;
  /** Instructions of the project and of the user that models were told in it. */
  readonly instructions: readonly ToldInstructions[];
  /** Exactly what that model was shown. */
  readonly context: Uint8Array | undefined;
}

interface ToldInstructions {
  readonly path: string;
  readonly bytes: number;
  /** The step in which they were told, or "strategy". */
  readonly step: string;
}

export interface ExplainedFile extends ChangeEntry {
  /** Whether it is part of what the plan changed: made by a step that was recorded and not rolled back. */
  readonly counts: boolean;
}

/**
 * By a plan and the decision's id, step, or name or number in the tree; by a plan alone, what the plan is asked to do;
 * by the decision's id alone.
 */
export async function explainedBy(app: App, first: string, second: string | undefined): Promise<Explained> {
  const store = await app.store();
  const plans = await app.plans();
  if (second !== undefined) {
    const plan = await plans.getPlan(first);
    const { decisionIds } = await decisionTree(app, plan, {});
    const named = (decisionIds[second] ?? (await decisionAt(store, plan, second))) as DecisionId | undefined;
    const id = named ?? (await store.read((reader) => requireDecision(reader, plan, second))).id;
    return explain(store, plan, id);
  }
  // Ids of plans and decisions look alike; one that no plan has can only be a decision's.
  const plan = await plans.getPlan(first).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  if (plan === undefined) {
    const decision = await decisionNamed(store, first);
    return explain(store, await plans.getPlan(decision.planId), decision.id);
  }
  const decisions = await store.read((reader) => findDecisions(reader, plan.id, plan.attempt));
  const root = decisions.find(({ parent }) => parent === undefined);
  if (root === undefined) {
    throw new NotFoundError("decision of plan", plan.id, {
      kept: "Nothing was decided yet.",
      next: [nextStep("plan.execute", { plan: plan.id })],
    });
  }
  return explain(store, plan, root.id);
}

/** By its number in the tree. */
async function decisionAt(store: Store, plan: Plan, number: string): Promise<DecisionId | undefined> {
  if (!/^\d{1,4}$/.test(number)) return undefined;
  const decisions = await store.read((reader) => findDecisions(reader, plan.id, plan.attempt));
  return decisions.find(({ sequence }) => sequence === Number(number))?.id;
}

async function decisionNamed(
  store: Store,
  given: string,
): Promise<{ readonly id: DecisionId; readonly planId: PlanId }> {
  const next = [nextStep("plan.list"), nextStep("plan.tree", { plan: "<plan>" })];
  const prefix = idPrefix("plan or decision", given, next);
  return onlyOne("plan or decision", prefix, await store.read((reader) => decisionsAnywhere(reader, prefix)), next);
}

async function explain(store: Store, plan: Plan, id: DecisionId): Promise<Explained> {
  const { total, outcomes, call } = await store.read(async (reader) => {
    const attempt = (await findDecision(reader, id))?.attempt ?? plan.attempt;
    const all = await decisionOutcomes(reader, plan.id, attempt, { superseded: true });
    const calls = await modelCallsOf(reader, plan.id, attempt);
    return { total: await countDecisions(reader, plan.id), outcomes: all, call: calls.get(id) };
  });
  const outcome = outcomes.find(({ decision }) => decision.id === id);
  if (outcome === undefined) throw new Error(`the decision ${id} is not among those of its attempt`);
  const changesets = new ChangesetStore(store);
  const files: ExplainedFile[] = [];
  for (const { changesetId } of outcome.calls) {
    const counts = outcome.recorded.has(changesetId);
    for (const entry of await changesets.entries(changesetId)) files.push({ ...entry, counts });
  }
  const { supersededAt, attempt, thought } = outcome.decision;
  const related = supersededAt === undefined ? [...(await dependants(store, plan.id, attempt, id))] : [];
  return {
    plan,
    outcome,
    instructions: await store.read((reader) => toldInstructions(reader, outcome)),
    total,
    known: new Map(outcomes.map(({ decision }) => [decision.id, decision])),
    files,
    dependants: related.filter((one) => one !== id),
    call,
    context: thought.snapshot === undefined ? undefined : await changesets.content(thought.snapshot),
  };
}

/** Of the goal all of its attempt; of a step those of the step; of an answer those that came with its tool calls. */
async function toldInstructions(reader: Reader, { decision, calls }: DecisionOutcome): Promise<ToldInstructions[]> {
  const { planId, attempt, parent, step } = decision;
  const changesets = new Set(calls.map(({ changesetId }) => changesetId));
  const records = [
    ...(await placedRecords(reader, planId, attempt, "strategize")),
    ...(await placedRecords(reader, planId, attempt)),
  ];
  return records.flatMap((record): ToldInstructions[] => {
    const ofCall = record.kind === "tool_call" && record.changeset !== undefined && changesets.has(record.changeset);
    const ofStep = step !== undefined && planStepOf(record.id) === step;
    if (parent !== undefined && !ofStep && !ofCall) return [];
    const about = { step: planStepOf(record.id) };
    if (record.kind === "tool_call")
      return (record.instructions ?? []).map(({ path, text }) => ({ path, bytes: Buffer.byteLength(text), ...about }));
    if (record.kind !== "once") return [];
    const opening = Opening.safeParse(record.output);
    return opening.success ? opening.data.instructions.map((one) => ({ ...one, ...about })) : [];
  });
}

/** The recorded beginning of a conversation, as far as it says what instructions it has. */
const Opening = z.object({
  system: z.string(),
  instructions: z.array(z.object({ path: z.string(), bytes: z.int() })),
});
