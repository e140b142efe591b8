/**
 * The breaker shared by real threads. The same checks also run on a breaker without compare-exchange, to prove that
 * they can fail.
 */
import { describe, expect, test } from "vitest";
import { hashOf } from "./breaker-names.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { BreakerModel, INITIAL, type ModelState } from "../testing/breaker-model.ts";
import { type BreakerOperation, BreakerOperator, type OperationResult } from "../testing/breaker-operations.ts";
import { BreakerThreads } from "../testing/breaker-threads.ts";
import { describeHistory, type History, isLinearizable, overlaps } from "../testing/linearizability.ts";

const UNSAFE = new URL("../../../features/unsafe/unsafe-circuit-breaker.ts", import.meta.url).href;
const HOUR_MS = 3_600_000;

describe("counting", () => {
  test("8 threads × 100,000 failures are 800,000", async () => {
    const breaker = new CircuitBreaker();
    await using threads = new BreakerThreads({ shared: breaker.shared, threads: 8 });
    await threads.run({ kind: "failures", names: ["search"], times: 100_000 });
    expect(breaker.failures("search")).toBe(800_000);
  });

  test("the same without compare-exchange loses some", async () => {
    const breaker = new CircuitBreaker();
    await using threads = new BreakerThreads({ shared: breaker.shared, threads: 8, module: UNSAFE });
    await threads.run({ kind: "failures", names: ["search"], times: 100_000 });
    expect(breaker.failures("search")).toBeLessThan(800_000);
  });

  test("four names at once, introduced by all threads at the same time, do not influence each other", async () => {
    const breaker = new CircuitBreaker({ capacity: 4 });
    await using threads = new BreakerThreads({ shared: breaker.shared, threads: 4 });
    const names = ["a", "b", "c", "d"];
    await threads.run(
      names.map((_, i) => ({ kind: "failures", names: names.slice(i).concat(names.slice(0, i)), times: 10_000 })),
    );
    expect(names.map((name) => breaker.failures(name))).toEqual([40_000, 40_000, 40_000, 40_000]);
  });

  test("a name introduced by all threads at once gets one place", async () => {
    const breaker = new CircuitBreaker({ capacity: 200 });
    await using threads = new BreakerThreads({ shared: breaker.shared, threads: 8 });
    const names = Array.from({ length: 200 }, (_, i) => `strategy-${i}`);
    await threads.run({ kind: "inStep", names });
    expect(names.map((name) => breaker.failures(name))).toEqual(names.map(() => 8));
  });

  test("different names that want the same place at once get different ones, to the last in the table", async () => {
    const breaker = new CircuitBreaker({ capacity: 1_200 });
    await using threads = new BreakerThreads({ shared: breaker.shared, threads: 4 });
    const names = collidingNames(4, 1_200);
    await threads.run(names.map((own) => ({ kind: "inStep", names: own })));
    expect(names.flat().filter((name) => breaker.failures(name) !== 1)).toEqual([]);
    expect(() => breaker.recordFailure("one more")).toThrow("full");
  });
});

/**
 * Names for each thread; those at the same position in all lists belong in the same place of a table of this capacity.
 */
function collidingNames(threads: number, capacity: number): string[][] {
  const rivals = Array.from({ length: capacity / threads }, (): string[] => []);
  for (let i = 0; rivals.some((names) => names.length < threads); i++) {
    const name = `strategy-${i}`;
    const place = (hashOf(new TextEncoder().encode(name)) >>> 0) % capacity;
    const names = place % threads === 0 ? rivals[place / threads] : undefined;
    if (names !== undefined && names.length < threads) names.push(name);
  }
  return Array.from({ length: threads }, (_, thread) => rivals.map((names) => names[thread] ?? ""));
}

describe("one probe", () => {
  test("of 1,000 callers on 8 threads, each of 50 times", async () => {
    const breaker = new CircuitBreaker({ cooldownMs: 100, clock: () => 0 });
    const names = Array.from({ length: 50 }, (_, i) => `strategy-${i}`);
    for (const name of names) for (let i = 0; i < 3; i++) breaker.recordFailure(name);
    await using threads = new BreakerThreads({ shared: breaker.shared, threads: 8, now: 100 });
    for (const name of names) {
      const replies = await threads.run({ kind: "acquire", name, times: 125 });
      expect(replies.reduce((sum, reply) => sum + (reply.kind === "granted" ? reply.permits : 0), 0)).toBe(1);
    }
  });
});

test("the default clock means the same in every thread", async () => {
  const breaker = new CircuitBreaker({ failureThreshold: 1, cooldownMs: HOUR_MS, maxCooldownMs: HOUR_MS });
  const soon = new CircuitBreaker({ failureThreshold: 1, cooldownMs: 1 });
  breaker.recordFailure("long");
  soon.recordFailure("short");
  await using longThreads = new BreakerThreads({ shared: breaker.shared, threads: 2 });
  await using shortThreads = new BreakerThreads({ shared: soon.shared, threads: 2 });
  const long = await longThreads.run({ kind: "states", names: ["long", "unknown"] });
  const short = await shortThreads.run({ kind: "states", names: ["short"] });
  // The threads are a few milliseconds old; the one cooldown ends in an hour, the other ended before they were there.
  expect(long).toEqual([1, 2].map(() => ({ kind: "states", states: ["open", "closed"] })));
  expect(short).toEqual([1, 2].map(() => ({ kind: "states", states: ["half-open"] })));
});

const THREADS = 4;
const OPERATIONS = 8;
const SETUP_TIME = 0;
/**
 * Long after every cooldown of the setup, long before the end of any that begins now: during a race time stands still.
 */
const RACE_TIME = HOUR_MS;

const SETUPS: readonly (readonly BreakerOperation[])[] = [
  [{ do: "success" }],
  [{ do: "failure" }, { do: "failure" }],
  // Open, and ready for a probe by the time of the race.
  [{ do: "failure" }, { do: "failure" }, { do: "failure" }],
];

describe("linearizability", () => {
  test("every recorded history could have happened one operation at a time", async () => {
    // Histories whose threads happened to run one after another prove nothing, so it continues until there are enough
    // others.
    let overlapping = 0;
    for (let round = 0; round < 20 && overlapping < 300; round++) {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const races = await race({ seed, count: 400 });
      for (const { history, setup, linearizable } of races) {
        expect(linearizable, `seed ${seed}, after ${JSON.stringify(setup)}:\n${describeHistory(history)}`).toBe(true);
      }
      overlapping += races.filter(({ history }) => overlaps(history) > 0).length;
    }
    expect(overlapping).toBeGreaterThanOrEqual(300);
  });

  test("without compare-exchange some could not", async () => {
    let impossible = 0;
    for (let seed = 1; seed <= 20 && impossible === 0; seed++) {
      const races = await race({ seed, count: 400, module: UNSAFE });
      impossible += races.filter(({ linearizable }) => !linearizable).length;
    }
    expect(impossible).toBeGreaterThan(0);
  });
});

interface Race {
  readonly setup: readonly BreakerOperation[];
  readonly history: History<BreakerOperation, OperationResult>;
  readonly linearizable: boolean;
}

/** Lets the threads loose on one fresh name after another and judges each history. */
async function race(options: { seed: number; count: number; module?: string }): Promise<Race[]> {
  const { seed, count, ...rest } = options;
  const random = randomFrom(seed);
  const settings = {
    failureThreshold: 3,
    cooldownMs: HOUR_MS / 2,
    maxCooldownMs: 10 * HOUR_MS,
    probeTimeoutMs: HOUR_MS,
    capacity: count,
  };
  const breaker = new CircuitBreaker({ ...settings, clock: () => SETUP_TIME });
  const model = new BreakerModel(settings);

  const plans = Array.from({ length: count }, (_, i) => {
    const name = `race-${i}`;
    const setup = SETUPS[random(SETUPS.length)] ?? [];
    const operator = new BreakerOperator(breaker, name);
    let initial: ModelState = INITIAL;
    for (const operation of setup) {
      operator.perform(operation);
      initial = model.step(initial, operation, SETUP_TIME).state;
    }
    const operations = Array.from({ length: THREADS }, (_, thread) =>
      Array.from({ length: OPERATIONS }, () => randomOperation(random, thread)),
    );
    return { name, setup, initial, operations };
  });

  await using threads = new BreakerThreads({ shared: breaker.shared, threads: THREADS, now: RACE_TIME, ...rest });
  const replies = await threads.run(
    Array.from({ length: THREADS }, (_, thread) => ({
      kind: "histories" as const,
      histories: plans.map(({ name, operations }) => ({ name, operations: operations[thread] ?? [] })),
    })),
  );
  return plans.map(({ setup, initial }, i): Race => {
    const history = replies.map((reply) => (reply.kind === "recorded" ? (reply.histories[i] ?? []) : []));
    const step = (state: ModelState, operation: BreakerOperation) => model.step(state, operation, RACE_TIME);
    return { setup, history, linearizable: isLinearizable(history, { initial, step }) };
  });
}

function randomOperation(random: (below: number) => number, thread: number): BreakerOperation {
  switch (random(12)) {
    case 0:
      return { do: "success" };
    case 1:
    case 2:
    case 3:
      return { do: "failure" };
    case 4:
      return { do: "reset" };
    case 5:
      return { do: "state" };
    case 6:
    case 7:
      return { do: "failures" };
    case 8:
    case 9:
      return { do: "acquire", as: thread };
    default:
      return {
        do: "settle",
        permit: thread,
        verdict: (["success", "failure", "cancel"] as const)[random(3)] ?? "cancel",
      };
  }
}

/** A small seeded generator (mulberry32): numbers from 0 to below. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
