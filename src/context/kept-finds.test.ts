import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { IndexScope } from "../code-index/index-scope.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import type { ContextRequest, PlanKnowledge } from "./model.ts";
import { ParallelStrategyExecutor } from "./parallel-strategy-executor.ts";
import { StrategyExecution } from "./stages/strategy-execution.ts";
import { BUILT_IN_STRATEGIES } from "./strategies/index.ts";
import { StrategySetUp } from "./testing/strategy-set-up.ts";

const FILES = { "lease.ts": "export class Lease {\n  renew(): void {}\n}\n", "user.ts": "new Lease().renew();\n" };
const REQUEST: ContextRequest = {
  query: "renew the Lease",
  entities: [],
  focus: [],
  breadth: 2,
  depth: "full",
  strategy: undefined,
  preferredStrategies: [],
  requiredBackends: [],
};
const SELECTED = ["symbol-rank", "simple-keyword"].map((name) => ({ name, quality: 1, confidence: 1, tokens: 500 }));

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

/** What was found, and which strategies had to run for it. */
async function find(
  scope: IndexScope,
  changes: { request?: Partial<ContextRequest>; plan?: PlanKnowledge; tokens?: number; strategies?: object } = {},
) {
  const strategies = BUILT_IN_STRATEGIES.map((strategy) => ({ ...strategy, ...changes.strategies }));
  const execution = new StrategyExecution(executor, strategies, (name) => name);
  const spy = vi.spyOn(executor, "execute");
  const selected = SELECTED.map((one) => ({ ...one, tokens: changes.tokens ?? one.tokens }));
  const request = { ...REQUEST, ...changes.request };
  const { found, outcomes } = await execution.execute(
    selected,
    { request, scope, plan: changes.plan, tokenizer: "o200k_base" },
    undefined,
    () => undefined,
  );
  const ran = spy.mock.calls.flatMap(([allocations]) => allocations.map(({ strategy }) => strategy));
  spy.mockRestore();
  return { ran, found, outcomes: outcomes.map(({ status }) => status) };
}

function keptFiles(scope: IndexScope): readonly string[] {
  const directory = join(dirname(scope.trees[0]?.index ?? ""), "finds");
  return readdirSync(directory).map((name) => join(directory, name));
}

test("what is kept is nobody else's to read, and nothing unfinished is left", async () => {
  const scope = await code.scope();
  await find(scope);
  const files = keptFiles(scope);
  expect(files).toHaveLength(2);
  for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
});

/** As they are run: the one that walks on no graph first. */
const BOTH = ["simple-keyword", "symbol-rank"];

test("the same question to the same files is answered as before, without running anything", async () => {
  const first = await find(await code.scope());
  expect(first.ran).toEqual(BOTH);
  expect(first.found.map(({ strategy }) => strategy)).toEqual(SELECTED.map(({ name }) => name));
  expect(first.found.map(({ fragments }) => fragments.length)).not.toContain(0);
  const again = await find(await code.scope());
  expect(again.ran).toEqual([]);
  expect(again.outcomes).toEqual(["ran", "ran"]);
  // As text, because what is undefined is not kept.
  expect(JSON.stringify(again.found)).toBe(JSON.stringify(first.found));
});

test("that nothing was found is kept, too", async () => {
  const request = { query: "zebra" };
  const first = await find(await code.scope(), { request });
  expect(first.ran).toEqual(BOTH);
  expect(first.found.map(({ fragments }) => fragments.length)).toContain(0);
  expect((await find(await code.scope(), { request })).ran).toEqual([]);
});

test("another question, budget, filter or file is not", async () => {
  await find(await code.scope());
  expect((await find(await code.scope(), { request: { query: "renew" } })).ran).toEqual(BOTH);
  expect((await find(await code.scope(), { request: { breadth: 1 } })).ran).toEqual(BOTH);
  expect((await find(await code.scope(), { tokens: 499 })).ran).toEqual(BOTH);
  expect((await find(await code.scope({ api: { exclude: ["user.ts"] } }))).ran).toEqual(BOTH);
  writeFileSync(join(code.directory, "api", "user.ts"), "new Lease().renew(); // again\n");
  expect((await find(await code.scope())).ran).toEqual(BOTH);
});

test("nothing is kept for a plan, nor of strategies that do not say that they can be repeated", async () => {
  const scope = await code.scope();
  const plan: PlanKnowledge = { planId: "p", goal: "", decisions: [], changedPaths: [] };
  for (let time = 0; time < 2; time += 1) expect((await find(scope, { plan })).ran).toEqual(BOTH);
  for (let time = 0; time < 2; time += 1) {
    expect((await find(scope, { strategies: { repeatable: false } })).ran).toEqual(BOTH);
  }
});

test("a strategy that is switched off stays so, whatever it found before", async () => {
  const scope = await code.scope();
  await find(scope);
  for (let failure = 0; failure < 3; failure += 1) breaker.recordFailure("symbol-rank");
  const { ran, outcomes } = await find(scope);
  expect(ran).toEqual(["symbol-rank"]);
  expect(outcomes).toEqual(["skipped", "ran"]);
});

test("what belongs to another question is not taken, even where a torn file leads to it", async () => {
  const scope = await code.scope();
  await find(scope);
  const [one = "", other = ""] = keptFiles(scope);
  const [ofOne, ofOther] = [readFileSync(one), readFileSync(other)];
  writeFileSync(one, ofOther);
  writeFileSync(other, ofOne);
  expect((await find(scope)).ran).toEqual(BOTH);
});

test("what is damaged is found again", async () => {
  const scope = await code.scope();
  await find(scope);
  for (const file of keptFiles(scope)) writeFileSync(file, readFileSync(file).fill(9, 20, 21));
  expect((await find(scope)).ran).toEqual(BOTH);
  expect((await find(scope)).ran).toEqual([]);
});
