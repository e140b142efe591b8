/**
 * The outcomes of decisions: which tool calls were made for each, how they ended, and how many of their changes
 * count.
 */
import type { Decision, ToolInvocation } from "../domain/plan/decision.ts";
import { NotFoundError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { idPrefix, onlyOne } from "../domain/names/id-prefix.ts";
import type { ChangesetId, PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { decisionsByPrefix, findDecisions } from "../ledger/decisions.ts";
import { findInvocations } from "../ledger/invocations.ts";
import { findLease } from "../ledger/leases.ts";
import type { Reader } from "../store/port.ts";
import { isCall } from "./decided-steps.ts";
import { entryCounts } from "../ledger/changesets.ts";
import { canChangeFiles } from "../ledger/records.ts";
import { placedRecords } from "./step-records.ts";

export interface DecisionOutcome {
  readonly decision: Decision;
  readonly state: DecisionState;
  readonly calls: readonly ToolInvocation[];
  /** How many changes were made for it; of one that counts, those that count. */
  readonly changes: number;
  /** The changesets of its recorded steps. */
  readonly recorded: ReadonlySet<ChangesetId>;
}

/**
 * `decided`: there is nothing to carry out. `interrupted`: the process that carried it out stopped before it was
 * recorded.
 */
type DecisionState = "decided" | "pending" | "running" | "interrupted" | "failed" | "done" | "superseded";

/** The outcomes of an attempt's decisions in the order in which they were made. */
export async function decisionOutcomes(
  reader: Reader,
  planId: PlanId,
  attempt: number,
  options: { superseded: boolean },
): Promise<DecisionOutcome[]> {
  const decisions = await findDecisions(reader, planId, attempt, options);
  const calls = Map.groupBy(await findInvocations(reader, planId, attempt), (call) => call.decisionId);
  const below = Map.groupBy(decisions, ({ parent }) => parent);
  const placed = [
    // A model looks around before it decides.
    ...(await placedRecords(reader, planId, attempt, "strategize")),
    ...(await placedRecords(reader, planId, attempt)),
  ];
  const records = new Set(placed.filter(canChangeFiles).flatMap(({ changeset }) => changeset ?? []));
  const ended = new Set(placed.flatMap(({ kind, id }) => (kind === "step_end" ? [id] : [])));
  const lease = await findLease(reader, planId);
  const working = lease?.lapsed === false ? lease.epoch : undefined;
  const counts = await entryCounts(reader, planId);
  return decisions.map((decision) => {
    // A step that was worked out on the way did what was decided below it.
    const parts = isWorkedOut(decision) ? (below.get(decision.id) ?? []) : [];
    const own = [decision, ...parts].flatMap(({ id }) => calls.get(id) ?? []);
    const recorded = new Set(own.map(({ changesetId }) => changesetId).filter((id) => records.has(id)));
    const counted = decision.supersededAt === undefined ? [...recorded] : own.map(({ changesetId }) => changesetId);
    const changes = counted.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
    const facts = { calls: own, recorded, working, ended, begun: parts.length > 0 };
    return { decision, state: stateOf(decision, facts), calls: own, changes, recorded };
  });
}

/** A step whose calls were not known when it was decided on: of the strategy, or one that mends what a check showed. */
function isWorkedOut({ type, step, chosen }: Decision): boolean {
  return (type === "strategy_choice" || type === "validation_response") && step !== undefined && !isCall(chosen);
}

interface StateFacts {
  readonly calls: readonly ToolInvocation[];
  readonly recorded: ReadonlySet<ChangesetId>;
  /** The epoch of the lease holder that works on the plan. */
  readonly working: number | undefined;
  /** The steps whose end is recorded. */
  readonly ended: ReadonlySet<string>;
  readonly begun: boolean;
}

function stateOf(decision: Decision, { calls, recorded, working, ended, begun }: StateFacts): DecisionState {
  if (decision.supersededAt !== undefined) return "superseded";
  if (isWorkedOut(decision)) {
    if (ended.has(decision.step ?? "")) return "done";
    if (!begun) return "pending";
    return working === undefined ? "interrupted" : "running";
  }
  const last = calls.at(-1);
  if (decision.step === undefined && last === undefined) return "decided";
  if (last?.end?.outcome === "failed") return "failed";
  if (recorded.size > 0) return "done";
  if (last === undefined) return "pending";
  return working !== undefined && last.epoch === working ? "running" : "interrupted";
}

/**
 * The decision with that id or a beginning of it, or the one on the step of that name: names begin with a letter, ids
 * do not.
 */
export async function requireDecision(reader: Reader, plan: Plan, given: string): Promise<Decision> {
  const next = [nextStep("plan.tree", { plan: plan.id })];
  if (/^[A-Za-z][A-Za-z0-9_:.-]{0,199}$/.test(given)) {
    const decisions = await findDecisions(reader, plan.id, plan.attempt);
    const found = decisions.find(({ step }) => step === given);
    if (found === undefined) throw new NotFoundError("decision on a step", given, { next });
    return found;
  }
  const prefix = idPrefix("decision", given, next);
  return onlyOne("decision", prefix, await decisionsByPrefix(reader, plan.id, prefix), next);
}
