/**
 * Durable steps per second: plans of ten steps with a trivial body, ours beside LangGraph.js with its SQLite checkpointer and
 * Mastra with LibSQL, one plan at a time and sixteen at once. All run in this process, on databases in the same directory, in
 * interleaved rounds, so that whatever else the machine does hits all alike. Peers are set up as their documentation says, in
 * the fastest configuration that persists after each step. Where that trades durability for speed (a commit with
 * `synchronous=NORMAL` may not survive a power loss), a second row shows the peer with our durability; we are judged against both.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "node:sqlite";
import { openStore, PlanLifecycleService, runStep, type Lease, type PlanId } from "../src/index.ts";
import {
  fileSystem,
  grouped,
  met,
  parallel,
  scratchDirectory,
  summarise,
  table,
  timed,
  type Sample,
} from "./measure.ts";

const STEPS = 10;
const AT_ONCE = [1, 16] as const;
type AtOnce = (typeof AT_ONCE)[number];

/** Sixteen at once finish sooner per plan, so more of them make a round of similar length. */
const PLANS_PER_ROUND = { 1: 40, 16: 160 } as const satisfies Record<AtOnce, number>;

const AIM_RATIO = { 1: 2, 16: 5 } as const satisfies Record<AtOnce, number>;
const AIM_STEPS_PER_SECOND = 10_000;

interface Contestant {
  readonly label: string;
  readonly version: string;
  /** The peer with the durability it chooses itself; the others are the same with ours. */
  readonly asShipped: boolean;
  /** Runs that many plans of ten steps; the milliseconds counted for it. */
  runPlans(plans: number, atOnce: number): Promise<number>;
  /** The settings of the database as its own connection reports them. */
  durability(): Promise<string>;
  close(): Promise<void>;
}

export async function run(options: {
  readonly peersDir: string;
  readonly dir: string;
  readonly quick: boolean;
}): Promise<void> {
  const { peersDir, quick } = options;
  // Nobody's measurement should call home.
  Object.assign(process.env, {
    MASTRA_TELEMETRY_DISABLED: "1",
    LANGSMITH_TRACING: "false",
    LANGCHAIN_TRACING_V2: "false",
  });
  await using scratch = await scratchDirectory(options.dir);
  const dir = scratch.path;
  console.log(`databases in ${options.dir} (${await fileSystem(options.dir)})`);
  const contestants: Contestant[] = [];
  try {
    contestants.push(await ours(dir, "execute phase"), await ours(dir, "whole plan"));
    await enter(contestants, "LangGraph.js", () => langGraph(peersDir, dir));
    await enter(contestants, "Mastra", () => mastra(peersDir, dir));
    const rates = await measure(contestants, quick ? 3 : 7);
    for (const atOnce of AT_ONCE) report(contestants, rates, atOnce);
  } finally {
    for (const contestant of contestants) await contestant.close();
  }
}

/** A peer that does not load here is named with the reason; the others go on. */
async function enter(contestants: Contestant[], name: string, make: () => Promise<Contestant[]>): Promise<void> {
  try {
    contestants.push(...(await make()));
  } catch (error) {
    console.log(`${name} is left out, it does not run here: ${error instanceof Error ? error.message : String(error)}`);
  }
}

type Rates = ReadonlyMap<Contestant, Readonly<Record<AtOnce, Sample>>>;

async function measure(contestants: readonly Contestant[], rounds: number): Promise<Rates> {
  const none = (): Record<AtOnce, number[]> => ({ 1: [], 16: [] });
  const samples = new Map(contestants.map((contestant) => [contestant, none()]));
  const durability = new Map(contestants.map((contestant) => [contestant, new Set<string>()]));
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const atOnce of AT_ONCE) {
      for (const contestant of contestants) {
        const plans = PLANS_PER_ROUND[atOnce];
        const ms = await contestant.runPlans(plans, atOnce);
        if (round > 0) samples.get(contestant)?.[atOnce].push((plans * STEPS * 1_000) / ms);
        durability.get(contestant)?.add(await contestant.durability());
      }
    }
  }
  console.log(`\n${rounds} interleaved rounds; what each database said of itself during them:`);
  for (const [contestant, said] of durability)
    console.log(`  ${contestant.label} (${contestant.version}): ${[...said].toSorted().join(" or ")}`);
  return new Map([...samples].map(([one, rates]) => [one, { 1: summarise(rates[1]), 16: summarise(rates[16]) }]));
}

function report(contestants: readonly Contestant[], rates: Rates, atOnce: AtOnce): void {
  const rate = (contestant: Contestant): Sample => rates.get(contestant)?.[atOnce] ?? summarise([]);
  const rows = contestants.map((contestant) => {
    const { median, lowest, highest } = rate(contestant);
    return [contestant.label, grouped(median), `${grouped(lowest)} – ${grouped(highest)}`];
  });
  console.log(
    `\n${atOnce === 1 ? "1 plan at a time" : `${atOnce} plans at once`}, ${PLANS_PER_ROUND[atOnce]} plans of ${STEPS} steps per round`,
  );
  console.log(table([["", "steps/s (median)", "lowest – highest"], ...rows]));

  const fastest = (some: readonly Contestant[]): Contestant | undefined =>
    some.toSorted((a, b) => rate(b).median - rate(a).median)[0];
  const peers = contestants.filter((one) => !one.label.startsWith("ours"));
  const best = fastest(peers.filter((one) => one.asShipped));
  const equal = fastest(peers.filter((one) => !one.asShipped));
  for (const own of contestants.filter((one) => one.label.startsWith("ours"))) {
    const { median } = rate(own);
    const judge = (other: Contestant | undefined, which: string): void => {
      if (other === undefined) return;
      const ratio = median / rate(other).median;
      const aim = AIM_RATIO[atOnce];
      console.log(`${own.label}: ${ratio.toFixed(2)}× ${which} (${other.label}); aim ≥ ${aim}×: ${met(ratio >= aim)}`);
    };
    judge(best, "the best peer at the durability it chooses");
    judge(equal, "the best peer at our durability");
    if (atOnce === 16) {
      const verdict = met(median >= AIM_STEPS_PER_SECOND);
      console.log(`${own.label}: ${grouped(median)} steps/s; aim ≥ ${grouped(AIM_STEPS_PER_SECOND)}: ${verdict}`);
    }
  }
}

/**
 * "execute phase" counts from `startExecute` to `completeExecute`, the part a peer's run corresponds to. "whole plan" also counts
 * making the plan from its action, strategize and the queueing between: four more durable transitions that the peers do not have.
 */
async function ours(dir: string, counted: "execute phase" | "whole plan"): Promise<Contestant> {
  const file = join(dir, `ours-${counted.replace(" ", "-")}.db`);
  const store = await openStore(`sqlite:${file}`);
  const service = new PlanLifecycleService({ store });
  await service.createAction({
    name: "local/ten-steps",
    description: "Ten steps",
    definitionOfDone: "All ten are recorded",
    executionActor: "local/nobody",
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
    label: `ours, ${counted}`,
    version: "this checkout",
    asShipped: false,
    runPlans: async (plans, atOnce) => {
      if (counted === "whole plan") {
        return timed(() => parallel(atOnce, plans, async () => execute(await prepare())));
      }
      const ids: PlanId[] = [];
      await parallel(16, plans, async () => void ids.push(await prepare()));
      return timed(() => parallel(atOnce, plans, (index) => execute(ids[index] ?? missing())));
    },
    durability: async () => {
      // The writing connection is private to the store; its settings are those every connection of the store is opened with.
      const modes = await store.read(async (reader) => ({
        ...(await reader.get<{ journal_mode: string }>("PRAGMA journal_mode")),
        ...(await reader.get<{ synchronous: number }>("PRAGMA synchronous")),
      }));
      return described(modes.journal_mode, modes.synchronous);
    },
    close: () => store.close(),
  };
}

// --- LangGraph.js -----------------------------------------------------------------------------------------------------------

interface LangGraph {
  readonly START: string;
  readonly END: string;
  readonly Annotation: { (): object; Root(channels: Record<string, object>): object };
  readonly StateGraph: new (state: object) => {
    addNode(name: string, node: (state: { n: number }) => Promise<{ n: number }>): void;
    addEdge(from: string, to: string): void;
    compile(options: { checkpointer: object }): LangGraphApp;
  };
}

interface LangGraphApp {
  invoke(
    input: { n: number },
    config: { configurable: { thread_id: string }; durability: "sync" | "async" },
  ): Promise<{ n: number }>;
}

interface LangGraphSqlite {
  readonly SqliteSaver: { fromConnString(file: string): { readonly db: BetterSqlite; setup(): void } };
}

interface BetterSqlite {
  pragma(text: string, options?: { simple: true }): unknown;
  close(): void;
}

async function langGraph(peersDir: string, dir: string): Promise<Contestant[]> {
  const library = await peer<LangGraph>(peersDir, "@langchain/langgraph");
  const { SqliteSaver } = await peer<LangGraphSqlite>(peersDir, "@langchain/langgraph-checkpoint-sqlite");
  const versions = [
    await version(peersDir, "@langchain/langgraph"),
    `checkpoint-sqlite ${await version(peersDir, "@langchain/langgraph-checkpoint-sqlite")}`,
    `better-sqlite3 ${await version(peersDir, "better-sqlite3")}`,
  ].join(", ");

  const contestant = async (durability: "sync" | "async", full: boolean): Promise<Contestant> => {
    const file = join(dir, `langgraph-${durability}${full ? "-full" : ""}.db`);
    const saver = SqliteSaver.fromConnString(file);
    saver.setup();
    if (full) saver.db.pragma("synchronous = FULL");
    const graph = new library.StateGraph(library.Annotation.Root({ n: library.Annotation() }));
    let watch: ((step: number) => void) | undefined;
    for (let step = 0; step < STEPS; step += 1) {
      graph.addNode(`step-${step}`, async ({ n }) => {
        watch?.(step);
        return { n: n + 1 };
      });
      graph.addEdge(step === 0 ? library.START : `step-${step - 1}`, `step-${step}`);
    }
    graph.addEdge(`step-${STEPS - 1}`, library.END);
    const app = graph.compile({ checkpointer: saver });
    let threads = 0;
    const runOne = async (): Promise<void> => {
      threads += 1;
      const config = { configurable: { thread_id: `plan-${threads}` }, durability };
      expectAll((await app.invoke({ n: 0 }, config)).n);
    };
    if (durability === "sync") {
      // One checkpoint for the input, one before the first node, and one after each node that ended.
      const seen = await whileRunning(file, "SELECT COUNT(*) AS saved FROM checkpoints", (w) => (watch = w), runOne);
      expectPersisted("LangGraph.js", seen, (step) => step + 2);
    }
    return {
      label: `LangGraph.js, "${durability}"${full ? ", synchronous=FULL" : ""}`,
      version: versions,
      asShipped: !full,
      runPlans: (plans, atOnce) => timed(() => parallel(atOnce, plans, runOne)),
      durability: async () =>
        described(saver.db.pragma("journal_mode", { simple: true }), saver.db.pragma("synchronous", { simple: true })),
      close: async () => saver.db.close(),
    };
  };
  // "async" writes a step's checkpoint while the next step runs already: less than we promise, but its default.
  return [await contestant("sync", false), await contestant("async", false), await contestant("sync", true)];
}

// --- Mastra -----------------------------------------------------------------------------------------------------------------

/** As many connections as its client opens by default. */
const LIBSQL_POOL = 20;

interface MastraCore {
  readonly Mastra: new (parts: { storage: object; workflows: { ten: Workflow }; logger: false }) => {
    getWorkflow(name: "ten"): Workflow;
  };
}

interface MastraWorkflows {
  readonly createWorkflow: (definition: {
    id: string;
    inputSchema: object;
    outputSchema: object;
    options: object;
  }) => Workflow;
  readonly createStep: (definition: {
    id: string;
    inputSchema: object;
    outputSchema: object;
    execute: (context: { inputData: { n: number } }) => Promise<{ n: number }>;
  }) => object;
}

interface Workflow {
  // oxlint-disable-next-line unicorn/no-thenable -- the peer's own name for "and after that"
  then(step: object): Workflow;
  commit(): Workflow;
  createRun(): Promise<{
    start(input: { inputData: { n: number } }): Promise<{ status: string; result?: { n: number } }>;
  }>;
}

interface MastraLibSql {
  readonly LibSQLStore: new (options: { id: string; url: string }) => {
    readonly client: { execute(sql: string): Promise<{ rows: Record<string, unknown>[] }>; close(): void };
    init(): Promise<void>;
  };
}

interface Zod {
  readonly z: { object(shape: { n: object }): object; number(): object };
}

async function mastra(peersDir: string, dir: string): Promise<Contestant[]> {
  const { Mastra } = await peer<MastraCore>(peersDir, "@mastra/core/mastra");
  const { createStep, createWorkflow } = await peer<MastraWorkflows>(peersDir, "@mastra/core/workflows");
  const { LibSQLStore } = await peer<MastraLibSql>(peersDir, "@mastra/libsql");
  const { z } = await peer<Zod>(peersDir, "zod");
  const versions = `${await version(peersDir, "@mastra/core")}, libsql ${await version(peersDir, "@mastra/libsql")}`;

  const contestant = async (synchronous: "NORMAL" | "FULL"): Promise<Contestant> => {
    const file = join(dir, `mastra-${synchronous}.db`);
    const storage = new LibSQLStore({ id: `bench-${synchronous}`, url: `file:${file}` });
    await storage.init();
    // It sets NORMAL on its first connection only; those its pool opens later have SQLite's default FULL, and which of them a
    // statement meets is chance (measured: rounds between 270 and 2,900 steps/s). So all of them are set, to what it means to have.
    const onAllConnections = (sql: string): Promise<{ rows: Record<string, unknown>[] }[]> =>
      Promise.all(Array.from({ length: LIBSQL_POOL }, () => storage.client.execute(sql)));
    await onAllConnections(`PRAGMA synchronous = ${synchronous}`);

    const schema = z.object({ n: z.number() });
    // Its two options that save work without giving up persistence: no check of step inputs, no events for watchers.
    const options = { validateInputs: false, emitStepEvents: false };
    let watch: ((step: number) => void) | undefined;
    let workflow = createWorkflow({ id: "ten", inputSchema: schema, outputSchema: schema, options });
    for (let step = 0; step < STEPS; step += 1) {
      const execute = async ({ inputData }: { inputData: { n: number } }): Promise<{ n: number }> => {
        watch?.(step);
        return { n: inputData.n + 1 };
      };
      workflow = workflow.then(createStep({ id: `step-${step}`, inputSchema: schema, outputSchema: schema, execute }));
    }
    workflow.commit();
    const registered = new Mastra({ storage, workflows: { ten: workflow }, logger: false }).getWorkflow("ten");
    const runOne = async (): Promise<void> => {
      const run = await registered.createRun();
      const { status, result } = await run.start({ inputData: { n: 0 } });
      if (status !== "success") throw new Error(`a workflow ended ${status}`);
      expectAll(result?.n);
    };
    const completed = `SELECT COUNT(*) AS saved FROM mastra_workflow_snapshot, json_each(snapshot, '$.context')
      WHERE json_extract(value, '$.status') = 'success'`;
    const seen = await whileRunning(file, completed, (w) => (watch = w), runOne);
    expectPersisted("Mastra", seen, (step) => step);
    return {
      label: synchronous === "FULL" ? "Mastra, synchronous=FULL" : "Mastra",
      version: versions,
      asShipped: synchronous === "NORMAL",
      runPlans: (plans, atOnce) => timed(() => parallel(atOnce, plans, runOne)),
      durability: async () => {
        const [journal] = (await storage.client.execute("PRAGMA journal_mode")).rows;
        const levels = (await onAllConnections("PRAGMA synchronous")).map(({ rows }) => rows[0]?.["synchronous"]);
        return [...new Set(levels)].map((level) => described(journal?.["journal_mode"], level)).join(" and ");
      },
      close: async () => storage.client.close(),
    };
  };
  return [await contestant("NORMAL"), await contestant("FULL")];
}

// --- shared -----------------------------------------------------------------------------------------------------------------

/** The peers are installed on demand, outside our own dependencies, so they cannot be imported by name from here. */
async function peer<T>(peersDir: string, name: string): Promise<T> {
  const { resolve } = createRequire(join(peersDir, "package.json"));
  return import(pathToFileURL(resolve(name)).href);
}

async function version(peersDir: string, name: string): Promise<string> {
  const text = await readFile(join(peersDir, "node_modules", name, "package.json"), "utf8");
  const parsed: { version: string } = JSON.parse(text);
  return parsed.version;
}

/** What another connection sees in the database at the start of each step: the proof that the peer persists after each one. */
async function whileRunning(
  file: string,
  sql: string,
  onWatch: (watch: ((step: number) => void) | undefined) => void,
  work: () => Promise<void>,
): Promise<number[]> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
  const statement = database.prepare(sql);
  const seen: number[] = [];
  onWatch((step) => (seen[step] = Number(statement.get()?.["saved"])));
  try {
    await work();
  } finally {
    onWatch(undefined);
    database.close();
  }
  return seen;
}

function expectPersisted(name: string, seen: readonly number[], expected: (step: number) => number): void {
  const short = seen.findIndex((saved, step) => saved < expected(step));
  if (seen.length !== STEPS || short !== -1) {
    throw new Error(`${name} did not persist after each step (seen at the start of each: ${seen.join(", ")})`);
  }
}

function expectAll(done: number | undefined): void {
  if (done !== STEPS) throw new Error(`${String(done)} of ${STEPS} steps were done`);
}

function missing(): never {
  throw new Error("more plans were asked for than prepared");
}

function described(journal: unknown, synchronous: unknown): string {
  const levels: Readonly<Record<string, string>> = { 0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA" };
  return `journal_mode=${String(journal)} synchronous=${levels[String(synchronous)] ?? String(synchronous)}`;
}
