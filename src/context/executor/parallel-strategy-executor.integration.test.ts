/** The executor in a process of its own: the handles it leaves behind, and whether it works from a bundle. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const EXECUTOR = new URL("./", import.meta.url);
const SOURCES = new URL("../../primitives.ts", import.meta.url);
const STRATEGIES = new URL("../testing/strategies.ts", import.meta.url).href;
/** Long enough for any machine, far shorter than a hanging process would wait. */
const PATIENCE_MS = 60_000;

/**
 * Runs a module with a breaker, an executor and a way to name strategies; rejects if the process does not end by
 * itself.
 */
async function runScript(body: string, library: URL = SOURCES): Promise<unknown> {
  const code = `
    import { CircuitBreaker, ParallelStrategyExecutor } from ${JSON.stringify(library.href)};
    const breaker = new CircuitBreaker();
    const make = (times) => new ParallelStrategyExecutor({ breaker, strategyTimeoutMs: 3_600_000, totalTimeoutMs: 3_600_000, ...times });
    const named = (...names) => names.map((exportName) => ({ strategy: exportName, exportName, module: ${JSON.stringify(STRATEGIES)}, tokens: 1 }));
    ${body}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
    timeout: PATIENCE_MS,
  });
  return JSON.parse(stdout);
}

test("idle threads do not keep the process alive", async () => {
  const outcomes = await runScript(`
    const { outcomes } = await make().execute(named("default", "twoPieces"), { id: "q" });
    console.log(JSON.stringify(outcomes.map(({ status }) => status)));`);
  expect(outcomes).toEqual(["ran", "ran"]);
});

test.each(["spins", "hangs", "ignoresAbort"])(
  "a strategy that %s past its deadline does not keep the process alive",
  async (name) => {
    const outcomes = await runScript(`
    const { outcomes } = await make({ strategyTimeoutMs: 500 }).execute(named("${name}", "default"), { id: "q" });
    console.log(JSON.stringify(outcomes.map(({ status }) => status)));`);
    expect(outcomes).toEqual(["timed_out", "ran"]);
  },
);

test("no handle is left after close", async () => {
  const left = await runScript(`
    const executor = make({ strategyTimeoutMs: 500 });
    // Threads write through these, and a stream is a resource from its first use.
    const streams = [process.stdout, process.stderr];
    const before = process.getActiveResourcesInfo();
    await executor.execute(named("default", "spins", "heedsAbort", "exits"), { id: "q" });
    await executor.close();
    const after = process.getActiveResourcesInfo();
    for (const one of before) if (after.includes(one)) after.splice(after.indexOf(one), 1);
    console.log(JSON.stringify(after));`);
  expect(left).toEqual([]);
});

test("works from the bundle", async () => {
  const outcomes = await runScript(
    `const { outcomes } = await make().execute(named("default", "reportsToBreaker"), { id: "q" });
     console.log(JSON.stringify([...outcomes.map(({ status }) => status), breaker.failures("backend of q")]));`,
    new URL("../../../dist/primitives.js", import.meta.url),
  );
  expect(outcomes).toEqual(["ran", "ran", 1]);
});

test("the example in the documentation runs", async () => {
  const source = await readFile(new URL("./parallel-strategy-executor.ts", import.meta.url), "utf8");
  const example = /```js\n([\s\S]*?)```/.exec(source)?.[1]?.replaceAll(/^ \* ?/gm, "") ?? "";
  const imports = ["CircuitBreaker", "ParallelStrategyExecutor"].map((name, i) => {
    const file = ["../breaker/circuit-breaker.ts", "parallel-strategy-executor.ts"][i] ?? "";
    return `import { ${name} } from ${JSON.stringify(new URL(file, EXECUTOR).href)};`;
  });
  const directory = await mkdtemp(join(tmpdir(), "executor-example-"));
  try {
    await writeFile(
      join(directory, "example.mjs"),
      example.replace(/^import .* from "cleveragents\/primitives";$/m, imports.join("\n")),
    );
    await writeFile(
      join(directory, "keyword-strategy.js"),
      "export default ({ query }, { tokens }) => [{ content: `${query} within ${tokens}`, tokens: 1 }];",
    );
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, "example.mjs")], {
      timeout: PATIENCE_MS,
    });
    expect(stdout).toBe("keyword ran\nwhere are leases renewed? within 4000\n");
  } finally {
    await rm(directory, { recursive: true });
  }
});
