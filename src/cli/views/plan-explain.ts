import type { OutputOf } from "../../app/table/operation-table.ts";
import { shown } from "../../domain/text/text.ts";
import { tokensText, bytes, count, orDash } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { toned, type Element, type View } from "../terminal/view.ts";
import { usd } from "./parts.ts";
import { decisionStateCell } from "./plan-tree.ts";
import { readableContext } from "./shown-context.ts";

type Output = OutputOf<"plan.explain">;
type Row = readonly [string, string];

export const show: Show<"plan.explain"> = (output, { io }) => ({
  view: [decisionElement(output), ...thoughtElements(output), callTable(output), fileTable(output)],
  messages: info(`${count(output.toolCalls.length, "tool call")}, ${count(output.files.length, "change")}.`),
  ...textOf(output, io.outTerminal.isTTY),
});

/** Printed alone: on a terminal to be read, elsewhere exactly, so that it can be searched, kept and compared. */
function textOf({ context, output }: Output, read: boolean): { readonly text?: string; readonly isLong?: boolean } {
  if (context !== undefined) return { text: read ? readableContext(context) : context, isLong: true };
  return output === undefined ? {} : { text: output, isLong: true };
}

function decisionElement(output: Output): Element {
  const { decision, dependants } = output;
  const names = (all: Output["dependants"]): string => all.map(({ id, step }) => step ?? id).join(", ") || "-";
  return {
    kind: "fields",
    title: `Decision ${decision.id}`,
    rows: [
      ["question", decision.question],
      ...chosenRows(decision.chosen),
      ...thoughtRows(output),
      ["type", `${decision.type} (${decision.phase})`],
      ["number", `${decision.sequence} of ${decision.decisions}, attempt ${decision.attempt}`],
      ["state", decisionStateCell(decision.state)],
      ...(decision.supersededBy === null ? [] : [["superseded by", decision.supersededBy] as const]),
      ...instructionRows(output),
      ["needs", names(decision.needs)],
      ["needed by", names(dependants)],
      ["decided", decision.createdAt],
    ],
  };
}

function callTable({ decision, toolCalls }: Output): Element {
  return {
    kind: "table",
    title: "Tool calls",
    columns: [{ keep: "Id" }, "Tool", "Outcome", "Took", "Result", "Why"],
    rows: toolCalls.map(({ id, tool, outcome, durationMs, resultSize, error, superseded }) => [
      id,
      tool,
      toned(
        `${outcome ?? "unfinished"}${superseded ? ", undone" : ""}`,
        outcome === null ? "warn" : outcome === "ok" ? "good" : "bad",
      ),
      durationMs === null ? "-" : `${durationMs} ms`,
      resultSize === null ? "-" : count(resultSize, "byte"),
      orDash(error ?? undefined),
    ]),
    empty: decision.step === null ? "" : "No tool was called for it yet.",
  };
}

function fileTable({ files }: Output): Element {
  return {
    kind: "table",
    title: "Files",
    columns: [{ keep: "Path" }, "Resource", "Change", "Counts"],
    rows: files.map(({ resource, path, fromPath, operation, counts }) => [
      fromPath === null ? path : `${fromPath} → ${path}`,
      resource,
      operation,
      counts ? "yes" : toned("no", "warn"),
    ]),
    empty: "",
  };
}

function thoughtRows({ decision, modelCall, contextSnapshot }: Output): Row[] {
  const { confidence, rationale } = decision;
  return [
    ...(confidence === null ? [] : [["confidence", String(confidence)] as const]),
    ...(rationale === null ? [] : [["rationale", rationale] as const]),
    ...(modelCall === null ? [] : modelRows(modelCall)),
    ...(contextSnapshot === null
      ? []
      : [["was shown", `${bytes(contextSnapshot.bytes)}, sha256 ${contextSnapshot.sha256} (--show-context)`] as const]),
  ];
}

function instructionRows({ instructions }: Output): Row[] {
  return instructions.map(({ path, bytes: size, step }) => [
    "instructions",
    `${path} (${bytes(size)}, told in ${step})`,
  ]);
}

function modelRows(call: NonNullable<Output["modelCall"]>): Row[] {
  const cost = call.costUsd === null ? "" : `, ${usd(call.costUsd)}`;
  return [
    ["asked", call.model],
    ["used", `${tokensText(call)}${cost}`],
  ];
}

function thoughtElements({ decision }: Output): View {
  const { reasoning, alternatives = [] } = decision;
  const lines = (title: string, all: readonly string[]): View =>
    all.length === 0 ? [] : [{ kind: "lines", title, lines: all }];
  return [
    ...lines(
      "Alternatives",
      alternatives.map((one, index) => `${index + 1}. ${one}`),
    ),
    ...lines("The model's own text", (reasoning ?? "") === "" ? [] : (reasoning ?? "").split("\n")),
  ];
}

function chosenRows(chosen: Output["decision"]["chosen"]): Row[] {
  const call = isCall(chosen) ? chosen : undefined;
  return [["chosen", call?.tool ?? ""], ...partRows(call === undefined ? chosen : call.params)];
}

function isCall(chosen: unknown): chosen is { readonly tool: string; readonly params: unknown } {
  return typeof chosen === "object" && chosen !== null && "tool" in chosen && "params" in chosen;
}

function partRows(value: unknown): Row[] {
  const text = (part: unknown): string => shown(typeof part === "string" ? part : JSON.stringify(part), 200);
  if (typeof value !== "object" || value === null) return [["  ", text(value)]];
  return Object.entries(value).map(([name, part]) => [`  ${name}`, text(part)] as const);
}
