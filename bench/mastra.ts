/** Mastra's workflows with its LibSQL storage. */
import { join } from "node:path";
import { counted, described, type Contestant } from "./contest.ts";
import { parallel } from "./measure.ts";
import { expectAll, expectPersisted, peer, version, type Shape, type Watch } from "./peer.ts";

/** As many connections as its client opens by default. */
const LIBSQL_POOL = 20;

interface Counted {
  readonly n: number;
}

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
    execute: (context: { inputData: Counted | Record<string, Counted> }) => Promise<Counted>;
  }) => object;
}

interface Workflow {
  // oxlint-disable-next-line unicorn/no-thenable -- the peer's own name for "and after that"
  then(step: object): Workflow;
  parallel(steps: object[]): Workflow;
  commit(): Workflow;
  createRun(): Promise<{
    start(input: { inputData: Counted }): Promise<{ status: string; result?: Counted }>;
  }>;
}

interface MastraLibSql {
  readonly LibSQLStore: new (options: { id: string; url: string }) => {
    readonly client: { execute(sql: string): Promise<{ rows: Record<string, unknown>[] }>; close(): void };
    init(): Promise<void>;
  };
}

interface Zod {
  readonly z: { object(shape: { n: object }): object; number(): object; any(): object };
}

export async function mastra(
  place: { readonly peersDir: string; readonly dir: string },
  shape: Shape,
): Promise<Contestant[]> {
  const { peersDir, dir } = place;
  const { Mastra } = await peer<MastraCore>(peersDir, "@mastra/core/mastra");
  const workflows = await peer<MastraWorkflows>(peersDir, "@mastra/core/workflows");
  const { LibSQLStore } = await peer<MastraLibSql>(peersDir, "@mastra/libsql");
  const { z } = await peer<Zod>(peersDir, "zod");
  const versions = `${await version(peersDir, "@mastra/core")}, libsql ${await version(peersDir, "@mastra/libsql")}`;

  const contestant = async (synchronous: "NORMAL" | "FULL"): Promise<Contestant> => {
    const file = join(dir, `mastra-${shape.length}-${synchronous}.db`);
    const storage = new LibSQLStore({ id: `bench-${shape.length}-${synchronous}`, url: `file:${file}` });
    await storage.init();
    // It sets NORMAL on its first connection only; those its pool opens later have SQLite's default FULL, and which of
    // them a statement meets is chance (measured: rounds between 270 and 2,900 steps/s). So all of them are set, to
    // what it means to have.
    const onAllConnections = (sql: string): Promise<{ rows: Record<string, unknown>[] }[]> =>
      Promise.all(Array.from({ length: LIBSQL_POOL }, () => storage.client.execute(sql)));
    await onAllConnections(`PRAGMA synchronous = ${synchronous}`);

    let watch: Watch | undefined;
    const workflow = workflowOf(workflows, z, { shape, watch: (wave) => watch?.(wave) });
    const registered = new Mastra({ storage, workflows: { ten: workflow }, logger: false }).getWorkflow("ten");
    const runOne = async (): Promise<void> => {
      const run = await registered.createRun();
      const { status, result } = await run.start({ inputData: { n: 0 } });
      if (status !== "success") throw new Error(`a workflow ended ${status}`);
      expectAll(result?.n);
    };
    const sql = `SELECT COUNT(*) AS saved FROM mastra_workflow_snapshot, json_each(snapshot, '$.context')
      WHERE json_extract(value, '$.status') = 'success'`;
    const expected = shape.map((_, wave) => shape.slice(0, wave).flat().length);
    await expectPersisted("Mastra", { file, sql, onWatch: (w) => (watch = w), run: runOne }, expected);
    return {
      label: synchronous === "FULL" ? "Mastra, synchronous=FULL" : "Mastra",
      version: versions,
      kind: synchronous === "NORMAL" ? "as shipped" : "our durability",
      runPlans: (plans, atOnce) => counted(() => parallel(atOnce, plans, runOne)),
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

function workflowOf(
  { createWorkflow, createStep }: MastraWorkflows,
  z: Zod["z"],
  { shape, watch }: { shape: Shape; watch: Watch },
): Workflow {
  const schema = z.object({ n: z.number() });
  // Its two options that save work without giving up persistence: no check of step inputs, no events for watchers.
  const options = { validateInputs: false, emitStepEvents: false };
  let workflow = createWorkflow({ id: "ten", inputSchema: schema, outputSchema: schema, options });
  for (const [index, wave] of shape.entries()) {
    const joins = (shape[index - 1] ?? []).length > 1;
    const steps = wave.map((id) =>
      createStep({
        id,
        inputSchema: joins ? z.any() : schema,
        outputSchema: schema,
        execute: async ({ inputData }) => {
          watch(index);
          return { n: before(inputData) + 1 };
        },
      }),
    );
    const [only] = steps;
    workflow = steps.length === 1 && only !== undefined ? workflow.then(only) : workflow.parallel(steps);
  }
  return workflow.commit();
}

/** After steps side by side, what each returned comes by its name: each of them has added one to the same number. */
function before(data: Counted | Record<string, Counted>): number {
  if (isCounted(data)) return data.n;
  const values = Object.values(data).map(({ n }) => n);
  return Math.max(...values) - 1 + values.length;
}

function isCounted(data: Counted | Record<string, Counted>): data is Counted {
  return typeof data["n"] === "number";
}
