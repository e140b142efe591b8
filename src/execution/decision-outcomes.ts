import type { Decision, ToolInvocation } from "../domain/decision.ts";
import { NotFoundError } from "../domain/errors.ts";
import { idPrefix, onlyOne } from "../domain/id-prefix.ts";
import type { ChangesetId, PlanId } from "../domain/ids.ts";
import type { Plan } from "../domain/plan.ts";
import { decisionsByPrefix, findDecisions } from "../ledger/decisions.ts";
import { findInvocations } from "../ledger/invocations.ts";
import { findLease } from "../ledger/leases.ts";
import type { Reader } from "../store/store.ts";
import { stepRecords } from "./step-runner.ts";

/** What became of decisions: which tool calls were made for each, how they ended, and how much of what they changed counts. */
export interface DecisionOutcome {
  readonly decision: Decision;
  readonly state: DecisionState;
  readonly calls: readonly ToolInvocation[];
  /** How many changes were made for it; of one that counts, those that count. */
  readonly changes: number;
  /** The changesets of its recorded steps. */
  readonly recorded: ReadonlySet<ChangesetId>;
}

/** `decided`: there is nothing to carry out. `interrupted`: whoever carried it out stopped before it was recorded. */
export type DecisionState = "decided" | "pending" | "running" | "interrupted" | "failed" | "done" | "superseded";

/** The outcomes of an attempt's decisions in the order in which they were made. */
export async function decisionOutcomes(
  reader: Reader,
  planId: PlanId,
  attempt: number,
  options: { superseded: boolean },
): Promise<DecisionOutcome[]> {
  const decisions = await findDecisions(reader, planId, attempt, options);
  const calls = Map.groupBy(await findInvocations(reader, planId, attempt), (call) => call.decisionId);
  const records = new Set((await stepRecords(reader, planId, attempt)).map(({ changeset }) => changeset));
  const lease = await findLease(reader, planId);
  const working = lease?.lapsed === false ? lease.epoch : undefined;
  const counts = await changeCounts(reader, planId);
  return decisions.map((decision) => {
    const own = calls.get(decision.id) ?? [];
    const recorded = new Set(own.map(({ changesetId }) => changesetId).filter((id) => records.has(id)));
    const counted = decision.supersededAt === undefined ? [...recorded] : own.map(({ changesetId }) => changesetId);
    const changes = counted.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
    return { decision, state: stateOf(decision, own, recorded, working), calls: own, changes, recorded };
  });
}

function stateOf(
  decision: Decision,
  calls: readonly ToolInvocation[],
  recorded: ReadonlySet<ChangesetId>,
  working: number | undefined,
): DecisionState {
  if (decision.supersededAt !== undefined) return "superseded";
  if (decision.step === undefined) return "decided";
  if (recorded.size > 0) return "done";
  const last = calls.at(-1);
  if (last === undefined) return "pending";
  if (last.end?.outcome === "failed") return "failed";
  return working !== undefined && last.epoch === working ? "running" : "interrupted";
}

async function changeCounts(reader: Reader, planId: PlanId): Promise<ReadonlyMap<ChangesetId, number>> {
  const rows = await reader.all<{ id: ChangesetId; entry_count: number }>(
    "SELECT id, entry_count FROM changesets WHERE plan_id = ?",
    planId,
  );
  return new Map(rows.map((row) => [row.id, row.entry_count]));
}

/** The decision with that id or a beginning of it, or the one on the step of that name: names begin with a letter, ids do not. */
export async function requireDecision(reader: Reader, plan: Plan, given: string): Promise<Decision> {
  const next = [`agents plan tree ${plan.id}`];
  if (/^[A-Za-z][A-Za-z0-9_:.-]{0,199}$/.test(given)) {
    const decisions = await findDecisions(reader, plan.id, plan.attempt);
    const found = decisions.find(({ step }) => step === given);
    if (found === undefined) throw new NotFoundError("decision on a step", given, { next });
    return found;
  }
  const prefix = idPrefix("decision", given, next);
  return onlyOne("decision", prefix, await decisionsByPrefix(reader, plan.id, prefix), next);
}
