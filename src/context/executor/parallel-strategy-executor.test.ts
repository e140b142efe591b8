import { describe, expect, test } from "vitest";
import { ValidationError } from "../../domain/errors/errors.ts";
import { allocation, Cells, setUp, STRATEGIES } from "../testing/executor-set-up.ts";

describe("results", () => {
  test("nothing in, nothing out", async () => {
    const { executor } = setUp();
    await using _ = executor;
    expect(await executor.execute([], { id: "q" })).toEqual({ fragments: [], outcomes: [] });
  });

  test("come in the order of the allocations, in any order of finishing", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const allocations = [150, 1, 80, 30].map((ms) => allocation("delayed", ms, `after ${ms}`));
    const { fragments, outcomes } = await executor.execute(allocations, { id: "q" });
    expect(fragments.map(({ content }) => content)).toEqual(["q:150", "q:1", "q:80", "q:30"]);
    expect(outcomes.map(({ strategy }) => strategy)).toEqual(["after 150", "after 1", "after 80", "after 30"]);
  });

  test("are told of one by one, as soon as each is there, and are the same in the end", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const told: [string, readonly unknown[]][] = [];
    const shared = new Cells();
    const allocations = [allocation("waitsForGo", 1, "late"), allocation("throws"), allocation("twoPieces")];
    const onFound = (strategy: string, found: readonly unknown[]): void => {
      told.push([strategy, found]);
      // The late one waits for this: it would wait for ever if results were only told at the end.
      shared.go();
    };
    const { fragments } = await executor.execute(allocations, { id: "q", cells: shared.cells }, { onFound });
    expect(told.map(([strategy]) => strategy)).toEqual(["twoPieces", "late"]);
    expect(told.flatMap(([, found]) => found)).toHaveLength(3);
    for (const found of told.flatMap(([, all]) => all)) expect(fragments.some((one) => one === found)).toBe(true);
  });

  test("carry every field and sum up the tokens", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const { fragments, outcomes } = await executor.execute([allocation("twoPieces")], { id: "q" });
    expect(fragments).toEqual([
      { content: "q first", tokens: 2, source: "a.ts", lines: [1, 2] },
      { content: "q second", tokens: 3 },
    ]);
    expect(outcomes).toEqual([
      { strategy: "twoPieces", status: "ran", fragments: 2, tokens: 5, durationMs: expect.any(Number) },
    ]);
  });

  test("the default export and a plain path do, too", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const { fragments } = await executor.execute([{ strategy: "echo", module: STRATEGIES.pathname, tokens: 9 }], {
      id: "q",
    });
    expect(fragments).toEqual([{ content: "q:9", tokens: 9 }]);
  });

  test("of 20 concurrent calls are complete and each call's own", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const shared = new Cells();
    const ids = Array.from({ length: 20 }, (_, i) => `request ${i}`);
    const results = await Promise.all(
      ids.map((id) =>
        executor.execute([allocation("delayed", 7), allocation("twoPieces"), allocation("delayed", 3)], {
          id,
          cells: shared.cells,
        }),
      ),
    );
    expect(results.map(({ fragments }) => fragments.map(({ content }) => content))).toEqual(
      ids.map((id) => [`${id}:7`, `${id} first`, `${id} second`, `${id}:3`]),
    );
    expect(results.flatMap(({ outcomes }) => outcomes).every(({ status }) => status === "ran")).toBe(true);
    expect(shared.mostBusy).toBeLessThanOrEqual(4);
  });

  test("use as many threads as allowed, not more", async () => {
    const { executor } = setUp({ maxWorkers: 2 });
    await using _ = executor;
    const shared = new Cells();
    await executor.execute(
      Array.from({ length: 6 }, () => allocation("delayed", 200)),
      { id: "q", cells: shared.cells },
    );
    expect(shared.mostBusy).toBe(2);
  });

  test("are of the request as it was when it was made", async () => {
    const { executor } = setUp({ maxWorkers: 1 });
    await using _ = executor;
    const request = { id: "before" };
    const call = executor.execute([allocation("delayed", 20), allocation("delayed", 1)], request);
    request.id = "after";
    expect((await call).fragments.map(({ content }) => content)).toEqual(["before:20", "before:1"]);
  });
});

describe("a strategy that", () => {
  test.each([
    ["throws", "index is gone"],
    ["throwsNothingUseful", "threw { status: 500 }"],
    ["notAnArray", "returned a value of type string instead of an array of fragments"],
    ["nothing", "returned undefined instead of an array of fragments"],
    ["withoutContent", "returned fragment 0 without text content"],
    ["lazyContent", "returned fragment 0 without text content"],
    ["negativeTokens", "returned fragment 0 without a token count"],
    ["halfTokens", "returned fragment 1 without a token count"],
    ["holdsFunction", "returned fragments that cannot leave its thread"],
    ["exits", "ended its thread with code 3"],
    ["notAFunction", 'exports no function "notAFunction"'],
    ["missing", 'exports no function "missing"'],
  ])("%s has failed, and the others have not", async (exportName, reason) => {
    const { breaker, executor } = setUp();
    await using _ = executor;
    const { fragments, outcomes } = await executor.execute([allocation(exportName), allocation("default", 5)], {
      id: "q",
    });
    expect(outcomes).toMatchObject([{ status: "failed", reason: expect.stringContaining(reason) }, { status: "ran" }]);
    expect(fragments).toEqual([{ content: "q:5", tokens: 5 }]);
    expect([breaker.failures(exportName), breaker.failures("default")]).toEqual([1, 0]);
  });

  test("is in no module has failed", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const module = new URL("./testing/no-such-module.ts", import.meta.url).href;
    const { outcomes } = await executor.execute([{ strategy: "s", module, tokens: 1 }], {});
    expect(outcomes).toMatchObject([{ status: "failed", reason: expect.stringContaining("no-such-module") }]);
  });

  test("fills the memory loses its thread, and the others continue", async () => {
    const { breaker, executor } = setUp({ workerMemoryMb: 32 });
    await using _ = executor;
    const { outcomes } = await executor.execute([allocation("fillsMemory"), allocation("delayed", 50)], { id: "q" });
    expect(outcomes).toMatchObject([
      { status: "failed", reason: expect.stringContaining("memory") },
      { status: "ran" },
    ]);
    expect(breaker.failures("fillsMemory")).toBe(1);
  });

  test("posts messages of its own does no harm", async () => {
    const { executor } = setUp();
    await using _ = executor;
    expect((await executor.execute([allocation("postsNonsense")], {})).fragments).toEqual([
      { content: "sense", tokens: 1 },
    ]);
  });

  test("leaves something behind that breaks its thread is not blamed on the next", async () => {
    const { breaker, executor } = setUp({ maxWorkers: 1 });
    await using _ = executor;
    const { outcomes } = await executor.execute([allocation("leavesBomb"), allocation("delayed", 300)], { id: "q" });
    expect(outcomes).toMatchObject([{ status: "ran" }, { status: "ran" }]);
    expect(breaker.failures("delayed")).toBe(0);
  });

  test("exits in a thread others have used is still its own failure, once", async () => {
    const { breaker, executor } = setUp({ maxWorkers: 1 });
    await using _ = executor;
    const { outcomes } = await executor.execute([allocation("default"), allocation("exits"), allocation("default")], {
      id: "q",
    });
    expect(outcomes).toMatchObject([{ status: "ran" }, { status: "failed" }, { status: "ran" }]);
    expect(breaker.failures("exits")).toBe(1);
  });

  test("has a name the breaker cannot take has failed", async () => {
    const { executor } = setUp({}, { capacity: 1 });
    await using _ = executor;
    const { outcomes } = await executor.execute(
      [allocation("default"), allocation("throws"), allocation("throws", 1, "x".repeat(300))],
      {},
    );
    expect(outcomes).toMatchObject([
      { status: "ran" },
      { status: "failed", reason: expect.stringContaining("full") },
      { status: "failed", reason: expect.stringContaining("not valid") },
    ]);
  });

  test("wants the breaker gets the one of the executor", async () => {
    const { breaker, executor } = setUp({ maxWorkers: 1 }, { failureThreshold: 2 });
    await using _ = executor;
    const twice = [allocation("reportsToBreaker"), allocation("reportsToBreaker")];
    const { fragments } = await executor.execute(twice, { id: "q" });
    expect(fragments.map(({ content }) => content)).toEqual(["closed", "open"]);
    expect(breaker.failures("backend of q")).toBe(2);
  });
});

describe("refuses", () => {
  test.each([
    [{ maxWorkers: 0 }, "maxWorkers"],
    [{ strategyTimeoutMs: 0.5 }, "strategyTimeoutMs"],
    [{ totalTimeoutMs: Number.POSITIVE_INFINITY }, "totalTimeoutMs"],
    [{ workerMemoryMb: -1 }, "workerMemoryMb"],
  ])("the options %j", (options, path) => {
    const issues = [expect.objectContaining({ path })];
    expect(() => setUp(options)).toThrow(expect.objectContaining({ code: "validation", issues }));
  });

  test("allocations that make no sense, naming each", async () => {
    const { executor } = setUp();
    await using _ = executor;
    const call = executor.execute([allocation("default"), { strategy: "", module: "./here.ts", tokens: -1 }], {});
    await expect(call).rejects.toMatchObject({
      issues: [{ path: "allocations.1.strategy" }, { path: "allocations.1.module" }, { path: "allocations.1.tokens" }],
    });
  });

  test("a request that cannot be copied", async () => {
    const { executor } = setUp();
    await using _ = executor;
    await expect(executor.execute([allocation("default")], { run: () => {} })).rejects.toBeInstanceOf(ValidationError);
  });
});
