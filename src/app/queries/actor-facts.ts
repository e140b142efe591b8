/**
 * The facts of an actor: its model, tools and graph, or its steps. A model of a provider is an actor that is built in.
 */
import * as z from "zod";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { Actor, ActorDefinition, GraphEdge, GraphNode, Route } from "../../domain/actor/actor.ts";
import { agentEndpoint } from "../../domain/actor/known-agents.ts";
import { actorVariables, stepOrder, type ToolActorDefinition } from "../../domain/actor/tool-actor.ts";
import type { ToolRef } from "../../domain/names/tool-names.ts";
import { maskSecrets } from "../../domain/secrets/redaction.ts";
import { maskedJson } from "../../platform/masking.ts";
import { Instant, instant, Json } from "../base/schemas.ts";

const JsonRecord = z.record(z.string(), Json);
const Strings = z.array(z.string()).readonly();

export const ActorFacts = z.strictObject({
  name: z.string(),
  type: z.enum(["llm", "graph", "tool", "acp"]),
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

const AgentFacts = z.strictObject({
  /** Null for a program that is not known by name. */
  name: z.string().nullable(),
  speaks: z.enum(["acp", "run"]),
  /** Null where it is looked for when it is started. */
  command: Strings.nullable(),
  environment: z.record(z.string(), z.string()),
  endpoint: z.string(),
  /** The version of the Agent Client Protocol that is asked for first; null for a program that does not speak it. */
  protocol: z.int().nullable(),
  mode: z.string().nullable(),
  askingMode: z.string().nullable(),
  subAgents: z.boolean(),
  limits: z.strictObject({ rounds: z.int(), minutes: z.int() }),
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
  /** Of an agent of another maker. */
  agent: AgentFacts.optional(),
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
  const { provider = null, model = null, systemPrompt, contextView = null } = actor;
  if (actor.type === "acp") return { provider, model, systemPrompt, contextView };
  const { maxMessages, maxTokens } = actor.memory;
  return {
    provider,
    model,
    systemPrompt,
    contextView,
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
    ...(actor.type === "acp" ? { agent: agentFacts(actor) } : {}),
  };
}

function agentFacts(actor: AcpActorDefinition): z.output<typeof AgentFacts> {
  const { program, mode = null, askingMode = null, subAgents, limits } = actor;
  const about = { mode, askingMode, subAgents, limits };
  if (program.agent === undefined) {
    const { speaks, command, environment, endpoint } = program;
    const shown = Object.entries(environment).map(([name, value]) => [name, maskSecrets(value).text] as const);
    const protocol = speaks === "acp" ? actor.protocol : null;
    return { ...about, name: null, speaks, protocol, command, environment: Object.fromEntries(shown), endpoint };
  }
  return {
    ...about,
    name: program.agent,
    speaks: "acp",
    protocol: actor.protocol,
    command: null,
    environment: {},
    endpoint: agentEndpoint(actor),
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
export function actorAccess(actor: ActorDefinition, writes: (tool: ToolRef) => boolean): z.output<typeof ActorAccess> {
  const tools = toolsOf(actor);
  const filesystem = tools === undefined || tools.some(writes) ? "write" : tools.length > 0 ? "read" : "none";
  if (actor.type === "tool") return { unsafe: false, filesystem, network: "none" };
  // It has tools of its own.
  if (actor.type === "acp") return { unsafe: actor.unsafe, filesystem: "write", network: "model endpoint" };
  return { unsafe: actor.unsafe, filesystem, network: "model endpoint" };
}

/** Undefined for all that the plan allows. */
function toolsOf(actor: ActorDefinition): readonly ToolRef[] | undefined {
  if (actor.type === "tool") return actor.steps.map(({ tool }) => tool);
  // Those of ours; an agent is offered none that it is not given.
  if (actor.type === "acp") return actor.tools ?? [];
  // The nodes of a graph have the tools they name, and no others.
  return actor.type === "llm" ? actor.tools : [...new Set(actor.route.nodes.flatMap(toolsOfNode))];
}

function toolsOfNode(node: GraphNode): readonly ToolRef[] {
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
