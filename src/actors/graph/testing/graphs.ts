/**
 * Graphs and effects for tests: functions answer what a run asks for, and the answer is recorded under its key, as a
 * plan would do it.
 */
import type {
  GraphActorDefinition,
  GraphEdge,
  GraphNode,
  LlmActorDefinition,
  Route,
} from "../../../domain/actor/actor.ts";
import type { DecisionId } from "../../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../../domain/values/json.ts";
import { parseQualifiedName, type QualifiedName } from "../../../domain/names/qualified-name.ts";
import type { ToolName } from "../../../domain/names/tool-names.ts";
import type { About, ActorEffects, Asked, EffectCall, Told } from "../../loop/actor-effects.ts";
import type { ToolOutcome } from "../../../domain/plan/tool-outcome.ts";
import type { GraphInput, GraphPorts } from "../run-graph.ts";

const MODEL_PARTS = {
  description: "For a test",
  provider: "vllm",
  model: "qwen3",
  systemPrompt: "You are part of a graph.",
  options: {},
  tools: undefined,
  contextView: undefined,
  memory: {},
  responseFormat: undefined,
  unsafe: false,
} as const;

export function graph(
  route: { nodes: readonly GraphNode[] } & Partial<Route>,
  more: { name?: string; responseFormat?: JsonObject } = {},
): GraphActorDefinition {
  const { nodes } = route;
  return {
    ...MODEL_PARTS,
    type: "graph",
    name: parseQualifiedName(more.name ?? "local/graph"),
    responseFormat: more.responseFormat,
    route: {
      edges: [],
      entry: nodes[0]?.id ?? "",
      exits: [nodes.at(-1)?.id ?? ""],
      state: {},
      limits: { maxVisits: 100, maxRounds: 1_000 },
      ...route,
    },
  };
}

export function llmActor(name: string, more: Partial<LlmActorDefinition> = {}): LlmActorDefinition {
  return { ...MODEL_PARTS, type: "llm", name: parseQualifiedName(name), ...more };
}

const base = { description: "", outputKey: undefined } as const;
type NodeMore = { outputKey?: string; description?: string };

export function ask(
  id: string,
  prompt: string,
  more: NodeMore & { tools?: readonly ToolName[]; actorRef?: string; systemPrompt?: string } = {},
): GraphNode {
  const actorRef = more.actorRef === undefined ? undefined : parseQualifiedName(more.actorRef);
  return { ...base, type: "llm", systemPrompt: undefined, tools: [], ...more, id, prompt, actorRef };
}

export function tool(id: string, params: JsonObject = {}, more: NodeMore = {}): GraphNode {
  return { ...base, type: "tool", tool: "read_file", ...more, id, params };
}

export function check(id: string, text: string, more: NodeMore = {}): GraphNode {
  return { ...base, type: "validation", tool: "read_file", params: {}, ...more, id, check: text };
}

export function choose(
  id: string,
  ...branches: readonly (readonly [check: string | undefined, to: string])[]
): GraphNode {
  return { ...base, type: "conditional", id, branches: branches.map(([text, to]) => ({ check: text, to })) };
}

export function subgraph(id: string, actorRef: string, input: Readonly<Record<string, string>> = {}): GraphNode {
  return { ...base, type: "subgraph", id, actorRef: parseQualifiedName(actorRef), input };
}

export function compute(
  id: string,
  name: Extract<GraphNode, { type: "function" }>["function"],
  input: JsonObject,
  more: NodeMore = {},
): GraphNode {
  return { ...base, type: "function", ...more, id, function: name, input };
}

export function edge(from: string, to: string, when?: GraphEdge["when"]): GraphEdge {
  return { from, to, when };
}

/** Edges along the ids, one after the other. */
export function chain(...ids: readonly string[]): GraphEdge[] {
  return ids.slice(1).map((to, index) => edge(ids[index] ?? "", to));
}

export const DECISION = "01HZZZZZZZZZZZZZZZZZZZZZZZ" as DecisionId;

export function input(state: JsonObject = {}): GraphInput {
  return { goal: "Make it work", state, decision: DECISION, key: "run" };
}

export interface Answers {
  /** A text, or everything else an answer can be. */
  readonly ask?: (call: Asked, key: string, about: About) => Promise<string | Partial<Told>> | string | Partial<Told>;
  readonly callTool?: (call: EffectCall, key: string) => Promise<ToolOutcome> | ToolOutcome;
}

/** Records in memory what was answered; a second run with the same effects is a resumed one. */
export class TestEffects implements ActorEffects {
  readonly signal: AbortSignal;
  readonly asked: { readonly key: string; readonly call: Asked; readonly about: About }[] = [];
  readonly called: { readonly key: string; readonly call: EffectCall }[] = [];
  readonly #records = new Map<string, unknown>();
  readonly #answers: Answers;

  constructor(answers: Answers = {}, signal: AbortSignal = new AbortController().signal) {
    this.#answers = answers;
    this.signal = signal;
  }

  async ask(key: string, call: Asked, about: About): Promise<{ answer: Told; decision: DecisionId }> {
    return await this.#once(key, async () => {
      this.asked.push({ key, call, about });
      const said = (await this.#answers.ask?.(call, key, about)) ?? "yes";
      return { answer: told(said), decision: `decision of ${key}` as DecisionId };
    });
  }

  async callTool(key: string, call: EffectCall): Promise<ToolOutcome> {
    return await this.#once(key, async () => {
      this.called.push({ key, call });
      return (await this.#answers.callTool?.(call, key)) ?? { ok: true, output: "done" };
    });
  }

  async once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T> {
    return await this.#once(key, fn);
  }

  async #once<T>(key: string, fn: () => Promise<T>): Promise<T> {
    if (!this.#records.has(key)) this.#records.set(key, structuredClone(await fn()));
    return structuredClone(this.#records.get(key)) as T;
  }
}

export function told(said: string | Partial<Told>): Told {
  const more = typeof said === "string" ? { text: said } : said;
  return {
    text: "",
    toolCalls: [],
    finish: "stop",
    model: { provider: "vllm", model: "qwen3" },
    usage: { inputTokens: 1, outputTokens: 1, estimated: false },
    ...more,
  };
}

/** An answer that asks for tools. */
export function wants(...calls: readonly { tool: string; params: JsonObject | undefined }[]): Partial<Told> {
  const toolCalls = calls.map(({ tool: name, params }, index) => ({
    id: `call-${index}`,
    tool: name,
    params,
    raw: JSON.stringify(params) ?? "nonsense",
  }));
  return { toolCalls, finish: "tool_calls" };
}

export function ports(
  effects: ActorEffects,
  actors: readonly (GraphActorDefinition | LlmActorDefinition)[] = [],
  more: Partial<GraphPorts> = {},
): GraphPorts {
  return {
    effects,
    actorOf: async (name: QualifiedName) => {
      const found = actors.find((one) => one.name === name);
      if (found === undefined) throw new Error(`There is no actor ${name}.`);
      return found;
    },
    modelOf: ({ provider = "", model = "" }) => ({ provider, model }),
    toolsFor: (names) => names.map((name) => ({ name, description: name, parameters: { type: "object" } })),
    ...more,
  };
}
