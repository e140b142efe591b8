import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { GraphActorDefinition } from "../../domain/actor/actor.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { AskPorts } from "./ask-node.ts";
import { GraphError, NodeFailure, placedError, type NodePlace } from "./graph-error.ts";
import { runNode } from "./nodes.ts";
import { prepareGraph, type ActorOf, type PreparedGraph, type PreparedNode } from "./prepared-graph.ts";
import { deeplyFrozen, updated, valueBelow, type GraphState } from "./state.ts";

/**
 * Runs a graph in rounds. The nodes of a round run side by side on the same frozen state; then their results are taken
 * in one after the other in the order of the file, and the edges say which node runs next. So the state after each
 * round is a function of what the nodes returned, no matter which was fastest: a run that was killed repeats the same
 * rounds, with the records in place of models and tools, and continues where there is no record. The state itself is
 * never stored.
 */
export interface GraphInput {
  readonly goal: string;
  readonly state: JsonObject;
  /** Text that every model is told before the system prompt of its node, such as the constraints of a plan. */
  readonly briefing?: string;
  /** The work of the nodes is credited to this decision or to decisions below it. */
  readonly decision: DecisionId;
  /** In front of the keys of all steps. */
  readonly key: string;
  /**
   * How often the graph gave up before. Each time the user continued it, so its limits start again and failed nodes get
   * another try.
   */
  readonly gaveUp?: number;
}

export interface GraphPorts extends AskPorts {
  readonly actorOf: ActorOf;
  readonly onNode?: (event: NodeEvent) => void;
}

export interface NodeEvent extends NodePlace {
  readonly key: string;
  readonly happened: "begun" | "ended" | "failed";
}

export interface GraphOutcome {
  readonly state: JsonObject;
  /** The value that the last exit returned; when several exits ran in that round, the value of each by its id. */
  readonly output: JsonValue;
  /** How often each node has run. */
  readonly visits: Readonly<Record<string, number>>;
}

export async function runGraph(
  actor: GraphActorDefinition,
  input: GraphInput,
  ports: GraphPorts,
): Promise<GraphOutcome> {
  return await new GraphRun(await prepareGraph(actor, ports.actorOf), input, ports).toEnd();
}

interface Returned {
  readonly node: PreparedNode;
  readonly value: JsonValue;
}

class GraphRun {
  readonly #graph: PreparedGraph;
  readonly #input: GraphInput;
  readonly #ports: GraphPorts;
  readonly #visits = new Map<string, number>();
  #state: GraphState;
  #output: JsonValue | undefined;

  constructor(graph: PreparedGraph, input: GraphInput, ports: GraphPorts) {
    this.#graph = graph;
    this.#input = input;
    this.#ports = ports;
    this.#state = deeplyFrozen({ goal: input.goal, ...structuredClone(input.state) });
  }

  get #tries(): number {
    return (this.#input.gaveUp ?? 0) + 1;
  }

  async toEnd(): Promise<GraphOutcome> {
    let due = new Set([this.#graph.actor.route.entry]);
    let returned: readonly Returned[] = [];
    for (let round = 1; due.size > 0; round += 1) {
      this.#ports.effects.signal.throwIfAborted();
      const ready = this.#ready(due);
      this.#count(ready, round);
      returned = await this.#runRound(ready, round);
      this.#takeIn(returned, round);
      for (const { id } of ready) due.delete(id);
      due = new Set([...due, ...returned.flatMap((one) => this.#next(one))]);
    }
    return { state: this.#state, output: this.#checkedOutput(returned), visits: Object.fromEntries(this.#visits) };
  }

  /**
   * The nodes that are due and need not wait. A node waits while another due node comes before it: so where paths of
   * different length meet, the node runs once, after all of them. At least one node is always ready, because "before"
   * has no circles.
   */
  #ready(due: ReadonlySet<string>): PreparedNode[] {
    const { nodes, order } = this.#graph;
    const waits = (id: string): boolean => due.size > 1 && [...due].some((other) => order.isBefore(other, id));
    return nodes.filter(({ id }) => due.has(id) && !waits(id));
  }

  #count(ready: readonly PreparedNode[], round: number): void {
    const { actor } = this.#graph;
    const times = this.#tries;
    const [maxRounds, maxVisits] = [actor.route.limits.maxRounds * times, actor.route.limits.maxVisits * times];
    const limitError = (message: string, detail: JsonObject): GraphError =>
      new GraphError("graph_limit", `${actor.name} does not come to an end: ${message}.`, {
        detail: { graph: actor.name, round, ...detail },
      });
    if (round > maxRounds) {
      const waiting = ready.map(({ id }) => `"${id}"`).join(", ");
      throw limitError(`after ${maxRounds} rounds, which is its limit, ${waiting} would run next`, {
        limit: maxRounds,
      });
    }
    for (const { id } of ready) {
      const visits = (this.#visits.get(id) ?? 0) + 1;
      if (visits > maxVisits) {
        const message = `the node "${id}" has run ${maxVisits} times, which is its limit, and would run again in round ${round}`;
        throw limitError(message, { node: id, limit: maxVisits });
      }
      this.#visits.set(id, visits);
    }
  }

  /**
   * All nodes of a round end before anything else happens, also when one of them failed: what the others still do is
   * recorded and need not be done again. Of several failures the first one in the file is told, unless one is about the
   * whole run.
   */
  async #runRound(ready: readonly PreparedNode[], round: number): Promise<Returned[]> {
    const results = await Promise.allSettled(
      ready.map(async (node): Promise<Returned> => ({ node, value: await this.#run(node, round) })),
    );
    const failures = results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : []));
    if (failures.length > 0) throw failures.find((error) => !(error instanceof GraphError)) ?? failures[0];
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  async #run(node: PreparedNode, round: number): Promise<JsonValue> {
    const key = nodeKey(this.#input.key, round, node.id);
    const place: NodePlace = { graph: this.#graph.actor.name, node: node.id, round };
    const tell = (happened: NodeEvent["happened"]): void => this.#ports.onNode?.({ ...place, key, happened });
    tell("begun");
    try {
      const value = await this.#tried(node, key);
      tell("ended");
      return value;
    } catch (error) {
      tell("failed");
      throw placedError(error, place);
    }
  }

  /**
   * A user who continues the graph wants the failed node to be tried again, not its recorded failure returned forever.
   */
  async #tried(node: PreparedNode, key: string): Promise<JsonValue> {
    for (let attempt = 1; ; attempt += 1) {
      const own = attempt === 1 ? key : `${key}/try-${attempt}`;
      const { decision, briefing = "" } = this.#input;
      const moment = { state: this.#state, key: own, decision, briefing, inner: this.#inner };
      try {
        return await runNode(node, moment, this.#ports);
      } catch (error) {
        if (!(error instanceof NodeFailure) || attempt >= this.#tries) throw error;
      }
    }
  }

  /**
   * An inner graph has a state of its own and returns its output; the goal is the outer one's unless it is given
   * another.
   */
  readonly #inner = async (graph: PreparedGraph, state: JsonObject, key: string): Promise<JsonValue> => {
    return (await new GraphRun(graph, { ...this.#input, state, key }, this.#ports).toEnd()).output;
  };

  #takeIn(returned: readonly Returned[], round: number): void {
    const { actor } = this.#graph;
    const { exits, state: reducers } = actor.route;
    for (const { node, value } of returned) {
      const key = node.outputKey ?? node.id;
      const reducer = Object.hasOwn(reducers, key) ? (reducers[key] ?? "replace") : "replace";
      try {
        this.#state = updated(this.#state, { key, value, reducer });
      } catch (error) {
        throw placedError(error, { graph: actor.name, node: node.id, round });
      }
    }
    const ended = returned.filter(({ node }) => exits.includes(node.id));
    const [first, ...others] = ended;
    if (first === undefined) return;
    this.#output =
      others.length === 0 ? first.value : Object.fromEntries(ended.map(({ node, value }) => [node.id, value]));
  }

  /** Where a node leads to, now that the results of its round are in the state. */
  #next({ node, value }: Returned): string[] {
    const taken = (this.#graph.edges.get(node.id) ?? []).filter(
      ({ when }) => when === undefined || isDeepStrictEqual(valueBelow(this.#state, when.key), when.equals),
    );
    const branch = node.type === "conditional" && typeof value === "string" ? [value] : [];
    return [...branch, ...taken.map(({ to }) => to)];
  }

  #checkedOutput(last: readonly Returned[]): JsonValue {
    const { actor, format } = this.#graph;
    if (this.#output === undefined) {
      const names = last.map(({ node }) => `"${node.id}"`).join(", ");
      const message = `${actor.name} ended without an exit: no edge that leads on from ${names} was taken.`;
      throw new GraphError("graph_failed", message, { detail: { graph: actor.name } });
    }
    try {
      format?.check(this.#output);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      throw new GraphError("graph_failed", `${actor.name} failed: ${error.message}.`, {
        detail: { graph: actor.name },
      });
    }
    return this.#output;
  }
}

const KEY_LIMIT = 120;

/** The position in the run. Deep inside of graphs with long names it is cut, but never to what another position has. */
function nodeKey(key: string, round: number, node: string): string {
  const whole = `${key}/${round}.${node}`;
  if (whole.length <= KEY_LIMIT) return whole;
  return `${whole.slice(0, 60)}~${createHash("sha256").update(whole).digest("hex").slice(0, 32)}`;
}
