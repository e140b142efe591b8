import assert from "node:assert/strict";
import { After, Given, Then, When } from "@cucumber/cucumber";
import type { CircuitBreaker } from "../../src/context/breaker/circuit-breaker.ts";
import { CircuitBreaker as RealBreaker } from "../../src/context/breaker/circuit-breaker.ts";
import type {
  ParallelStrategyExecutor,
  StrategyResults,
} from "../../src/context/executor/parallel-strategy-executor.ts";
import { BreakerThreads } from "../../src/context/testing/breaker-threads.ts";
import { allocation, setUp } from "../../src/context/testing/executor-set-up.ts";
import { createUnsafeCircuitBreaker } from "../unsafe/unsafe-circuit-breaker.ts";

interface Breaking {
  breaker: CircuitBreaker;
  threads?: BreakerThreads;
  executor?: ParallelStrategyExecutor;
  results: readonly StrategyResults[];
}

Given("a circuit breaker shared by {int} threads", function (this: Breaking, threads: number) {
  this.breaker = new RealBreaker();
  this.threads = new BreakerThreads({ shared: this.breaker.shared, threads });
});

Given("an unsafe circuit breaker shared by {int} threads", function (this: Breaking, threads: number) {
  this.breaker = createUnsafeCircuitBreaker();
  const module = new URL("../unsafe/unsafe-circuit-breaker.ts", import.meta.url).href;
  this.threads = new BreakerThreads({ shared: this.breaker.shared, threads, module });
});

When("each thread reports {int} failures of {string}", async function (this: Breaking, times: number, name: string) {
  await this.threads?.run({ kind: "failures", names: [name], times });
});

Then("the breaker has counted exactly {int} failures", function (this: Breaking, count: number) {
  assert.equal(this.breaker.failures("embedding"), count);
});

Then("the breaker has counted fewer than {int} failures", function (this: Breaking, count: number) {
  assert.ok(this.breaker.failures("embedding") < count, "the check did not see the race it is made for");
});

Given("a strategy executor with {int} workers", function (this: Breaking, maxWorkers: number) {
  const { breaker, executor } = setUp({ maxWorkers, strategyTimeoutMs: 300, totalTimeoutMs: 50_000 });
  this.breaker = breaker;
  this.executor = executor;
});

When(
  "{int} pipelines run a working, a throwing and a spinning strategy at the same time",
  async function (this: Breaking, pipelines: number) {
    const { executor } = this;
    assert.ok(executor);
    const strategies = [allocation("default", 5, "working"), allocation("throws"), allocation("spins")];
    this.results = await Promise.all(
      Array.from({ length: pipelines }, (_, index) => executor.execute(strategies, { id: `request-${index}` })),
    );
  },
);

Then("every pipeline has the fragments of its own request and names what failed", function (this: Breaking) {
  for (const [index, { fragments, outcomes }] of this.results.entries()) {
    assert.deepEqual(
      fragments.map(({ content }) => content),
      [`request-${index}:5`],
    );
    const [working, throwing, spinning] = outcomes.map(({ status }) => status);
    assert.equal(working, "ran");
    assert.ok(throwing === "failed" || throwing === "skipped");
    assert.ok(spinning === "timed_out" || spinning === "skipped");
  }
});

Then("the breaker has switched off the failing strategies and no other", function (this: Breaking) {
  assert.equal(this.breaker.isOpen("throws"), true);
  assert.equal(this.breaker.isOpen("spins"), true);
  assert.equal(this.breaker.isOpen("working"), false);
});

After({ tags: "@tdd_issue_7088" }, async function (this: Breaking) {
  await this.threads?.[Symbol.asyncDispose]();
  await this.executor?.close();
});
