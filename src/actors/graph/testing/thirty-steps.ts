/** A graph of every kind of node whose run is thirty durable steps, and the way to run it under a lease. */
import { appendFileSync } from "node:fs";
import type { DecisionId } from "../../../domain/ids.ts";
import type { JsonValue } from "../../../domain/json.ts";
import type { Lease } from "../../../ledger/leases.ts";
import { runStep } from "../../../ledger/steps.ts";
import type { ActorHands, Asked, HandsCall, Told, ToolOutcome } from "../../hands.ts";
import { ModelGateway } from "../../model-gateway.ts";
import { runGraph, type GraphOutcome } from "../run-graph.ts";
import { ask, chain, check, choose, compute, DECISION, edge, graph, ports, subgraph, tool } from "./graphs.ts";

const inner = graph(
  {
    nodes: [
      ask("x", "Begin with {given}"),
      tool("y", { path: "{x}" }),
      tool("z", { path: "z of {x}" }),
      ask("w", "{y} {z}"),
    ],
    edges: [...chain("x", "y", "w"), ...chain("x", "z", "w")],
  },
  { name: "local/inner" },
);

const thirty = graph({
  nodes: [
    ask("start", "Plan {goal}"),
    ...["a", "b", "c"].map((id) => ask(id, `{start}: part ${id}`, { outputKey: "notes" })),
    tool("gather", { path: "{notes}" }),
    compute("count", "increment", { key: "count" }),
    ask("draft", "{gather}, draft {count}", { tools: ["write_file"], outputKey: "drafts" }),
    check("review", "count >= 4"),
    choose("again", ["not review.passed", "count"], [undefined, "sub"]),
    subgraph("sub", "local/inner", { given: "drafts" }),
    ...["p", "q", "r"].map((id) => tool(id, { path: `${id} of {sub}` }, { outputKey: "notes" })),
    tool("seal", { path: "{notes}" }),
    ask("end", "{seal} {drafts}"),
  ],
  edges: [
    ...["a", "b", "c"].flatMap((id) => chain("start", id, "gather")),
    ...chain("gather", "count", "draft", "review", "again"),
    ...["p", "q", "r"].flatMap((id) => chain("sub", id, "seal")),
    edge("seal", "end"),
  ],
  state: { notes: "append", drafts: "append" },
});

/** What a step needs to be done at all. */
export interface World {
  readonly lease: Lease;
  readonly modelUrl: string;
  /** Each call of a tool is a line in this file. */
  readonly toolLog: string;
  /** After each step that was not on record before. */
  readonly onRecorded?: () => void;
}

export async function runThirtySteps(world: World): Promise<GraphOutcome> {
  const input = { goal: "thirty steps", state: {}, decision: DECISION, key: world.lease.planId };
  return await runGraph(thirty, input, ports(new LeasedHands(world), [inner]));
}

/** Steps of a lease. The system prompt of each question is its key, so that the server can count by it. */
class LeasedHands implements ActorHands {
  readonly #world: World;
  readonly #models: ModelGateway;

  constructor(world: World) {
    this.#world = world;
    const settings = new Map([["provider.vllm.base-url", world.modelUrl]]);
    this.#models = new ModelGateway({ settings, environment: {}, count: (text) => text.length });
  }

  get signal(): AbortSignal {
    return this.#world.lease.signal;
  }

  async ask(key: string, call: Asked): Promise<{ answer: Told; decision: DecisionId }> {
    const answer = await this.once(key, async () => {
      const { text, toolCalls, finish, model, usage } = await this.#models.call({
        ...call,
        system: key,
        signal: this.signal,
      });
      return kept({ text, toolCalls, finish, model, usage });
    });
    return { answer: answer as unknown as Told, decision: DECISION };
  }

  async callTool(key: string, { tool: name, params }: HandsCall): Promise<ToolOutcome> {
    const output = await this.once(key, async () => {
      appendFileSync(this.#world.toolLog, `${key}\n`);
      return kept({ name, params });
    });
    return { ok: true, output };
  }

  async once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T> {
    let fresh = false;
    const result = await runStep(this.#world.lease, key, async () => {
      fresh = true;
      return await fn();
    });
    if (fresh) this.#world.onRecorded?.();
    return result;
  }
}

/** As it comes back from the store. */
function kept(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
