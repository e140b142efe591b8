import type { ChangeEntry } from "../../domain/change-entry.ts";
import type { Decision } from "../../domain/decision.ts";
import { NotFoundError } from "../../domain/errors.ts";
import { idPrefix, onlyOne } from "../../domain/id-prefix.ts";
import type { DecisionId, PlanId } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import { dependants } from "../../execution/decided-steps.ts";
import { decisionOutcomes, requireDecision, type DecisionOutcome } from "../../execution/decision-outcomes.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { countDecisions, decisionsAnywhere, findDecisions } from "../../ledger/decisions.ts";
import { modelCallsOf, type ModelCallFacts } from "../../ledger/model-calls.ts";
import type { Store } from "../../store/store.ts";
import type { CommandContext } from "../command-context.ts";

/** All that is known of one decision. */
export interface Explained {
  readonly plan: Plan;
  readonly outcome: DecisionOutcome;
  /** How many decisions the plan has. */
  readonly total: number;
  /** Every decision of the attempt, to name those it is related to. */
  readonly known: ReadonlyMap<DecisionId, Decision>;
  readonly files: readonly ExplainedFile[];
  /** What cannot stand without it. */
  readonly dependants: readonly DecisionId[];
  /** The question to a model that led to it. */
  readonly call: ModelCallFacts | undefined;
  /** Exactly what that model was shown. */
  readonly context: Uint8Array | undefined;
}

export interface ExplainedFile extends ChangeEntry {
  /** Whether it is part of what the plan changed: made by a step that was recorded and not rolled back. */
  readonly counts: boolean;
}

/** By a plan and the decision's id or step; by a plan alone, what the plan is asked to do; by the decision's id alone. */
export async function explainedBy(
  context: CommandContext,
  first: string,
  second: string | undefined,
): Promise<Explained> {
  const store = await context.store();
  const plans = await context.plans();
  if (second !== undefined) {
    const plan = await plans.getPlan(first);
    const { id } = await store.read((reader) => requireDecision(reader, plan, second));
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
      next: [`agents plan execute ${plan.id}`],
    });
  }
  return explain(store, plan, root.id);
}

async function decisionNamed(
  store: Store,
  given: string,
): Promise<{ readonly id: DecisionId; readonly planId: PlanId }> {
  const next = ["agents plan list", "agents plan tree <plan>"];
  const prefix = idPrefix("plan or decision", given, next);
  return onlyOne("plan or decision", prefix, await store.read((reader) => decisionsAnywhere(reader, prefix)), next);
}

async function explain(store: Store, plan: Plan, id: DecisionId): Promise<Explained> {
  const { total, outcomes, call } = await store.read(async (reader) => {
    const row = await reader.get<{ attempt: number }>("SELECT attempt FROM decisions WHERE id = ?", id);
    const attempt = row?.attempt ?? plan.attempt;
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
    total,
    known: new Map(outcomes.map(({ decision }) => [decision.id, decision])),
    files,
    dependants: related.filter((one) => one !== id),
    call,
    context: thought.snapshot === undefined ? undefined : await changesets.content(thought.snapshot),
  };
}
