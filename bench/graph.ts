/**
 * Graphs of ten nodes with a trivial body, each node run a durable step: a chain, and a fan of eight side by side
 * between two. Ours beside LangGraph.js with its SQLite and its memory checkpointer and Mastra with LibSQL, as in
 * `steps.ts`. Then what a call of a model costs on our side of the wire.
 */
import { join } from "node:path";
import type { GraphActorDefinition } from "../src/domain/actor/actor.ts";
import { runGraph } from "../src/actors/graph/run-graph.ts";
import { DECISION, edge, graph, ports, tool } from "../src/actors/graph/testing/graphs.ts";
import { LeasedEffects } from "../src/actors/graph/testing/leased-effects.ts";
import { openStore } from "../src/store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../src/plans/plan-lifecycle-service.ts";
import type { PlanId } from "../src/domain/names/ids.ts";
import { counted, described, enter, hold, type Contestant } from "./contest.ts";
import { langGraph, MEMORY_SETTING, SQLITE_SETTINGS } from "./langgraph.ts";
import { mastra } from "./mastra.ts";
import { type BenchSize, fileSystem, parallel, scratchDirectory } from "./measure.ts";
import { measureModelCalls } from "./model-calls.ts";
import { CHAIN, expectAll, FAN, STEPS, switchOffTelemetry, type Shape } from "./peer.ts";

export async function run(options: {
  readonly peersDir: string;
  readonly dir: string;
  readonly size: BenchSize;
}): Promise<void> {
  const { peersDir, size } = options;
  switchOffTelemetry();
  await using scratch = await scratchDirectory(options.dir);
  const dir = scratch.path;
  console.log(`databases in ${options.dir} (${await fileSystem(options.dir)})`);
  await measureModelCalls(dir, size);
  for (const [name, shape] of Object.entries({ chain: CHAIN, fan: FAN })) {
    console.log(`\n--- ${name}: ${shape.map((wave) => wave.length).join(" → ")} nodes`);
    const contestants: Contestant[] = [];
    try {
      contestants.push(await ours(dir, name, shape));
      const settings = [...SQLITE_SETTINGS, MEMORY_SETTING];
      await enter(contestants, "LangGraph.js", () => langGraph({ peersDir, dir }, shape, settings));
      await enter(contestants, "Mastra", () => mastra({ peersDir, dir }, shape));
      const plans = { smoke: { 1: 4, 16: 16 }, quick: { 1: 8, 16: 32 }, full: { 1: 40, 16: 160 } }[size];
      await hold(contestants, { rounds: { smoke: 1, quick: 2, full: 7 }[size], plans, steps: STEPS });
    } finally {
      for (const contestant of contestants) await contestant.close();
    }
  }
}

/**
 * From `startExecute` to `completeExecute`, with the graph in between; each node run is recorded before its round ends.
 */
async function ours(dir: string, name: string, shape: Shape): Promise<Contestant> {
  const store = await openStore(`sqlite:${join(dir, `ours-${name}.db`)}`);
  const service = new PlanLifecycleService({ store });
  await service.createAction({
    name: "local/ten-nodes",
    description: "Ten nodes",
    definitionOfDone: "All ten are recorded",
    executionActor: "local/absent",
  });
  const actor = graphOf(shape);
  const prepare = async (): Promise<PlanId> => {
    const { id } = await service.useAction({ action: "local/ten-nodes" });
    await service.completeStrategize(await service.startStrategize(id));
    await service.executePlan(id);
    return id;
  };
  const execute = async (id: PlanId): Promise<void> => {
    const lease = await service.startExecute(id);
    const effects = new LeasedEffects(lease, { callTool: async () => ({ ok: true, output: 1 }) });
    const input = { goal: "", state: {}, decision: DECISION, key: "run" };
    const { state } = await runGraph(actor, input, ports(effects));
    expectAll(Number(state["n"]));
    await service.completeExecute(lease);
  };
  return {
    label: "ours",
    version: "this checkout",
    kind: "ours",
    runPlans: async (plans, atOnce) => {
      const ids: PlanId[] = [];
      await parallel(16, plans, async () => void ids.push(await prepare()));
      return counted(() => parallel(atOnce, plans, async (index) => execute(ids[index] ?? missing())));
    },
    durability: async () => {
      // The writing connection is private to the store; its settings are those every connection of the store is opened
      // with.
      const modes = await store.read(async (reader) => ({
        ...(await reader.get<{ journal_mode: string }>("PRAGMA journal_mode")),
        ...(await reader.get<{ synchronous: number }>("PRAGMA synchronous")),
      }));
      return described(modes.journal_mode, modes.synchronous);
    },
    close: () => store.close(),
  };
}

function graphOf(shape: Shape): GraphActorDefinition {
  return graph({
    nodes: shape.flat().map((id) => tool(id, {}, { outputKey: "n" })),
    edges: shape.flatMap((wave, index) => (shape[index - 1] ?? []).flatMap((from) => wave.map((to) => edge(from, to)))),
    state: { n: "sum" },
  });
}

function missing(): never {
  throw new Error("more plans were asked for than prepared");
}
