/**
 * The facts of an actor: its model, tools and graph, or its steps. A model of a provider is an actor that is built in.
 */
import * as z from "zod";
import type { Actor, ActorDefinition, GraphEdge, GraphNode, Route } from "../../domain/actor/actor.ts";
import { actorVariables, stepOrder, type ToolActorDefinition } from "../../domain/actor/tool-actor.ts";
import type { ToolName } from "../../domain/names/tool-names.ts";
import { maskedJson } from "../../platform/masking.ts";
import { Instant, instant, Json } from "../base/schemas.ts";

const JsonRecord = z.record(z.string(), Json);
const Strings = z.array(z.string()).readonly();

export const ActorFacts = z.strictObject({
  name: z.string(),
  type: z.enum(["llm", "graph", "tool"]),
  builtin: z.boolean(),
  description: z.string(),
  /** Of a tool actor: the arguments its steps take. */
  variables: Strings.optional(),
  /** The others ask a model; null where that is left to the caller. */
  provider: z.string().nullable().optional(),
  model: z.string().nullable().optional(),
  systemPrompt: z.string().optional(),
  contextView: z.string().nullable().optional(),
  memory: z.strictObject({ maxMessages: z.int().nullable(), maxTokens: z.int().nullable() }).optional(),
  responseFormat: JsonRecord.nullable().optional(),
  /** Of an actor that is registered. */
  version: z.int().optional(),
  createdAt: Instant.optional(),
  updatedAt: Instant.optional(),
});

const StepFacts = z.strictObject({
  id: z.string(),
  tool: z.string(),
  params: Json,
  needs: Strings,
  /** The wave it runs in, from 1. */
  wave: z.int(),
});

const Node = z.strictObject({ id: z.string(), description: z.string(), outputKey: z.string() });

const NodeFacts = z.discriminatedUnion("type", [
  Node.extend({
    type: z.literal("llm"),
    actorRef: z.string().nullable(),
    prompt: z.string(),
    systemPrompt: z.string().nullable(),
    tools: Strings,
  }),
  Node.extend({ type: z.literal("tool"), tool: z.string(), params: JsonRecord }),
  Node.extend({
    type: z.literal("conditional"),
    conditions: z.array(z.strictObject({ check: z.string().nullable(), to: z.string() })),
  }),
  Node.extend({ type: z.literal("subgraph"), actorRef: z.string(), input: z.record(z.string(), z.string()) }),
  Node.extend({ type: z.literal("function"), function: z.string(), input: JsonRecord }),
  Node.extend({ type: z.literal("validation"), tool: z.string(), params: JsonRecord, check: z.string() }),
]);

const GraphFacts = z.strictObject({
  nodes: z.array(NodeFacts),
  edges: z.array(
    z.strictObject({
      from: z.string(),
      to: z.string(),
      condition: z.strictObject({ contextValue: z.string(), equals: Json }).nullable(),
    }),
  ),
  entry: z.string(),
  exits: Strings,
  /** How updates of each key are merged. */
  state: z.record(z.string(), z.string()),
  limits: z.strictObject({ maxVisits: z.int(), maxRounds: z.int() }),
});

/** The facts that only this type of actor has. */
export const ActorParts = z.strictObject({
  /** Of a tool actor, in the order of its file. */
  steps: z.array(StepFacts).optional(),
  waves: z.array(Strings).readonly().optional(),
  options: z
    .strictObject({
      temperature: z.number().nullable(),
      maxOutputTokens: z.int().nullable(),
      topP: z.number().nullable(),
      reasoning: z.union([z.string(), z.int()]).nullable(),
      providerOptions: z.record(z.string(), Json).nullable(),
      baseUrl: z.string().nullable(),
    })
    .optional(),
  graphStructure: GraphFacts.nullable().optional(),
  /** Null for all that a plan allows. */
  tools: Strings.nullable().optional(),
});

export const ActorAccess = z.strictObject({
  unsafe: z.boolean(),
  filesystem: z.enum(["write", "read", "none"]),
  network: z.enum(["none", "model endpoint"]),
});

export function actorFacts(actor: ActorDefinition | Actor): z.output<typeof ActorFacts> {
  const { name, type, description } = actor;
  const about = { name, type, builtin: !("version" in actor), description, ...modelFacts(actor) };
  if (!("version" in actor)) return about;
  const { version, createdAt, updatedAt } = actor;
  return { ...about, version, createdAt: instant(createdAt), updatedAt: instant(updatedAt) };
}

function modelFacts(actor: ActorDefinition): Partial<z.output<typeof ActorFacts>> {
  if (actor.type === "tool") return { variables: actorVariables(actor) };
  const { maxMessages, maxTokens } = actor.memory;
  return {
    provider: actor.provider ?? null,
    model: actor.model ?? null,
    systemPrompt: actor.systemPrompt,
    contextView: actor.contextView ?? null,
    memory: { maxMessages: maxMessages ?? null, maxTokens: maxTokens ?? null },
    responseFormat: actor.responseFormat ?? null,
  };
}

export function actorParts(actor: ActorDefinition): z.output<typeof ActorParts> {
  if (actor.type === "tool") return { steps: stepFacts(actor), waves: stepOrder(actor) };
  const { temperature, maxOutputTokens, topP, reasoning, providerOptions, baseUrl } = actor.options;
  return {
    options: {
      temperature: temperature ?? null,
      maxOutputTokens: maxOutputTokens ?? null,
      topP: topP ?? null,
      reasoning: reasoning ?? null,
      providerOptions: providerOptions ?? null,
      baseUrl: baseUrl ?? null,
    },
    graphStructure: actor.type === "graph" ? graphFacts(actor.route) : null,
    tools: toolsOf(actor) ?? null,
  };
}

function stepFacts(actor: ToolActorDefinition): z.output<typeof StepFacts>[] {
  const waves = new Map(stepOrder(actor).flatMap((ids, index) => ids.map((id) => [id, index + 1] as const)));
  return actor.steps.map(({ id, tool, params, needs }) => ({
    id,
    tool,
    params: maskedJson(params).value,
    needs,
    wave: waves.get(id) ?? 0,
  }));
}

/** How an actor can change files, and whether it sends anything off the machine. */
export function actorAccess(actor: ActorDefinition, writes: (tool: ToolName) => boolean): z.output<typeof ActorAccess> {
  const tools = toolsOf(actor);
  const filesystem = tools === undefined || tools.some(writes) ? "write" : tools.length > 0 ? "read" : "none";
  if (actor.type === "tool") return { unsafe: false, filesystem, network: "none" };
  return { unsafe: actor.unsafe, filesystem, network: "model endpoint" };
}

/** Undefined for all that the plan allows. */
function toolsOf(actor: ActorDefinition): readonly ToolName[] | undefined {
  if (actor.type === "tool") return actor.steps.map(({ tool }) => tool);
  // The nodes of a graph have the tools they name, and no others.
  return actor.type === "llm" ? actor.tools : [...new Set(actor.route.nodes.flatMap(toolsOfNode))];
}

function toolsOfNode(node: GraphNode): readonly ToolName[] {
  if (node.type === "llm") return node.tools;
  return node.type === "tool" || node.type === "validation" ? [node.tool] : [];
}

function graphFacts({ nodes, edges, entry, exits, state, limits }: Route): z.output<typeof GraphFacts> {
  const { maxVisits, maxRounds } = limits;
  return {
    nodes: nodes.map(nodeFacts),
    edges: edges.map(edgeFacts),
    entry,
    exits,
    state,
    limits: { maxVisits, maxRounds },
  };
}

function nodeFacts(node: GraphNode): z.output<typeof NodeFacts> {
  const { id, description } = node;
  const about = { id, description, outputKey: node.outputKey ?? id };
  switch (node.type) {
    case "llm": {
      const { type, prompt, tools } = node;
      const named = { actorRef: node.actorRef ?? null, systemPrompt: node.systemPrompt ?? null };
      return { ...about, ...named, type, prompt, tools };
    }
    case "tool":
      return { ...about, type: node.type, tool: node.tool, params: node.params };
    case "conditional": {
      const conditions = node.branches.map(({ check, to }) => ({ check: check ?? null, to }));
      return { ...about, type: node.type, conditions };
    }
    case "subgraph":
      return { ...about, type: node.type, actorRef: node.actorRef, input: node.input };
    case "function":
      return { ...about, type: node.type, function: node.function, input: node.input };
    case "validation":
      return { ...about, type: node.type, tool: node.tool, params: node.params, check: node.check };
  }
}

function edgeFacts({ from, to, when }: GraphEdge): z.output<typeof GraphFacts>["edges"][number] {
  return { from, to, condition: when === undefined ? null : { contextValue: when.key, equals: when.equals } };
}
