import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { circuitName } from "../breaker/circuit-name.ts";
import type { AssemblyInput } from "../assembly/assembly-input.ts";
import { ContextAssembler, type ContextAssemblerParts } from "../assembly/context-assembler.ts";
import { plainBudget } from "../model/context-budget.ts";
import { ContextCache } from "./context-cache.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { AssembledContext } from "../model/context-model.ts";
import { ParallelStrategyExecutor } from "../executor/parallel-strategy-executor.ts";
import { BUILT_IN_STRATEGIES } from "../strategies/built-in-strategies.ts";
import { StrategySetUp } from "../testing/strategy-set-up.ts";

const FILES = { "lease.ts": "export class Lease {\n  renew(): void {}\n}\n", "user.ts": "new Lease().renew();\n" };
const QUESTION: ContextQuestion = {
  query: "renew the Lease",
  entities: [],
  focus: [],
  breadth: 2,
  depth: "full",
  strategy: undefined,
  preferredStrategies: [],
  requiredBackends: [],
};
const VIEW = { maxFiles: undefined, maxTotalSize: undefined, strategies: undefined };

let code: StrategySetUp;
let breaker: CircuitBreaker;
let executor: ParallelStrategyExecutor;
beforeEach(async () => {
  code = await StrategySetUp.of({ api: FILES });
  breaker = new CircuitBreaker();
  executor = new ParallelStrategyExecutor({ breaker, strategyTimeoutMs: 60_000, totalTimeoutMs: 60_000 });
});
afterEach(async () => {
  await executor.close();
  code[Symbol.dispose]();
});

/** The context, and whether strategies ran for it. */
async function ask(
  changes: Partial<AssemblyInput> & { readonly filter?: Parameters<StrategySetUp["scope"]>[0] } = {},
  parts: Partial<ContextAssemblerParts> = {},
): Promise<{ readonly context: AssembledContext; readonly ran: boolean }> {
  const scope: IndexScope = await code.scope(changes.filter);
  const cache = new ContextCache(directory());
  const assembler = new ContextAssembler({ strategies: BUILT_IN_STRATEGIES, executor, cache, ...parts });
  const spy = vi.spyOn(executor, "execute");
  const order = { project: "p", question: QUESTION, scope: () => scope, plan: undefined, view: VIEW };
  const context = await assembler.assemble({ ...order, budget: plainBudget(1_000), ...changes });
  const ran = spy.mock.calls.length > 0;
  spy.mockRestore();
  return { context, ran };
}

const directory = (): string => join(code.directory, "index");

function keptFiles(): readonly string[] {
  const contexts = join(directory(), "contexts");
  return readdirSync(contexts).map((name) => join(contexts, name));
}

function withoutTimes(context: AssembledContext): unknown {
  // As text, because undefined fields are not stored.
  return JSON.parse(
    JSON.stringify({
      ...context,
      outcomes: context.outcomes.map((outcome) => ({ ...outcome, durationMs: 0 })),
      trace: context.trace.map((stage) => ({ ...stage, durationMs: 0, note: "" })),
    }),
  );
}

test("the same question to the same files is answered as before, without running anything", async () => {
  const first = await ask();
  expect(first.ran).toBe(true);
  expect(first.context.fragments).not.toEqual([]);
  const again = await ask();
  expect(again.ran).toBe(false);
  expect(withoutTimes(again.context)).toEqual(withoutTimes(first.context));
  expect(again.context.trace.every(({ durationMs, note }) => durationMs === 0 && note === "as before")).toBe(true);
  expect(Object.isFrozen(again.context.fragments[0])).toBe(true);
});

test("an empty result is stored, too", async () => {
  const question = { ...QUESTION, query: "zebra", strategy: "simple-keyword" };
  expect((await ask({ question })).context.fragments).toEqual([]);
  expect((await ask({ question })).ran).toBe(false);
});

test("another question, budget, limit, tokenizer, choice of strategies, filter or file is not", async () => {
  await ask();
  const others: readonly Parameters<typeof ask>[0][] = [
    { question: { ...QUESTION, query: "renew" } },
    { question: { ...QUESTION, breadth: 1 } },
    { budget: plainBudget(999) },
    { view: { ...VIEW, maxFiles: 1 } },
    { view: { ...VIEW, maxTotalSize: 10 } },
    { view: { ...VIEW, strategies: ["simple-keyword"] } },
    { tokenizer: "cl100k_base" },
    { filter: { api: { exclude: ["user.ts"] } } },
  ];
  for (const other of others) {
    expect([other, (await ask(other)).ran]).toEqual([other, true]);
    expect([other, (await ask(other)).ran]).toEqual([other, false]);
  }
  writeFileSync(join(code.directory, "api", "user.ts"), "new Lease().renew(); // again\n");
  expect((await ask()).ran).toBe(true);
});

test("nothing is stored for a plan, nor with custom code, nor with vectors", async () => {
  const plan = { planId: "p", goal: "", decisions: [], changedPaths: [] };
  const order = { name: "own", order: (fragments: AssembledContext["fragments"]) => fragments };
  const unlike = BUILT_IN_STRATEGIES.map((strategy) => ({ ...strategy, repeatable: false }));
  await ask();
  for (let time = 0; time < 2; time += 1) {
    expect((await ask({ plan })).ran).toBe(true);
    expect((await ask({}, { stages: { order } })).ran).toBe(true);
    expect((await ask({}, { strategies: unlike })).ran).toBe(true);
    expect((await ask({ embedding: () => ({ url: "http://127.0.0.1:1/", model: "m" }) })).ran).toBe(true);
  }
});

test("a strategy that is switched off stays so, even for a stored question; and a context without it is not stored", async () => {
  const { context } = await ask();
  for (let failure = 0; failure < 3; failure += 1) breaker.recordFailure(circuitName("symbol-rank", "p"));
  const without = await ask();
  expect(without.ran).toBe(true);
  expect(without.context.gaps.map(({ name }) => name)).toContain("symbol-rank");
  breaker.resetAll();
  expect(withoutTimes((await ask()).context)).toEqual(withoutTimes(context));
  const question = { ...QUESTION, query: "Lease" };
  for (let failure = 0; failure < 3; failure += 1) breaker.recordFailure(circuitName("symbol-rank", "p"));
  await ask({ question });
  breaker.resetAll();
  expect((await ask({ question })).ran).toBe(true);
});

test("a context with a failure is not stored", async () => {
  const broken = BUILT_IN_STRATEGIES.map((strategy) =>
    strategy.name === "symbol-rank" ? { ...strategy, exportName: "isNotThere" } : strategy,
  );
  const { context } = await ask({}, { strategies: broken });
  expect(context.outcomes.map(({ status }) => status)).toContain("failed");
  expect((await ask()).ran).toBe(true);
});

test("a file of another question is not taken, even where a name leads to it", async () => {
  await ask();
  await ask({ budget: plainBudget(500) });
  const [one = "", other = ""] = keptFiles();
  const [ofOne, ofOther] = [readFileSync(one), readFileSync(other)];
  writeFileSync(one, ofOther);
  writeFileSync(other, ofOne);
  expect((await ask()).ran).toBe(true);
  expect((await ask({ budget: plainBudget(500) })).ran).toBe(true);
});

test("a damaged context is assembled again", async () => {
  await ask();
  for (const file of keptFiles()) writeFileSync(file, readFileSync(file).fill(9, 20, 21));
  expect((await ask()).ran).toBe(true);
  expect((await ask()).ran).toBe(false);
});

test("stored contexts are private to the user, no unfinished file is left, and their number is limited", async () => {
  for (let tokens = 500; tokens < 520; tokens += 1) await ask({ budget: plainBudget(tokens) });
  const files = keptFiles();
  expect(files).toHaveLength(16);
  expect(files.filter((file) => file.endsWith(".part"))).toEqual([]);
  for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
});
