import { maskedJson } from "../../store/masking.ts";
import type { Actor, ActorDefinition, GraphEdge, GraphNode, Route } from "../../domain/actor.ts";
import { actorVariables, stepOrder, type ToolActorDefinition } from "../../domain/tool-actor.ts";
import { type ToolName } from "../../domain/tool-names.ts";
import { instant } from "../format.ts";

/** Actors as machines see them. */
export function actorData(actor: ActorDefinition | Actor): Record<string, unknown> {
  const kept = "version" in actor;
  return {
    name: actor.name,
    type: actor.type,
    builtin: !kept,
    description: actor.description,
    ...(actor.type === "tool"
      ? { variables: actorVariables(actor) }
      : {
          provider: actor.provider ?? null,
          model: actor.model ?? null,
          system_prompt: actor.systemPrompt,
          context_view: actor.contextView ?? null,
          memory: { max_messages: actor.memory.maxMessages ?? null, max_tokens: actor.memory.maxTokens ?? null },
          response_format: actor.responseFormat ?? null,
          role_hint: actor.roleHint ?? null,
        }),
    ...(kept
      ? { version: actor.version, created_at: instant(actor.createdAt), updated_at: instant(actor.updatedAt) }
      : {}),
  };
}

/** What is special to the type of an actor: its options, tools and graph, or its steps. */
export function partsData(actor: ActorDefinition): Record<string, unknown> {
  if (actor.type === "tool") return { steps: stepData(actor), waves: stepOrder(actor) };
  const { temperature, maxOutputTokens, topP, baseUrl } = actor.options;
  return {
    options: {
      temperature: temperature ?? null,
      max_output_tokens: maxOutputTokens ?? null,
      top_p: topP ?? null,
      base_url: baseUrl ?? null,
    },
    graph_structure: actor.type === "graph" ? graphData(actor.route) : null,
    // Null for all that a plan allows.
    tools: toolsOf(actor) ?? null,
  };
}

/** The steps in the order of the file, each with the number of the wave it runs in. */
export function stepData(actor: ToolActorDefinition): Record<string, unknown>[] {
  const waves = waveNumbers(actor);
  return actor.steps.map((step) => ({ ...step, params: maskedJson(step.params).value, wave: waves.get(step.id) }));
}

export function waveNumbers(actor: ToolActorDefinition): ReadonlyMap<string, number> {
  return new Map(stepOrder(actor).flatMap((ids, index) => ids.map((id) => [id, index + 1] as const)));
}

/** What an actor can do to files and whether anything leaves the machine for it. */
export function accessData(actor: ActorDefinition, writes: (tool: ToolName) => boolean): Record<string, unknown> {
  const tools = toolsOf(actor);
  const filesystem = tools === undefined || tools.some(writes) ? "write" : tools.length > 0 ? "read" : "none";
  const unsafe = actor.type === "tool" ? false : actor.unsafe;
  return { unsafe, filesystem, network: actor.type === "tool" ? "none" : "model endpoint" };
}

/** Undefined for all that the plan allows. */
export function toolsOf(actor: ActorDefinition): readonly ToolName[] | undefined {
  if (actor.type === "tool") return actor.steps.map(({ tool }) => tool);
  // The nodes of a graph have the tools they name, and no others.
  return actor.type === "llm" ? actor.tools : [...new Set(actor.route.nodes.flatMap(toolsOfNode))];
}

function toolsOfNode(node: GraphNode): readonly ToolName[] {
  if (node.type === "llm") return node.tools;
  return node.type === "tool" || node.type === "validation" ? [node.tool] : [];
}

function graphData({ nodes, edges, entry, exits, state, limits }: Route): Record<string, unknown> {
  return {
    nodes: nodes.map(nodeData),
    edges: edges.map(edgeData),
    entry,
    exits,
    state,
    limits: { max_visits: limits.maxVisits, max_rounds: limits.maxRounds },
  };
}

function nodeData(node: GraphNode): Record<string, unknown> {
  const { id, type, description, outputKey } = node;
  return { id, type, description, output_key: outputKey ?? id, ...ownData(node) };
}

function ownData(node: GraphNode): Record<string, unknown> {
  switch (node.type) {
    case "llm":
      return {
        actor_ref: node.actorRef ?? null,
        prompt: node.prompt,
        system_prompt: node.systemPrompt ?? null,
        tools: node.tools,
      };
    case "tool":
      return { tool: node.tool, params: node.params };
    case "conditional":
      return { conditions: node.branches.map(({ check, to }) => ({ check: check ?? null, to })) };
    case "subgraph":
      return { actor_ref: node.actorRef, input: node.input };
    case "function":
      return { function: node.function, input: node.input };
    case "validation":
      return { tool: node.tool, params: node.params, check: node.check };
  }
}

function edgeData({ from, to, when }: GraphEdge): Record<string, unknown> {
  return { from, to, condition: when === undefined ? null : { context_value: when.key, equals: when.equals } };
}
