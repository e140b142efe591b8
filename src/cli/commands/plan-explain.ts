import type { ChangeEntry } from "../../domain/change-entry.ts";
import type { ChosenCall, Decision, ToolInvocation } from "../../domain/decision.ts";
import type { DecisionId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Plan } from "../../domain/plan.ts";
import { shown } from "../../domain/text.ts";
import { dependants } from "../../execution/decided-steps.ts";
import { decisionOutcomes, requireDecision, type DecisionOutcome } from "../../execution/decision-outcomes.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { countDecisions } from "../../ledger/decisions.ts";
import type { Store } from "../../store/store.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count, instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned, type View } from "../view.ts";
import { decisionStateCell } from "./plan-tree.ts";

/** One decision: what was decided, what it needed, the tool calls made for it, and the files they changed. */
export async function planExplain(context: CommandContext, input: Input): Promise<Outcome> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  const store = await context.store();
  const explained = await explain(store, plan, input.argument(1));
  const { decision, calls } = explained.outcome;
  return {
    data: data(explained),
    view: view(explained),
    messages: info(`${count(calls.length, "tool call")}, ${count(explained.files.length, "change")}.`),
    next: [decision.step === undefined ? `agents plan tree ${plan.id}` : `agents plan diff ${plan.id}`],
  };
}

interface Explained {
  readonly outcome: DecisionOutcome;
  /** How many decisions the plan has. */
  readonly total: number;
  /** Every decision of the attempt, to name those it is related to. */
  readonly known: ReadonlyMap<DecisionId, Decision>;
  readonly files: readonly ExplainedFile[];
  /** What cannot stand without it. */
  readonly dependants: readonly DecisionId[];
}

interface ExplainedFile extends ChangeEntry {
  /** Whether it is part of what the plan changed: made by a step that was recorded and not rolled back. */
  readonly counts: boolean;
}

async function explain(store: Store, plan: Plan, given: string): Promise<Explained> {
  const { total, outcomes, id } = await store.read(async (reader) => {
    const decision = await requireDecision(reader, plan, given);
    const all = await decisionOutcomes(reader, plan.id, decision.attempt, { superseded: true });
    return { total: await countDecisions(reader, plan.id), outcomes: all, id: decision.id };
  });
  const outcome = outcomes.find(({ decision }) => decision.id === id);
  if (outcome === undefined) throw new Error(`the decision ${id} is not among those of its attempt`);
  const changesets = new ChangesetStore(store);
  const files: ExplainedFile[] = [];
  for (const { changesetId } of outcome.calls) {
    const counts = outcome.recorded.has(changesetId);
    for (const entry of await changesets.entries(changesetId)) files.push({ ...entry, counts });
  }
  const { supersededAt, attempt } = outcome.decision;
  const related = supersededAt === undefined ? [...(await dependants(store, plan.id, attempt, id))] : [];
  return {
    outcome,
    total,
    known: new Map(outcomes.map(({ decision }) => [decision.id, decision])),
    files,
    dependants: related.filter((one) => one !== id),
  };
}

function data({ outcome, total, known, files, dependants: related }: Explained): Record<string, unknown> {
  const { decision, state, calls } = outcome;
  const named = (id: DecisionId): Record<string, unknown> => ({ id, step: known.get(id)?.step ?? null });
  return {
    decision: {
      id: decision.id,
      plan_id: decision.planId,
      attempt: decision.attempt,
      sequence: decision.sequence,
      decisions: total,
      type: decision.type,
      phase: decision.phase,
      step: decision.step ?? null,
      question: decision.question,
      chosen: decision.chosen,
      parent: decision.parent ?? null,
      needs: decision.needs.map(named),
      state,
      created_at: instant(decision.createdAt),
      superseded_at: decision.supersededAt === undefined ? null : instant(decision.supersededAt),
      superseded_by: decision.supersededBy ?? null,
    },
    dependants: related.map(named),
    tool_calls: calls.map((call) => callData(call, files)),
    files: files.map(({ resource, path, fromPath, operation, toolInvocation, counts }) => ({
      resource,
      path,
      from_path: fromPath ?? null,
      operation,
      tool_call: toolInvocation,
      counts,
    })),
  };
}

function callData(call: ToolInvocation, files: readonly ExplainedFile[]): Record<string, unknown> {
  const { end } = call;
  return {
    id: call.id,
    tool: call.tool,
    parameters: call.parameters,
    started_at: instant(call.startedAt),
    duration_ms: end?.durationMs ?? null,
    outcome: end?.outcome ?? null,
    error: end?.outcome === "failed" ? end.error : null,
    refused_by: call.refusedBy ?? null,
    result_size: end?.outcome === "ok" ? end.resultSize : null,
    changes: files.filter(({ changesetId }) => changesetId === call.changesetId).length,
    superseded: call.supersededAt !== undefined,
  };
}

function view({ outcome, total, known, files, dependants: related }: Explained): View {
  const { decision, state, calls } = outcome;
  const names = (ids: readonly DecisionId[]): string =>
    ids.length === 0 ? "-" : ids.map((id) => known.get(id)?.step ?? id).join(", ");
  return [
    {
      kind: "fields",
      title: `Decision ${decision.id}`,
      rows: [
        ["question", decision.question],
        ...chosenRows(decision),
        ["type", `${decision.type} (${decision.phase})`],
        ["number", `${decision.sequence} of ${total}, attempt ${decision.attempt}`],
        ["state", decisionStateCell(state)],
        ...(decision.supersededBy === undefined ? [] : [["superseded by", decision.supersededBy] as const]),
        ["needs", names(decision.needs)],
        ["others rely on it", names(related)],
        ["decided", instant(decision.createdAt)],
      ],
    },
    {
      kind: "table",
      title: "Tool calls",
      columns: [{ keep: "Id" }, "Tool", "Outcome", "Took", "Result", "Why"],
      rows: calls.map(({ id, tool, end, supersededAt }) => [
        id,
        tool,
        toned(
          `${end?.outcome ?? "unfinished"}${supersededAt === undefined ? "" : ", undone"}`,
          end === undefined ? "warn" : end.outcome === "ok" ? "good" : "bad",
        ),
        end === undefined ? "-" : `${end.durationMs} ms`,
        end?.outcome === "ok" ? count(end.resultSize, "byte") : "-",
        orDash(end?.outcome === "failed" ? end.error : undefined),
      ]),
      empty: decision.step === undefined ? "" : "No tool was called for it yet.",
    },
    {
      kind: "table",
      title: "Files",
      columns: [{ keep: "Path" }, "Resource", "Change", "Counts"],
      rows: files.map(({ resource, path, fromPath, operation, counts }) => [
        fromPath === undefined ? path : `${fromPath} → ${path}`,
        resource,
        operation,
        counts ? "yes" : toned("no", "warn"),
      ]),
      empty: "",
    },
  ];
}

function chosenRows({ type, chosen }: Decision): (readonly [string, string])[] {
  if (type !== "strategy_choice") return [["chosen", ""], ...partRows(chosen)];
  const { tool, params } = chosen as ChosenCall;
  return [["chosen", tool], ...partRows(params)];
}

function partRows(value: JsonValue): (readonly [string, string])[] {
  const text = (part: unknown): string => shown(typeof part === "string" ? part : JSON.stringify(part), 200);
  if (typeof value !== "object" || value === null) return [["  ", text(value)]];
  return Object.entries(value).map(([name, part]) => [`  ${name}`, text(part)] as const);
}
