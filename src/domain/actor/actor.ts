import type { AcpActorDefinition } from "./acp-actor.ts";
import type { ContextView } from "../context/context-policy.ts";
import type { Reasoning } from "./reasoning.ts";
import type { JsonObject, JsonValue } from "../values/json.ts";
import type { QualifiedName } from "../names/qualified-name.ts";
import type { ToolActorDefinition } from "./tool-actor.ts";
import type { ToolRef } from "../names/tool-names.ts";

/** Who does the work of a plan: a model with tools, a graph of nodes, a fixed graph of tool calls, or another agent. */
export type ActorDefinition = LlmActorDefinition | GraphActorDefinition | ToolActorDefinition | AcpActorDefinition;
/** The kinds of actors. */
export type ActorType = ActorDefinition["type"];

export type Actor = ActorDefinition & {
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** The common part of actors that ask models. The actor may leave the choice of the model to its caller. */
interface ModelActor {
  readonly name: QualifiedName;
  readonly description: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly systemPrompt: string;
  readonly options: ActorOptions;
  /** The tools its model is offered; undefined for all that the plan allows. */
  readonly tools: readonly ToolRef[] | undefined;
  /** The skills that its model is told of; missing for all that the plan has. */
  readonly skills?: readonly string[];
  readonly contextView: ContextView | undefined;
  readonly memory: ActorMemory;
  /** JSON Schema the last answer must fit. */
  readonly responseFormat: JsonObject | undefined;
  /** Its author warns that it may do harm: only plans whose profile allows unsafe tools may have it. */
  readonly unsafe: boolean;
}

/** An actor that is one model. */
export interface LlmActorDefinition extends ModelActor {
  readonly type: "llm";
}

/** An actor that is a graph of nodes. */
export interface GraphActorDefinition extends ModelActor {
  readonly type: "graph";
  readonly route: Route;
}

/** Parameters of the model. */
export interface ActorOptions {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly topP?: number;
  /** How much its model thinks before it answers. */
  readonly reasoning?: Reasoning;
  /** Handed to its provider as they are. */
  readonly providerOptions?: JsonObject;
  /** The one endpoint its calls go to; nowhere else, no matter what is configured. */
  readonly baseUrl?: string;
}

/** How much of its own conversation a model is shown again; undefined for all of it. */
export interface ActorMemory {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
}

/** A graph: nodes read a shared state and return updates to it, which are merged in the order of the nodes. */
export interface Route {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly entry: string;
  readonly exits: readonly string[];
  /** How updates of a key are merged; keys that are not named are replaced. */
  readonly state: Readonly<Record<string, Reducer>>;
  /** How often one node may run, and how many rounds the whole graph may take. */
  readonly limits: { readonly maxVisits: number; readonly maxRounds: number };
}

export const REDUCERS = ["replace", "append", "merge", "sum"] as const;
/** How a node's output joins the state. */
export type Reducer = (typeof REDUCERS)[number];

/** A node of a graph, by its kind. */
export type GraphNode = NodeBase &
  (
    | {
        readonly type: "llm";
        /** Another llm actor that answers; undefined for the graph's own model. */
        readonly actorRef: QualifiedName | undefined;
        /** `{key}` stands for what the state has under the key. */
        readonly prompt: string;
        readonly systemPrompt: string | undefined;
        /** None unless named: a node without tools answers once. */
        readonly tools: readonly ToolRef[];
      }
    | { readonly type: "tool"; readonly tool: ToolRef; readonly params: JsonObject }
    | { readonly type: "conditional"; readonly branches: readonly Branch[] }
    | {
        readonly type: "subgraph";
        readonly actorRef: QualifiedName;
        /** State of the inner graph by keys of the outer one. */
        readonly input: Readonly<Record<string, string>>;
      }
    | { readonly type: "function"; readonly function: GraphFunction; readonly input: JsonObject }
    | { readonly type: "validation"; readonly tool: ToolRef; readonly params: JsonObject; readonly check: string }
  );

interface NodeBase {
  readonly id: string;
  readonly description: string;
  /** Under which key its result goes into the state; undefined for its id. */
  readonly outputKey: string | undefined;
}

/** The first branch whose check holds is taken; one without a check always is. */
export interface Branch {
  readonly check: string | undefined;
  readonly to: string;
}

/** A way from one node to the next, with its condition. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Taken when the state has this value under this key; undefined for always. */
  readonly when: { readonly key: string; readonly equals: JsonValue } | undefined;
}

export const GRAPH_FUNCTIONS = ["set", "increment", "concat", "pick", "length"] as const;
/** A function of the graph's own state, without a model. */
export type GraphFunction = (typeof GRAPH_FUNCTIONS)[number];
