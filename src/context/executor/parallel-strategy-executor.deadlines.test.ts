import { availableParallelism } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { ControlledTimers } from "../testing/controlled-timers.ts";
import { allocation, Cells, NEVER_MS, pause, setUp } from "../testing/executor-set-up.ts";

describe("deadlines", () => {
  test.each(["hangs", "spins", "heedsAbort", "ignoresAbort"])(
    "a strategy that %s times out, the others' results arrive",
    async (name) => {
      const timers = new ControlledTimers();
      const { breaker, executor } = setUp({ strategyTimeoutMs: 1_500, timers });
      await using _ = executor;
      const request = { id: "q", cells: new Cells().cells };
      const run = executor.execute([allocation(name), allocation("twoPieces")], request);
      await timers.untilOnly(1, 2);
      timers.advance(1_500);
      const { fragments, outcomes } = await run;
      expect(outcomes).toMatchObject([{ status: "timed_out", durationMs: 1_500 }, { status: "ran" }]);
      expect(fragments.map(({ content }) => content)).toEqual(["q first", "q second"]);
      expect(breaker.failures(name)).toBe(1);
    },
  );

  test.each(["spins", "ignoresAbort"])("the thread of a strategy that %s is terminated and replaced", async (name) => {
    const timers = new ControlledTimers();
    const { executor } = setUp({ maxWorkers: 1, strategyTimeoutMs: 1_000, timers });
    await using _ = executor;
    const shared = new Cells();
    const request = { id: "q", cells: shared.cells };
    const run = executor.execute([allocation(name), allocation("default", 2)], request);
    await vi.waitUntil(() => shared.heartbeat > 0, NEVER_MS);
    timers.advance(1_000);
    // The only place in the pool was taken by a strategy that never yields it.
    expect((await run).outcomes).toMatchObject([{ status: "timed_out" }, { status: "ran" }]);
    await shared.untilSilent();
  });

  test("a strategy that heeds its signal keeps its thread, and its late result is dropped", async () => {
    const timers = new ControlledTimers();
    const { executor } = setUp({ maxWorkers: 1, strategyTimeoutMs: 1_000, timers });
    await using _ = executor;
    const shared = new Cells();
    const request = { id: "q", cells: shared.cells };
    const run = executor.execute([allocation("heedsAbort"), allocation("default", 2)], request);
    await shared.untilStarted();
    timers.advance(1_000);
    const { fragments, outcomes } = await run;
    expect(outcomes).toMatchObject([{ status: "timed_out" }, { status: "ran" }]);
    expect(fragments.map(({ content }) => content)).toEqual(["q:2"]);
    expect(shared.aborts).toBe(1);
  });

  test.each(["hangs", "spins"])("with patience, one that %s does not keep the others waiting", async (name) => {
    const { executor } = setUp({ threadPatienceMs: 50 });
    await using _ = executor;
    const shared = new Cells();
    const others = Promise.withResolvers<void>();
    const told: string[] = [];
    const onFound = (strategy: string): void => {
      if (told.push(strategy) === 2) others.resolve();
    };
    const all = [allocation(name), allocation("default", 2), allocation("twoPieces")];
    const run = executor.execute(all, { id: "q", cells: shared.cells }, { onFound });
    await others.promise;
    await executor.close();
    expect((await run).outcomes).toMatchObject([{ status: "cancelled" }, { status: "ran" }, { status: "ran" }]);
  });

  test("with patience, those that are quick share a thread", async () => {
    const { executor } = setUp({ threadPatienceMs: NEVER_MS });
    await using _ = executor;
    const shared = new Cells();
    const all = ["a", "b", "c"].map((strategy) => allocation("delayed", 5, strategy));
    const { outcomes } = await executor.execute(all, { cells: shared.cells });
    expect(outcomes.map(({ status }) => status)).toEqual(["ran", "ran", "ran"]);
    expect(shared.mostBusy).toBe(1);
  });

  test("from the second time on they share as many as there are processors", async () => {
    const { executor } = setUp({ threadPatienceMs: NEVER_MS });
    await using _ = executor;
    const all = ["a", "b", "c"].map((strategy) => allocation("delayed", 5, strategy));
    await executor.execute(all, { cells: new Cells().cells });
    const shared = new Cells();
    const waiting = ["a", "b", "c", "d", "e", "f"].map((strategy) => allocation("waitsForGo", 1, strategy));
    const run = executor.execute(waiting, { cells: shared.cells });
    await shared.untilStarted(Math.min(availableParallelism(), 4));
    shared.go();
    expect((await run).outcomes.map(({ status }) => status)).toEqual(waiting.map(() => "ran"));
    expect(shared.mostBusy).toBe(Math.min(availableParallelism(), 4));
  });

  test("the overall deadline ends running strategies and skips those that never started", async () => {
    const timers = new ControlledTimers();
    const { breaker, executor } = setUp({ maxWorkers: 2, totalTimeoutMs: 3_000, timers });
    await using _ = executor;
    const run = executor.execute(
      [allocation("default", 4), allocation("hangs"), allocation("spins"), allocation("throws")],
      { id: "q" },
    );
    await timers.untilOnly(2, 3);
    timers.advance(3_000);
    const { fragments, outcomes } = await run;
    expect(outcomes).toMatchObject([
      { status: "ran" },
      { status: "timed_out", durationMs: 3_000 },
      { status: "timed_out", durationMs: 3_000 },
      { status: "skipped", reason: "deadline" },
    ]);
    expect(fragments).toHaveLength(1);
    expect(breaker.failures("throws")).toBe(0);
  });
});

describe("the breaker", () => {
  test.each(["throws", "exits", "hangs"])("opens after three times %s, and later calls skip it", async (name) => {
    const { breaker, executor } = setUp({ strategyTimeoutMs: name === "hangs" ? 200 : NEVER_MS });
    await using _ = executor;
    for (let i = 0; i < 3; i++) await executor.execute([allocation(name)], {});
    expect(breaker.state(name)).toBe("open");

    const { executor: later } = setUp({ breaker });
    await using __ = later;
    const { fragments, outcomes } = await later.execute([allocation(name), allocation("default", 5)], { id: "q" });
    expect(outcomes).toMatchObject([{ status: "skipped", reason: "breaker open" }, { status: "ran" }]);
    expect(fragments).toEqual([{ content: "q:5", tokens: 5 }]);
    expect(breaker.failures(name)).toBe(3);
  });

  test("admits one probe after the cooldown, and its result closes it", async () => {
    const { breaker, executor } = setUp({}, { cooldownMs: 1 });
    await using _ = executor;
    for (let i = 0; i < 3; i++) breaker.recordFailure("waitsForGo");
    await pause(5);
    const shared = new Cells();
    const probe = executor.execute([allocation("waitsForGo")], { cells: shared.cells });
    await shared.untilStarted();
    const { outcomes } = await executor.execute(
      Array.from({ length: 6 }, () => allocation("waitsForGo")),
      { cells: shared.cells },
    );
    expect(outcomes.every((outcome) => outcome.status === "skipped" && outcome.reason === "breaker open")).toBe(true);
    shared.go();
    expect((await probe).outcomes).toMatchObject([{ status: "ran" }]);
    expect(breaker.state("waitsForGo")).toBe("closed");
  });
});

describe("canceling and closing", () => {
  test("by signal ends everything at once and counts against no strategy", async () => {
    const { breaker, executor } = setUp({ maxWorkers: 2 });
    await using _ = executor;
    const shared = new Cells();
    const controller = new AbortController();
    const names = ["spins", "heedsAbort", "default"];
    const call = executor.execute(
      names.map((name) => allocation(name)),
      { id: "q", cells: shared.cells },
      { signal: controller.signal },
    );
    await shared.untilStarted(2);
    controller.abort();
    const { fragments, outcomes } = await call;
    expect(outcomes).toEqual(names.map((strategy) => ({ strategy, status: "cancelled" })));
    expect(fragments).toEqual([]);
    expect(names.map((name) => breaker.failures(name))).toEqual([0, 0, 0]);
    await shared.untilSilent();
  });

  test("one call leaves others alone", async () => {
    const { executor } = setUp({ maxWorkers: 2 });
    await using _ = executor;
    const controller = new AbortController();
    const shared = new Cells();
    const cancelled = executor.execute([allocation("hangs")], { cells: shared.cells }, { signal: controller.signal });
    const kept = executor.execute([allocation("delayed", 200)], { id: "kept" });
    await shared.untilStarted();
    controller.abort();
    expect((await cancelled).outcomes).toMatchObject([{ status: "cancelled" }]);
    expect((await kept).fragments.map(({ content }) => content)).toEqual(["kept:200"]);
  });

  test("a probe gives its place back", async () => {
    const { breaker, executor } = setUp({}, { cooldownMs: 1 });
    await using _ = executor;
    for (let i = 0; i < 3; i++) breaker.recordFailure("hangs");
    await pause(5);
    const shared = new Cells();
    const controller = new AbortController();
    const call = executor.execute([allocation("hangs")], { cells: shared.cells }, { signal: controller.signal });
    await shared.untilStarted();
    expect(breaker.isOpen("hangs")).toBe(true);
    controller.abort();
    await call;
    expect([breaker.isOpen("hangs"), breaker.failures("hangs")]).toEqual([false, 3]);
  });

  test("before the start means that nothing starts", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const { outcomes } = await executor.execute([allocation("default")], {}, { signal: AbortSignal.abort() });
    expect(outcomes).toEqual([{ strategy: "default", status: "cancelled" }]);
  });

  test("by closing cancels running strategies, and nothing can be executed any more", async () => {
    const { breaker, executor } = setUp({ maxWorkers: 1 });
    const shared = new Cells();
    const call = executor.execute([allocation("spins"), allocation("default")], { cells: shared.cells });
    await shared.untilStarted();
    await Promise.all([executor.close(), executor.close()]);
    expect((await call).outcomes).toMatchObject([{ status: "cancelled" }, { status: "cancelled" }]);
    expect(breaker.failures("spins")).toBe(0);
    await expect(executor.execute([], {})).rejects.toThrow("closed");
  });

  test("by closing ends the threads, even if strategies left something in them, before close returns", async () => {
    const { executor } = setUp({ maxWorkers: 1 });
    const shared = new Cells();
    await executor.execute([allocation("leavesTicker")], { cells: shared.cells });
    await executor.close();
    const { heartbeat } = shared;
    await pause(100);
    expect(heartbeat).toBeGreaterThan(0);
    expect(shared.heartbeat).toBe(heartbeat);
  });

  test("from a listener of the breaker is safe", async () => {
    const { breaker, executor } = setUp({ maxWorkers: 2 }, { failureThreshold: 1 });
    breaker.onTransition(() => void executor.close());
    const { outcomes } = await executor.execute([allocation("throws"), allocation("hangs"), allocation("default")], {});
    expect(outcomes[0]).toMatchObject({ status: "failed" });
    expect(outcomes[1]).toMatchObject({ status: "cancelled" });
    await executor.close();
  });
});
