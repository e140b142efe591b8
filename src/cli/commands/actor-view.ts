import type { Actor, ActorDefinition, GraphNode, Route } from "../../domain/actor.ts";
import { actorVariables, type ToolActorDefinition } from "../../domain/tool-actor.ts";
import { instant, orDash } from "../format.ts";
import type { Element, View } from "../view.ts";
import { toolsOf, waveNumbers } from "./actor-data.ts";

/** Actors as people see them. */
export function actorView(actor: ActorDefinition | Actor, usedBy: readonly string[]): View {
  return [
    {
      kind: "fields",
      title: actor.name,
      rows: [
        ["description", actor.description],
        ["type", actor.type],
        ...ownRows(actor),
        ...(usedBy.length === 0 ? [] : [["used by", usedBy.join("\n")] as const]),
        ...("createdAt" in actor ? [["created", instant(actor.createdAt)] as const] : []),
      ],
    },
    ...(actor.type === "tool" ? [stepTable(actor)] : []),
    ...(actor.type === "graph" ? graphTables(actor.route) : []),
  ];
}

type Row = readonly [string, string];

function ownRows(actor: ActorDefinition): Row[] {
  if (actor.type === "tool") return [["arguments", orDash(actorVariables(actor).join(", ") || undefined)]];
  const tools = toolsOf(actor);
  const { temperature, maxOutputTokens, topP, baseUrl } = actor.options;
  const rows: (readonly [string, string | number | undefined])[] = [
    ["provider", actor.provider],
    ["model", actor.model],
    ["endpoint", baseUrl],
    ["system prompt", actor.systemPrompt === "" ? undefined : actor.systemPrompt.trimEnd()],
    ["temperature", temperature],
    ["longest answer", maxOutputTokens === undefined ? undefined : `${maxOutputTokens} tokens`],
    ["top_p", topP],
    ["tools", tools === undefined ? "all that the plan allows" : tools.join(", ") || "none"],
    ["context view", actor.contextView],
    ["role", actor.roleHint],
    ["answers as", actor.responseFormat === undefined ? undefined : JSON.stringify(actor.responseFormat)],
    ["unsafe", actor.unsafe ? "yes" : undefined],
  ];
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, String(value)] as const]));
}

function stepTable(actor: ToolActorDefinition): Element {
  const waves = waveNumbers(actor);
  return {
    kind: "table",
    title: "Steps",
    columns: ["Wave", { keep: "Step" }, "Tool", "Needs", "Parameters"],
    rows: actor.steps.map((step) => [
      String(waves.get(step.id)),
      step.id,
      step.tool,
      step.needs.length === 0 ? "-" : step.needs.join(", "),
      JSON.stringify(step.params),
    ]),
    empty: "",
  };
}

function graphTables(route: Route): Element[] {
  const mark = (id: string): string => {
    const marks = [...(id === route.entry ? ["entry"] : []), ...(route.exits.includes(id) ? ["exit"] : [])];
    return orDash(marks.join(", ") || undefined);
  };
  return [
    {
      kind: "table",
      title: "Nodes",
      columns: [{ keep: "Node" }, "Type", "Is", "Leads to", "Does"],
      rows: route.nodes.map((node) => [node.id, node.type, mark(node.id), waysOf(route, node), doingOf(node)]),
      empty: "",
    },
  ];
}

function waysOf(route: Route, node: GraphNode): string {
  const branches = node.type === "conditional" ? node.branches : [];
  const ways = [
    ...branches.map(({ check, to }) => (check === undefined ? `${to} otherwise` : `${to} if ${check}`)),
    ...route.edges
      .filter(({ from }) => from === node.id)
      .map(({ to, when }) => (when === undefined ? to : `${to} if ${when.key} == ${JSON.stringify(when.equals)}`)),
  ];
  return orDash(ways.join("\n") || undefined);
}

function doingOf(node: GraphNode): string {
  if (node.description !== "") return node.description;
  switch (node.type) {
    case "llm":
      return node.actorRef ?? node.prompt;
    case "tool":
    case "validation":
      return `${node.tool} ${JSON.stringify(node.params)}`;
    case "subgraph":
      return node.actorRef;
    case "function":
      return `${node.function} ${JSON.stringify(node.input)}`;
    case "conditional":
      return "-";
  }
}
