/**
 * Durable steps per second: plans of ten steps with a trivial body, ours beside LangGraph.js with its SQLite
 * checkpointer and Mastra with LibSQL, one plan at a time and sixteen at once. All run in this process, on databases in
 * the same directory, in interleaved rounds, so that other load on the machine affects all alike. Peers are set up as
 * their documentation says, in the fastest configuration that persists after each step. Where that trades durability
 * for speed (a commit with `synchronous=NORMAL` may not survive a power loss), a second row shows the peer with our
 * durability; we are judged against both.
 */
import { join } from "node:path";
import { openStore } from "../src/store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../src/plans/plan-lifecycle-service.ts";
import { runStep } from "../src/ledger/steps.ts";
import type { Lease } from "../src/ledger/leases.ts";
import type { PlanId } from "../src/domain/names/ids.ts";
import { counted, described, enter, hold, type Contestant } from "./contest.ts";
import { langGraph, SQLITE_SETTINGS } from "./langgraph.ts";
import { mastra } from "./mastra.ts";
import { type BenchSize, fileSystem, parallel, scratchDirectory } from "./measure.ts";
import { CHAIN, expectAll, STEPS, switchOffTelemetry } from "./peer.ts";

const AIM_STEPS_PER_SECOND = 10_000;

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
  const contestants: Contestant[] = [];
  try {
    contestants.push(await ours(dir, "execute phase"), await ours(dir, "whole plan"));
    await enter(contestants, "LangGraph.js", () => langGraph({ peersDir, dir }, CHAIN, SQLITE_SETTINGS));
    await enter(contestants, "Mastra", () => mastra({ peersDir, dir }, CHAIN));
    await hold(contestants, {
      rounds: { smoke: 1, quick: 3, full: 7 }[size],
      plans: size === "smoke" ? { 1: 4, 16: 16 } : { 1: 40, 16: 160 },
      steps: STEPS,
      aim: AIM_STEPS_PER_SECOND,
    });
  } finally {
    for (const contestant of contestants) await contestant.close();
  }
}

/**
 * "execute phase" counts from `startExecute` to `completeExecute`, the part a peer's run corresponds to. "whole plan"
 * also counts making the plan from its action, strategize and the queueing between: four more durable transitions that
 * the peers do not have.
 */
async function ours(dir: string, part: "execute phase" | "whole plan"): Promise<Contestant> {
  const file = join(dir, `ours-${part.replace(" ", "-")}.db`);
  const store = await openStore(`sqlite:${file}`);
  const service = new PlanLifecycleService({ store });
  await service.createAction({
    name: "local/ten-steps",
    description: "Ten steps",
    definitionOfDone: "All ten are recorded",
    executionActor: "local/absent",
  });
  const prepare = async (): Promise<PlanId> => {
    const { id } = await service.useAction({ action: "local/ten-steps" });
    await service.completeStrategize(await service.startStrategize(id));
    await service.executePlan(id);
    return id;
  };
  const execute = async (id: PlanId): Promise<void> => {
    const lease: Lease<"execute"> = await service.startExecute(id);
    let value = 0;
    for (let step = 0; step < STEPS; step += 1) value = await runStep(lease, `step-${step}`, () => value + 1);
    expectAll(value);
    await service.completeExecute(lease);
  };
  return {
    label: `ours, ${part}`,
    version: "this checkout",
    kind: "ours",
    runPlans: async (plans, atOnce) => {
      if (part === "whole plan") {
        return counted(() => parallel(atOnce, plans, async () => execute(await prepare())));
      }
      const ids: PlanId[] = [];
      await parallel(16, plans, async () => void ids.push(await prepare()));
      return counted(() => parallel(atOnce, plans, (index) => execute(ids[index] ?? missing())));
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

function missing(): never {
  throw new Error("more plans were asked for than prepared");
}
