import type {
  ActorDefinition,
  GraphActorDefinition,
  GraphEdge,
  GraphNode,
  LlmActorDefinition,
} from "../../domain/actor/actor.ts";
import { ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { parseExpression, type Expression } from "../../domain/values/expression.ts";
import { parseFunctionCall, type FunctionCall } from "../../domain/actor/graph-function.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";
import { AnswerFormat } from "./answer-format.ts";
import { GraphError } from "./graph-error.ts";
import { GraphOrder } from "./order.ts";

/**
 * A graph with everything it refers to: inner graphs, actors that answer, checks that were read. A missing reference is
 * found before the first model is asked, not after half of the models were paid for.
 */
export interface PreparedGraph {
  readonly actor: GraphActorDefinition;
  /** In the order of the file. */
  readonly nodes: readonly PreparedNode[];
  readonly edges: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly order: GraphOrder;
  readonly format: AnswerFormat | undefined;
}

type OfType<T extends GraphNode["type"]> = Extract<GraphNode, { type: T }>;

export type PreparedNode =
  | OfType<"tool">
  | (OfType<"llm"> & { readonly by: ModelActor; readonly format: AnswerFormat | undefined })
  | (Omit<OfType<"conditional">, "branches"> & { readonly branches: readonly PreparedBranch[] })
  | (OfType<"subgraph"> & { readonly graph: PreparedGraph })
  | (Omit<OfType<"function">, "function"> & { readonly call: FunctionCall })
  | (Omit<OfType<"validation">, "check"> & { readonly check: Expression });

/** Whose model, system prompt and options an llm node uses. */
export type ModelActor = LlmActorDefinition | GraphActorDefinition;

interface PreparedBranch {
  readonly check: Expression | undefined;
  readonly to: string;
}

export type ActorOf = (name: QualifiedName) => Promise<ActorDefinition>;

export async function prepareGraph(actor: GraphActorDefinition, actorOf: ActorOf): Promise<PreparedGraph> {
  return new Preparation(actorOf).graph(actor, []);
}

class Preparation {
  readonly #actorOf: ActorOf;
  /** An inner graph that many nodes use is prepared once. */
  readonly #known = new Map<QualifiedName, PreparedGraph>();

  constructor(actorOf: ActorOf) {
    this.#actorOf = actorOf;
  }

  async graph(actor: GraphActorDefinition, outer: readonly QualifiedName[]): Promise<PreparedGraph> {
    const within = [...outer, actor.name];
    if (outer.includes(actor.name)) {
      const message = `The graphs lead into each other: ${within.slice(within.indexOf(actor.name)).join(" → ")}.`;
      throw new GraphError("graph_failed", message, { kept: "No node of them was run." });
    }
    const known = this.#known.get(actor.name);
    if (known !== undefined) return known;
    const { route } = actor;
    const format = AnswerFormat.of(actor);
    const nodes: PreparedNode[] = [];
    for (const [index, node] of route.nodes.entries()) {
      const ownFormat = route.exits.includes(node.id) ? format : undefined;
      nodes.push(await this.#node(node, { actor, within, path: `route.nodes.${index}`, format: ownFormat }));
    }
    const edges = Map.groupBy(route.edges, ({ from }) => from);
    const prepared = { actor, nodes, edges, order: new GraphOrder(route), format };
    this.#known.set(actor.name, prepared);
    return prepared;
  }

  async #node(node: GraphNode, place: Place): Promise<PreparedNode> {
    switch (node.type) {
      case "tool":
        return node;
      case "llm": {
        if (node.actorRef === undefined) return { ...node, by: place.actor, format: place.format };
        const by = await this.#referred(node.actorRef, "llm", place);
        return { ...node, by, format: AnswerFormat.of(by) ?? place.format };
      }
      case "conditional": {
        const branches = node.branches.map(({ check, to }, index) => ({
          check: check === undefined ? undefined : parseExpression(check, `${place.path}.branches.${index}.check`),
          to,
        }));
        return { ...node, branches };
      }
      case "subgraph": {
        const inner = await this.#referred(node.actorRef, "graph", place);
        return { ...node, graph: await this.graph(inner, place.within) };
      }
      case "function": {
        const issues: ValidationIssue[] = [];
        const call = parseFunctionCall(node, `${place.path}.input`, issues);
        if (call === undefined) throw new ValidationError(`The node "${node.id}" is not valid.`, issues);
        return { ...node, call };
      }
      case "validation":
        return { ...node, check: parseExpression(node.check, `${place.path}.check`) };
    }
  }

  async #referred<T extends "llm" | "graph">(
    name: QualifiedName,
    type: T,
    { actor, path }: Place,
  ): Promise<Extract<ActorDefinition, { type: T }>> {
    const referred = await this.#actorOf(name);
    if (isOfType(referred, type)) return referred;
    const message = `${path}.actor_ref must name an actor of type ${type}, and ${name} is of type ${referred.type}`;
    throw new GraphError("graph_failed", `${actor.name} cannot be run: ${message}.`, {
      kept: "No node of it was run.",
    });
  }
}

interface Place {
  readonly actor: GraphActorDefinition;
  /** The graphs around the node, the outermost first. */
  readonly within: readonly QualifiedName[];
  readonly path: string;
  /** The format that the graph's last answer must fit, if the node may give that answer. */
  readonly format: AnswerFormat | undefined;
}

function isOfType<T extends ActorDefinition["type"]>(
  actor: ActorDefinition,
  type: T,
): actor is Extract<ActorDefinition, { type: T }> {
  return actor.type === type;
}
