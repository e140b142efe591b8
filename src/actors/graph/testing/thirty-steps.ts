/** A graph of every kind of node whose run is thirty durable steps, and the way to run it under a lease. */
import { appendFileSync } from "node:fs";
import type { Lease } from "../../../ledger/leases.ts";
import { ModelGateway } from "../../model-gateway.ts";
import { runGraph, type GraphOutcome } from "../run-graph.ts";
import { ask, chain, check, choose, compute, DECISION, edge, graph, ports, subgraph, tool } from "./graphs.ts";
import { LeasedEffects } from "./leased-effects.ts";

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

/** The inputs without which a step cannot be done. */
export interface World {
  readonly lease: Lease;
  readonly modelUrl: string;
  /** Each call of a tool is a line in this file. */
  readonly toolLog: string;
  /** After each step that was not on record before. */
  readonly onRecorded?: () => void;
}

/** The system prompt of each question is its key, so that the server can count by it. */
export async function runThirtySteps({ lease, modelUrl, toolLog, onRecorded }: World): Promise<GraphOutcome> {
  const settings = new Map([["provider.vllm.base-url", modelUrl]]);
  const models = new ModelGateway({ settings, environment: {}, count: (text) => text.length });
  const effects = new LeasedEffects(lease, {
    ask: async (call, key) => await models.call({ ...call, system: key, signal: lease.signal }),
    callTool: async ({ tool: name, params }, key) => {
      appendFileSync(toolLog, `${key}\n`);
      return { ok: true, output: { name, params } };
    },
    ...(onRecorded === undefined ? {} : { onRecorded }),
  });
  const input = { goal: "thirty steps", state: {}, decision: DECISION, key: lease.planId };
  return await runGraph(thirty, input, ports(effects, [inner]));
}
