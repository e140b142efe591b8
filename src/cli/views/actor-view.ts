/** An actor: what it is and may do, then its steps or its graph. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { orDash } from "../terminal/format.ts";
import type { Element, View } from "../terminal/view.ts";

/** The facts that `actor add` shows of each actor; `actor show` shows the same in parts. */
type ShownActor = Extract<OutputOf<"actor.add">, { actors: unknown }>["actors"][number];
type Graph = NonNullable<ShownActor["graphStructure"]>;
type Node = Graph["nodes"][number];
type Row = readonly [string, string];

export function actorView(actor: ShownActor, usedBy: readonly string[]): View {
  const { steps, graphStructure } = actor;
  return [
    {
      kind: "fields",
      title: actor.name,
      rows: [
        ["description", actor.description],
        ["type", actor.type],
        ...ownRows(actor),
        ...(usedBy.length === 0 ? [] : [["used by", usedBy.join("\n")] as const]),
        ...(actor.createdAt === undefined ? [] : [["created", actor.createdAt] as const]),
      ],
    },
    ...(steps === undefined ? [] : [stepTable(steps)]),
    ...(graphStructure === undefined || graphStructure === null ? [] : [nodeTable(graphStructure)]),
  ];
}

/** Of an agent of another maker. */
function agentRows({ agent }: ShownActor): (readonly [string, string | null])[] {
  if (agent === undefined) return [];
  const { limits, environment } = agent;
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [
    ["agent", agent.name],
    ["command", agent.command?.join(" ") ?? null],
    ["speaks", spokenBy(agent)],
    ["variables", variables.join("\n") || null],
    ["asks its model by", agent.endpoint],
    ["mode", agent.mode],
    ["mode with guards", agent.askingMode],
    ["sub-agents", agent.subAgents ? "yes" : "no"],
    ["limits", `${limits.rounds} rounds, ${limits.minutes} minutes`],
  ];
}

function spokenBy({ speaks, protocol }: NonNullable<ShownActor["agent"]>): string {
  if (speaks === "run") return "nothing: it runs once for each prompt";
  return `the Agent Client Protocol, version ${protocol === 2 ? "2, or 1" : "1, or 2"}`;
}

function ownRows(actor: ShownActor): Row[] {
  if (actor.variables !== undefined) return [["arguments", orDash(actor.variables.join(", ") || undefined)]];
  const { options, tools, responseFormat, systemPrompt = "" } = actor;
  const most = options?.maxOutputTokens ?? null;
  const providerOptions = options?.providerOptions ?? null;
  const rows: (readonly [string, string | number | null | undefined])[] = [
    ...agentRows(actor),
    ["provider", actor.provider],
    ["model", actor.model],
    ["endpoint", options?.baseUrl],
    ["system prompt", systemPrompt === "" ? null : systemPrompt.trimEnd()],
    ["temperature", options?.temperature],
    ["longest answer", most === null ? null : `${most} tokens`],
    ["top_p", options?.topP],
    ["reasoning", options?.reasoning],
    ["provider options", providerOptions === null ? null : JSON.stringify(providerOptions)],
    [
      actor.agent === undefined ? "tools" : "tools of ours",
      tools === undefined || tools === null ? "all that the plan allows" : tools.join(", ") || "none",
    ],
    ["context view", actor.contextView],
    ["answers as", responseFormat === undefined || responseFormat === null ? null : JSON.stringify(responseFormat)],
    ["unsafe", actor.access.unsafe ? "yes" : null],
  ];
  return rows.flatMap(([label, value]) =>
    value === undefined || value === null ? [] : [[label, String(value)] as const],
  );
}

function stepTable(steps: NonNullable<ShownActor["steps"]>): Element {
  return {
    kind: "table",
    title: "Steps",
    columns: ["Wave", { keep: "Step" }, "Tool", "Needs", "Parameters"],
    rows: steps.map(({ wave, id, tool, needs, params }) => [
      String(wave),
      id,
      tool,
      needs.length === 0 ? "-" : needs.join(", "),
      JSON.stringify(params),
    ]),
    empty: "",
  };
}

function nodeTable(graph: Graph): Element {
  const mark = (id: string): string => {
    const marks = [...(id === graph.entry ? ["entry"] : []), ...(graph.exits.includes(id) ? ["exit"] : [])];
    return orDash(marks.join(", ") || undefined);
  };
  return {
    kind: "table",
    title: "Nodes",
    columns: [{ keep: "Node" }, "Type", "Is", "Leads to", "Does"],
    rows: graph.nodes.map((node) => [node.id, node.type, mark(node.id), waysOf(graph, node), doingOf(node)]),
    empty: "",
  };
}

function waysOf({ edges }: Graph, node: Node): string {
  const conditions = node.type === "conditional" ? node.conditions : [];
  const ways = [
    ...conditions.map(({ check, to }) => (check === null ? `${to} otherwise` : `${to} if ${check}`)),
    ...edges
      .filter(({ from }) => from === node.id)
      .map(({ to, condition }) =>
        condition === null ? to : `${to} if ${condition.contextValue} == ${JSON.stringify(condition.equals)}`,
      ),
  ];
  return orDash(ways.join("\n") || undefined);
}

function doingOf(node: Node): string {
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
