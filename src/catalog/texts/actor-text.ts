/** A stored actor as the file that its author could have written: read again, it is the same actor. */
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { ActorDefinition, GraphNode, Route } from "../../domain/actor/actor.ts";
import type { ToolStep } from "../../domain/actor/tool-actor.ts";
import { snakeKeys } from "./yaml-of-definition.ts";

type FileValue = Readonly<Record<string, unknown>>;

export function actorValue(actor: ActorDefinition): FileValue {
  const { name, type, description } = actor;
  return escaped({ name, type, description, ...restOf(actor) }) as FileValue;
}

function restOf(actor: ActorDefinition): FileValue {
  if (actor.type === "tool") return { steps: actor.steps.map(stepValue) };
  const { systemPrompt, options, contextView, unsafe, tools, skills } = actor;
  const common = {
    system_prompt: systemPrompt === "" ? undefined : systemPrompt,
    options: notEmpty(snakeKeys(options)),
    context_view: contextView,
    skills,
    unsafe: unsafe || undefined,
  };
  if (actor.type === "acp") return { ...agentValue(actor), ...common, tools };
  const model = {
    provider: actor.provider,
    model: actor.model,
    ...common,
    memory: notEmpty(snakeKeys(actor.memory)),
    response_format: actor.responseFormat,
  };
  return actor.type === "llm" ? { ...model, tools } : { ...model, route: routeValue(actor.route) };
}

function stepValue({ id, tool, params, needs }: ToolStep): FileValue {
  return { id, tool, params, ...(needs.length === 0 ? {} : { needs }) };
}

function notEmpty(value: FileValue): FileValue | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function agentValue(actor: AcpActorDefinition): FileValue {
  const { program, provider, model, protocol, mode, askingMode, subAgents, limits } = actor;
  const { agent } = program;
  const started =
    agent === undefined
      ? {
          [program.speaks === "acp" ? "command" : "run"]: program.command,
          env: notEmpty(program.environment),
          endpoint: program.endpoint,
        }
      : { agent };
  return {
    ...started,
    model: provider === undefined ? undefined : `${provider}/${model}`,
    protocol: protocol === 1 ? undefined : protocol,
    mode,
    asking_mode: askingMode,
    sub_agents: subAgents || undefined,
    limits,
  };
}

function routeValue({ nodes, edges, entry, exits, state, limits }: Route): FileValue {
  return {
    entry,
    exits,
    nodes: nodes.map(nodeValue),
    edges,
    state: notEmpty(state),
    limits: snakeKeys(limits),
  };
}

/** The keys of a node are ours; what stands in them is the author's own. */
function nodeValue({ id, type, description, ...rest }: GraphNode): FileValue {
  return { id, type, description: description === "" ? undefined : description, ...snakeKeys(rest) };
}

const VARIABLE = /\$\{(?=[A-Za-z_][A-Za-z0-9_]*(?::[^}]*)?\})/g;

/** In an actor's file, `${NAME}` takes a variable; a text that has it is written `$${NAME}`. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(VARIABLE, "$$$${");
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, escaped(one)]));
}
