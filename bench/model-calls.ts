/**
 * The cost of a model call on our side of the wire: a server on loopback answers at once, and the AI SDK's `streamText`
 * alone is beside our gateway (masked, guarded, bounded, every try kept) and beside a durable question (the same,
 * recorded with `synchronous=FULL` before it is returned).
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import type { ActorEffects } from "../src/actors/loop/actor-effects.ts";
import { DECISION } from "../src/actors/graph/testing/graphs.ts";
import { LeasedEffects } from "../src/actors/graph/testing/leased-effects.ts";
import { ModelGateway } from "../src/actors/model-gateway.ts";
import { openStore } from "../src/store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../src/plans/plan-lifecycle-service.ts";
import { type BenchSize, met, parallel, summarize, table } from "./measure.ts";

const AIM = 1.5;
const SYSTEM = "You are a careful engineer. Answer shortly.";
const PROMPT = "What does this function return?\n\n" + "const answer = (question: string): number => 42;\n".repeat(40);

type Way = "AI SDK alone" | "our gateway" | "durable question";
type Call = (index: number) => Promise<unknown>;

export async function measureModelCalls(dir: string, size: BenchSize): Promise<void> {
  const server = fork(join(import.meta.dirname, "model-server.ts"));
  try {
    await using store = await openStore(`sqlite:${join(dir, "model-calls.db")}`);
    const ways = await waysAt(await urlOf(server), new PlanLifecycleService({ store }));
    for (const atOnce of [1, 16]) await compare(ways, atOnce, size);
  } finally {
    server.disconnect();
  }
}

async function urlOf(server: ChildProcess): Promise<string> {
  const [url] = (await once(server, "message")) as [string];
  return url;
}

async function waysAt(url: string, service: PlanLifecycleService): Promise<Record<Way, Call>> {
  const model = createOpenAICompatible({ name: "bench", baseURL: url, apiKey: "none", includeUsage: true })("m");
  const gateway = new ModelGateway({
    settings: new Map([["provider.bench.base-url", url]]),
    environment: {},
    count: (text) => Math.ceil(text.length / 4),
  });
  await service.createAction({
    name: "local/asking",
    description: "Asks",
    definitionOfDone: "It is answered",
    executionActor: "local/absent",
  });
  const { id } = await service.useAction({ action: "local/asking" });
  await service.completeStrategize(await service.startStrategize(id));
  await service.executePlan(id);
  const lease = await service.startExecute(id);
  const call = {
    model: { provider: "bench", model: "m" },
    system: SYSTEM,
    messages: [{ role: "user", content: PROMPT }],
    tools: [],
    settings: {},
  } as const;
  const effects: ActorEffects = new LeasedEffects(lease, {
    ask: (asked) => gateway.call({ ...asked, signal: lease.signal }),
  });
  const about = { type: "implementation_choice", question: "What?", parent: DECISION } as const;
  let asked = 0;
  return {
    "AI SDK alone": async () => {
      const { text, toolCalls, usage, finishReason } = streamText({
        model,
        system: SYSTEM,
        prompt: PROMPT,
        maxRetries: 0,
      });
      return await Promise.all([text, toolCalls, usage, finishReason]);
    },
    "our gateway": async () => await gateway.call({ ...call, signal: lease.signal }),
    "durable question": async () => {
      asked += 1;
      return await effects.ask(`ask-${asked}`, call, about);
    },
  };
}

async function compare(ways: Record<Way, Call>, atOnce: number, size: BenchSize): Promise<void> {
  const rounds = { smoke: 1, quick: 5, full: 15 }[size];
  const calls = size === "smoke" ? 16 : 100;
  const names = Object.keys(ways) as Way[];
  const samples = new Map(names.map((name) => [name, { wall: [] as number[], cpu: [] as number[] }]));
  // Rounds 0 and 1 warm up and are not counted.
  for (let round = 0; round < rounds + 2; round += 1) {
    for (const name of names) {
      const cpu = process.cpuUsage();
      const started = performance.now();
      await parallel(atOnce, calls, async (index) => void (await ways[name](index)));
      const wall = (performance.now() - started) / calls;
      const { user, system } = process.cpuUsage(cpu);
      if (round < 2) continue;
      samples.get(name)?.wall.push(wall);
      samples.get(name)?.cpu.push((user + system) / 1_000 / calls);
    }
  }
  const median = (name: Way, kind: "wall" | "cpu"): number => summarize(samples.get(name)?.[kind] ?? []).median;
  const ratio = (name: Way, kind: "wall" | "cpu"): number => median(name, kind) / median("AI SDK alone", kind);
  console.log(`\na call of a model that answers at once, ${atOnce === 1 ? "one at a time" : `${atOnce} at once`}`);
  console.log(
    table([
      ["", "ms per call", "processor ms"],
      ...names.map((name) => [name, median(name, "wall").toFixed(2), median(name, "cpu").toFixed(2)]),
    ]),
  );
  for (const name of names.slice(1)) {
    const [wall, cpu] = [ratio(name, "wall"), ratio(name, "cpu")];
    console.log(
      `${name}: ${wall.toFixed(2)}× the time, ${cpu.toFixed(2)}× the processor time of the AI SDK alone; aim ≤ ${AIM}×: ${met(wall <= AIM)}, ${met(cpu <= AIM)}`,
    );
  }
}
