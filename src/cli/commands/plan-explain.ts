import { dollars } from "../../domain/money.ts";
import type { Decision, ToolInvocation } from "../../domain/decision.ts";
import { NotFoundError } from "../../domain/errors.ts";
import type { DecisionId } from "../../domain/ids.ts";
import type { JsonValue } from "../../domain/json.ts";
import { shown } from "../../domain/text.ts";
import { isCall } from "../../execution/decided-steps.ts";
import type { ModelCallFacts } from "../../ledger/model-calls.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { bytes, count, instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned, type View } from "../view.ts";
import { explainedBy, type Explained, type ExplainedFile } from "./explained-decision.ts";
import { decisionStateCell } from "./plan-tree.ts";

/** One decision: what was decided and why, what it needed, the tool calls made for it, and the files they changed. */
export async function planExplain(context: CommandContext, input: Input): Promise<Outcome> {
  const explained = await explainedBy(context, input.argument(0), input.optionalArgument(1));
  const { plan, outcome } = explained;
  const { decision, calls } = outcome;
  const shows = {
    context: input.flag("showContext"),
    reasoning: input.flag("showReasoning"),
    alternatives: input.flag("showAlternatives"),
  };
  if (shows.context && explained.context === undefined) {
    throw new NotFoundError("context of decision", decision.id, {
      kept: "No model was asked for it.",
      next: [`agents plan tree ${plan.id}`],
    });
  }
  return {
    data: data(explained, shows),
    view: view(explained, shows),
    messages: info(`${count(calls.length, "tool call")}, ${count(explained.files.length, "change")}.`),
    next: [decision.step === undefined ? `agents plan tree ${plan.id}` : `agents plan diff ${plan.id}`],
    ...(shows.context ? { text: contextText(explained) } : {}),
  };
}

interface Shows {
  readonly context: boolean;
  readonly reasoning: boolean;
  readonly alternatives: boolean;
}

function contextText({ context = new Uint8Array() }: Explained): string {
  return Buffer.from(context).toString("utf8");
}

function data(explained: Explained, shows: Shows): Record<string, unknown> {
  const { outcome, total, known, files, dependants: related, call, context } = explained;
  const { decision, state, calls } = outcome;
  const { confidence, rationale, reasoning, alternatives, snapshot } = decision.thought;
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
      confidence: confidence ?? null,
      rationale: rationale ?? null,
      ...(shows.reasoning ? { reasoning: reasoning ?? null } : {}),
      ...(shows.alternatives ? { alternatives: alternatives ?? [] } : {}),
      parent: decision.parent ?? null,
      needs: decision.needs.map(named),
      state,
      created_at: instant(decision.createdAt),
      superseded_at: decision.supersededAt === undefined ? null : instant(decision.supersededAt),
      superseded_by: decision.supersededBy ?? null,
    },
    context_snapshot: snapshot === undefined ? null : { sha256: snapshot, bytes: context?.byteLength ?? 0 },
    ...(shows.context ? { context: contextText(explained) } : {}),
    model_call: call === undefined ? null : modelCallData(call),
    impact: {
      downstream_decisions: related.length,
      downstream_child_plans: 0,
      artifacts_produced: new Set(files.map(({ resource, path }) => `${resource}/${path}`)).size,
      correction_impact: impactOf(related.length),
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

function modelCallData(call: ModelCallFacts): Record<string, unknown> {
  return {
    model: `${call.provider}/${call.model}`,
    input_tokens: call.inputTokens,
    output_tokens: call.outputTokens,
    estimated: call.estimated,
    cost_usd: call.cost === undefined ? null : call.cost / 1_000_000,
    duration_ms: call.durationMs,
    tries: call.tries,
    masked_secrets: call.masked,
  };
}

/** How much would have to be decided again with it. */
function impactOf(downstream: number): "low" | "medium" | "high" {
  return downstream === 0 ? "low" : downstream < 5 ? "medium" : "high";
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

function view(explained: Explained, shows: Shows): View {
  const { outcome, total, known, files, dependants: related } = explained;
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
        ...thoughtRows(explained),
        ["type", `${decision.type} (${decision.phase})`],
        ["number", `${decision.sequence} of ${total}, attempt ${decision.attempt}`],
        ["state", decisionStateCell(state)],
        ...(decision.supersededBy === undefined ? [] : [["superseded by", decision.supersededBy] as const]),
        ["needs", names(decision.needs)],
        ["others rely on it", names(related)],
        ["decided", instant(decision.createdAt)],
      ],
    },
    ...thoughtView(explained, shows),
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

function thoughtRows({ outcome, call, context }: Explained): (readonly [string, string])[] {
  const { confidence, rationale, snapshot } = outcome.decision.thought;
  return [
    ...(confidence === undefined ? [] : [["confidence", String(confidence)] as const]),
    ...(rationale === undefined ? [] : [["rationale", rationale] as const]),
    ...(call === undefined
      ? []
      : [
          ["asked", `${call.provider}/${call.model}`] as const,
          [
            "used",
            `${call.inputTokens} tokens in, ${call.outputTokens} out${call.cost === undefined ? "" : `, ${dollars(call.cost)}`}`,
          ] as const,
        ]),
    ...(snapshot === undefined
      ? []
      : [["was shown", `${bytes(context?.byteLength ?? 0)}, sha256 ${snapshot} (--show-context)`] as const]),
  ];
}

function thoughtView({ outcome }: Explained, shows: Shows): View {
  const { reasoning = "", alternatives = [] } = outcome.decision.thought;
  const lines = (title: string, all: readonly string[]): View =>
    all.length === 0 ? [] : [{ kind: "lines", title, lines: all }];
  return [
    ...(shows.alternatives
      ? lines(
          "Alternatives",
          alternatives.map((one, index) => `${index + 1}. ${one}`),
        )
      : []),
    ...(shows.reasoning ? lines("What the model wrote", reasoning === "" ? [] : reasoning.split("\n")) : []),
  ];
}

function chosenRows({ chosen }: Decision): (readonly [string, string])[] {
  if (!isCall(chosen)) return [["chosen", ""], ...partRows(chosen)];
  return [["chosen", chosen.tool], ...partRows(chosen.params)];
}

function partRows(value: JsonValue): (readonly [string, string])[] {
  const text = (part: unknown): string => shown(typeof part === "string" ? part : JSON.stringify(part), 200);
  if (typeof value !== "object" || value === null) return [["  ", text(value)]];
  return Object.entries(value).map(([name, part]) => [`  ${name}`, text(part)] as const);
}
