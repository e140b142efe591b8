import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DomainEvent } from "../../domain/plan/events.ts";
import { openStore } from "../../store/sqlite/open-store.ts";
import type { Store } from "../../store/port.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { TemporaryStore } from "../../testing/temporary-store.ts";
import { seededRandom } from "../../testing/random.ts";
import { listBreakers, resetBreakers } from "./breaker-record.ts";
import { type BreakerPermit, CircuitBreaker } from "./circuit-breaker.ts";
import { SharedBreakers } from "./shared-breakers.ts";

/** The parts of one process: a handle of the store, a breaker's memory, and the object that synchronizes the two. */
interface Process {
  readonly store: Store;
  readonly breaker: CircuitBreaker;
  readonly shared: SharedBreakers;
}

let temporary: TemporaryStore;
let clock: FakeClock;
let processes: Process[];
const NAME = "search@shop";

beforeEach(async () => {
  clock = new FakeClock();
  temporary = await TemporaryStore.open("file", { clock: clock.now });
  processes = [];
});

afterEach(async () => {
  for (const { shared, store } of processes) {
    await shared[Symbol.asyncDispose]();
    await store.close();
  }
  await temporary[Symbol.asyncDispose]();
});

async function newProcess(): Promise<Process> {
  const store = await openStore(temporary.store.url, { clock: clock.now });
  const breaker = new CircuitBreaker({ clock: clock.now });
  const shared = new SharedBreakers({ store, breaker });
  shared.circuit("search", "shop");
  await shared.refresh();
  const process = { store, breaker, shared };
  processes.push(process);
  return process;
}

async function fail({ breaker, shared }: Process, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    await shared.refresh();
    permitOf(breaker).failure();
    await shared.settled();
  }
}

function permitOf(breaker: CircuitBreaker): BreakerPermit {
  const permit = breaker.tryAcquire(NAME);
  if (permit === undefined) throw new Error("no permit");
  return permit;
}

async function events(): Promise<[string, unknown][]> {
  const rows = await temporary.store.read((reader) =>
    reader.all<Pick<DomainEvent, "type"> & { details: string }>("SELECT type, details FROM events ORDER BY sequence"),
  );
  return rows.map(({ type, details }) => [type, JSON.parse(details)]);
}

async function row(): Promise<Record<string, unknown> | undefined> {
  return temporary.store.read((reader) => reader.get<Record<string, unknown>>("SELECT * FROM breakers"));
}

test("three processes with one failure each open a circuit as one with three does", async () => {
  for (let i = 0; i < 3; i++) await fail(await newProcess());
  const fourth = await newProcess();
  expect([fourth.breaker.state(NAME), fourth.breaker.failures(NAME)]).toEqual(["open", 3]);
  expect(fourth.breaker.tryAcquire(NAME)).toBeUndefined();
  expect(await listBreakers(fourth.store)).toEqual([
    {
      strategy: "search",
      project: "shop",
      state: "open",
      failures: 3,
      openUntil: clock.now() + 30_000,
      changedAt: clock.now(),
    },
  ]);
});

test("a transition in one process reaches the others, and each transition is an event", async () => {
  const [one, other] = [await newProcess(), await newProcess()];
  await fail(one, 3);
  expect(other.breaker.isOpen(NAME)).toBe(false);
  await other.shared.refresh();
  expect(other.breaker.isOpen(NAME)).toBe(true);

  clock.advance(10_000);
  await other.shared.refresh();
  expect(other.breaker.isOpen(NAME)).toBe(true);
  clock.advance(20_000);
  expect(other.breaker.state(NAME)).toBe("half-open");
  const probe = permitOf(other.breaker);
  await other.shared.settled();
  await one.shared.refresh();
  expect(one.breaker.isOpen(NAME)).toBe(true);
  probe.failure();
  await other.shared.settled();
  await one.shared.refresh();
  clock.advance(59_999);
  expect(one.breaker.isOpen(NAME)).toBe(true);
  clock.advance(1);
  const second = permitOf(one.breaker);
  second.success();
  await one.shared.settled();
  await other.shared.refresh();
  expect([other.breaker.state(NAME), other.breaker.failures(NAME)]).toEqual(["closed", 0]);
  expect((await events()).map(([type]) => type)).toEqual([
    "breaker.opened",
    "breaker.half_opened",
    "breaker.opened",
    "breaker.half_opened",
    "breaker.closed",
  ]);
});

test("a success between the failures of others is heard", async () => {
  const [one, other] = [await newProcess(), await newProcess()];
  await fail(one, 2);
  await other.shared.refresh();
  permitOf(other.breaker).success();
  await other.shared.settled();
  await fail(one);
  expect([one.breaker.state(NAME), one.breaker.failures(NAME)]).toEqual(["closed", 1]);
  expect(await row()).toMatchObject({ phase: "closed", failures: 1 });
});

test("a late result from another process changes nothing", async () => {
  const [one, other] = [await newProcess(), await newProcess()];
  const [early, earlier] = [permitOf(one.breaker), permitOf(one.breaker)];
  await fail(other, 3);
  await resetBreakers(other.store);
  // This process has not heard of the reset yet; its results belong to a time before it nevertheless.
  early.failure();
  await one.shared.settled();
  expect(await row()).toMatchObject({ phase: "closed", failures: 0 });
  expect(one.breaker.failures(NAME)).toBe(0);
  earlier.failure();
  await one.shared.settled();
  expect(one.breaker.failures(NAME)).toBe(0);
  await fail(one);
  expect(await row()).toMatchObject({ phase: "closed", failures: 1 });
});

test("a reset reaches processes that are running, within a second", async () => {
  const one = await newProcess();
  await fail(one, 3);
  expect(one.breaker.isOpen(NAME)).toBe(true);
  expect(await resetBreakers(temporary.store, { strategy: "other" })).toEqual([]);
  expect(await resetBreakers(temporary.store, { strategy: "search", project: "shop" })).toMatchObject([
    { strategy: "search", state: "closed", failures: 0 },
  ]);
  for (let waited = 0; one.breaker.isOpen(NAME) && waited < 5_000; waited += 50) await sleep(50);
  expect(one.breaker.isOpen(NAME)).toBe(false);
  expect((await events()).at(-1)).toEqual([
    "breaker.reset",
    { strategy: "search", project: "shop", failures: 0, open_until: null },
  ]);
});

test("a reset made through the breaker itself is shared too", async () => {
  const [one, other] = [await newProcess(), await newProcess()];
  await fail(one, 3);
  await other.shared.refresh();
  one.breaker.reset(NAME);
  await one.shared.settled();
  await other.shared.refresh();
  expect(other.breaker.state(NAME)).toBe("closed");
});

test("projects do not share their failures", async () => {
  const one = await newProcess();
  const name = one.shared.circuit("search", "other");
  await fail(one, 3);
  await one.shared.refresh();
  expect(one.breaker.isOpen(NAME)).toBe(true);
  expect(one.breaker.isOpen(name)).toBe(false);
});

test("a probe whose process died is taken over when its time is up", async () => {
  const [dying, other] = [await newProcess(), await newProcess()];
  await fail(dying, 3);
  clock.advance(30_000);
  permitOf(dying.breaker);
  await dying.shared.settled();
  await other.shared.refresh();
  expect(other.breaker.tryAcquire(NAME)).toBeUndefined();
  clock.advance(30_000);
  expect(other.breaker.tryAcquire(NAME)).toBeDefined();
});

test("a clock that was set does not keep a circuit open for ever", async () => {
  const one = await newProcess();
  await fail(one, 3);
  clock.advance(-3_600_000);
  const other = await newProcess();
  clock.advance(30_000);
  expect(other.breaker.isOpen(NAME)).toBe(false);
});

test("a failing store does not make the breaker fail", async () => {
  const one = await newProcess();
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on("warning", listen);
  await one.store.close();
  permitOf(one.breaker).failure();
  await one.shared.settled();
  expect(one.breaker.failures(NAME)).toBe(1);
  await sleep(10);
  process.off("warning", listen);
  expect(warnings.length).toBeGreaterThan(0);
});

describe("after any history, when every process has every change", () => {
  test.each(Array.from({ length: 20 }, (_, seed) => seed))("all agree (seed %d)", async (seed) => {
    const draw = seededRandom(seed);
    const all = [await newProcess(), await newProcess(), await newProcess()];
    const out: { permit: BreakerPermit; process: Process }[] = [];
    for (let step = 0; step < 60; step++) {
      const process = all[Math.floor(draw() * all.length)];
      if (process === undefined) continue;
      const choice = draw();
      if (choice < 0.35) {
        const permit = process.breaker.tryAcquire(NAME);
        if (permit !== undefined) out.push({ permit, process });
      } else if (choice < 0.75) {
        const [taken] = out.splice(Math.floor(draw() * out.length), 1);
        const verdict = draw();
        if (verdict < 0.6) taken?.permit.failure();
        else if (verdict < 0.9) taken?.permit.success();
        else taken?.permit.cancel();
      } else if (choice < 0.85) await process.shared.refresh();
      else if (choice < 0.95) clock.advance(Math.floor(draw() * 40_000));
      else await resetBreakers(process.store);
    }
    for (const { shared } of all) await shared.settled();
    for (const { shared } of all) await shared.refresh();
    const states = all.map(({ breaker }) => [breaker.state(NAME), breaker.failures(NAME), breaker.isOpen(NAME)]);
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
    const [status] = await listBreakers(temporary.store);
    if (status !== undefined) expect([status.state, status.failures]).toEqual(states[0]?.slice(0, 2));
  });
});
