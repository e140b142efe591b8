import { expect, test } from "vitest";
import { IndexMovedError } from "../../code-index/model/index-errors.ts";
import { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { ControlledTimers } from "../testing/controlled-timers.ts";
import { StrategyTask } from "./strategy-task.ts";

function newTask(breaker = new CircuitBreaker()) {
  const call = { module: "file:///nowhere.js", exportName: "default", tokens: 1, request: {} };
  let withdrawn = 0;
  const withdraw = () => void withdrawn++;
  const timers = new ControlledTimers();
  const task = new StrategyTask({ strategy: "s", circuit: "s", call, breaker, timeoutMs: 60_000, timers, withdraw });
  return { breaker, task, call, timers, withdrawals: () => withdrawn };
}

const returned = { kind: "returned", fragments: [{ content: "late", tokens: 1 }] } as const;

test("a reply after the end is dropped", async () => {
  const { breaker, task, withdrawals } = newTask();
  task.begin();
  task.expire();
  task.end(returned);
  task.cancel();
  task.refuse("too late");
  expect(await task.settled).toMatchObject({ strategy: "s", status: "timed_out" });
  expect(task.fragments).toEqual([]);
  expect(breaker.failures("s")).toBe(1);
  expect(withdrawals()).toBeGreaterThan(0);
});

test("the deadline of a strategy ends it at its time, not before, and not when it has ended", async () => {
  const { breaker, task, timers } = newTask();
  task.begin();
  timers.advance(59_999);
  expect(breaker.failures("s")).toBe(0);
  timers.advance(1);
  expect(await task.settled).toEqual({ strategy: "s", status: "timed_out", durationMs: 60_000 });
  const other = newTask();
  other.task.begin();
  other.task.end(returned);
  other.timers.advance(60_000);
  expect(await other.task.settled).toMatchObject({ status: "ran", durationMs: 0 });
  expect(other.breaker.failures("s")).toBe(0);
});

test("a task that was settled in the queue does not begin", async () => {
  const { breaker, task } = newTask();
  for (let i = 0; i < 2; i++) breaker.recordFailure("s");
  task.expire();
  expect(task.begin()).toBeUndefined();
  expect(await task.settled).toEqual({ strategy: "s", status: "skipped", reason: "deadline" });
});

test("a task that could not be run without a thread has failed, but not its strategy", async () => {
  const { breaker, task, call } = newTask();
  expect(task.begin()).toBe(call);
  task.refuse("no thread");
  expect(await task.settled).toMatchObject({ status: "failed", reason: "no thread" });
  expect(breaker.failures("s")).toBe(0);
});

test("a task whose caller gives up while the breaker is asked does not begin, and its permit is given back", async () => {
  const time = { now: 0 };
  const { breaker, task } = newTask(new CircuitBreaker({ failureThreshold: 1, cooldownMs: 1, clock: () => time.now }));
  breaker.recordFailure("s");
  time.now = 1;
  breaker.onTransition(() => task.cancel());
  expect(task.begin()).toBeUndefined();
  expect(await task.settled).toEqual({ strategy: "s", status: "cancelled" });
  // The next caller may probe at once.
  expect([breaker.state("s"), breaker.isOpen("s")]).toEqual(["half-open", false]);
});

test("files that change meanwhile are not a failure of the strategy", async () => {
  const { breaker, task } = newTask();
  task.begin();
  task.end({ kind: "failed", reason: new IndexMovedError("shop", 1, 2).message });
  expect(await task.settled).toMatchObject({ status: "failed" });
  expect(breaker.failures("s")).toBe(0);
});
