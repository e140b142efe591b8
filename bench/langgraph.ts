/** LangGraph.js with its SQLite and its memory checkpointer. */
import { join } from "node:path";
import { counted, described, type Contestant } from "./contest.ts";
import { parallel } from "./measure.ts";
import { expectAll, expectPersisted, peer, version, type Shape, type Watch } from "./peer.ts";

interface Counted {
  readonly n: number;
}

interface LangGraph {
  readonly START: string;
  readonly END: string;
  readonly Annotation: {
    (channel?: { reducer: (known: number, update: number) => number; default: () => number }): object;
    Root(channels: Record<string, object>): object;
  };
  readonly StateGraph: new (state: object) => {
    addNode(name: string, node: (state: Counted) => Promise<Counted>): void;
    addEdge(from: string | string[], to: string): void;
    compile(options: { checkpointer: object }): LangGraphApp;
  };
  readonly MemorySaver: new () => object;
}

interface LangGraphApp {
  invoke(
    input: Counted,
    config: { configurable: { thread_id: string }; durability: "sync" | "async" },
  ): Promise<Counted>;
}

interface LangGraphSqlite {
  readonly SqliteSaver: { fromConnString(file: string): { readonly db: BetterSqlite; setup(): void } };
}

interface BetterSqlite {
  pragma(text: string, options?: { simple: true }): unknown;
  close(): void;
}

/** "async" writes a step's checkpoint while the next step runs already: less than we promise, but its default. */
type Setting =
  | { readonly saver: "sqlite"; readonly durability: "sync" | "async"; readonly full: boolean }
  | { readonly saver: "memory"; readonly durability: "async" };

export const SQLITE_SETTINGS: readonly Setting[] = [
  { saver: "sqlite", durability: "sync", full: false },
  { saver: "sqlite", durability: "async", full: false },
  { saver: "sqlite", durability: "sync", full: true },
];
export const MEMORY_SETTING: Setting = { saver: "memory", durability: "async" };

export async function langGraph(
  place: { readonly peersDir: string; readonly dir: string },
  shape: Shape,
  settings: readonly Setting[],
): Promise<Contestant[]> {
  const { peersDir, dir } = place;
  const library = await peer<LangGraph>(peersDir, "@langchain/langgraph");
  const { SqliteSaver } = await peer<LangGraphSqlite>(peersDir, "@langchain/langgraph-checkpoint-sqlite");
  const versions = [
    await version(peersDir, "@langchain/langgraph"),
    `checkpoint-sqlite ${await version(peersDir, "@langchain/langgraph-checkpoint-sqlite")}`,
    `better-sqlite3 ${await version(peersDir, "better-sqlite3")}`,
  ].join(", ");

  const inMemory = async ({ durability }: Setting): Promise<Contestant> => {
    const runOne = runner(library, shape, { checkpointer: new library.MemorySaver(), durability });
    return {
      label: "LangGraph.js, memory",
      version: versions,
      kind: "in memory",
      runPlans: (plans, atOnce) => counted(() => parallel(atOnce, plans, runOne)),
      durability: async () => "lost with the process",
      close: async () => undefined,
    };
  };
  const onDisk = async ({ durability, full }: Extract<Setting, { saver: "sqlite" }>): Promise<Contestant> => {
    const file = join(dir, `langgraph-${shape.length}-${durability}${full ? "-full" : ""}.db`);
    const saver = SqliteSaver.fromConnString(file);
    saver.setup();
    if (full) saver.db.pragma("synchronous = FULL");
    let watch: Watch | undefined;
    const runOne = runner(library, shape, { checkpointer: saver, durability, watch: (wave) => watch?.(wave) });
    if (durability === "sync") {
      const sql = "SELECT COUNT(*) AS saved FROM checkpoints";
      // One checkpoint for the input, one before the first wave, and one after each that ended.
      const expected = shape.map((_, wave) => wave + 2);
      await expectPersisted("LangGraph.js", { file, sql, onWatch: (w) => (watch = w), run: runOne }, expected);
    }
    return {
      label: `LangGraph.js, "${durability}"${full ? ", synchronous=FULL" : ""}`,
      version: versions,
      kind: full ? "our durability" : "as shipped",
      runPlans: (plans, atOnce) => counted(() => parallel(atOnce, plans, runOne)),
      durability: async () =>
        described(saver.db.pragma("journal_mode", { simple: true }), saver.db.pragma("synchronous", { simple: true })),
      close: async () => saver.db.close(),
    };
  };
  return Promise.all(settings.map((setting) => (setting.saver === "memory" ? inMemory(setting) : onDisk(setting))));
}

/** Runs the graph once, each time in a thread of its own. */
function runner(
  library: LangGraph,
  shape: Shape,
  { checkpointer, durability, watch }: { checkpointer: object; durability: "sync" | "async"; watch?: Watch },
): () => Promise<void> {
  // Where nodes run side by side, what each adds has to be summed up.
  const sums = shape.some((wave) => wave.length > 1);
  const channel = sums
    ? library.Annotation({ reducer: (known, update) => known + update, default: () => 0 })
    : library.Annotation();
  const graph = new library.StateGraph(library.Annotation.Root({ n: channel }));
  for (const [index, wave] of shape.entries()) {
    for (const name of wave) {
      graph.addNode(name, async ({ n }) => {
        watch?.(index);
        return { n: sums ? 1 : n + 1 };
      });
    }
    const before = [...(shape[index - 1] ?? [library.START])];
    for (const name of wave) graph.addEdge(before.length === 1 ? (before[0] ?? "") : before, name);
  }
  for (const name of shape.at(-1) ?? []) graph.addEdge(name, library.END);
  const app = graph.compile({ checkpointer });
  let threads = 0;
  return async () => {
    threads += 1;
    expectAll((await app.invoke({ n: 0 }, { configurable: { thread_id: `plan-${threads}` }, durability })).n);
  };
}
