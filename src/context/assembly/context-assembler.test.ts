import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareText } from "../model/compare.ts";
import { STAGES } from "../model/context-model.ts";
import { sized } from "../../testing/size.ts";
import { ControlledTimers } from "../testing/controlled-timers.ts";
import { AssemblySetUp, question, strategy } from "../testing/assembly-set-up.ts";
import { tokenizerNamed } from "../tokens/tokenizer.ts";

const count = tokenizerNamed("o200k_base");

test("a context is assembled from the fragments of all strategies, within the budget, and says how", async () => {
  await using setUp = new AssemblySetUp([strategy("signatures"), strategy("definitions", { confidence: () => 0.9 })]);
  const context = await setUp.assembler.assemble(setUp.input(2_000));
  expect(context.tokens).toBe(count(context.text));
  expect(context.tokens).toBeLessThanOrEqual(2_000);
  expect(context.tokens).toBeGreaterThan(1_500);
  expect(context.strategies.map(({ name }) => name)).toEqual(["definitions", "signatures"]);
  expect(new Set(context.fragments.flatMap(({ strategies }) => strategies)).size).toBe(2);
  expect(context.trace.map(({ stage }) => stage)).toEqual([...STAGES]);
  expect(context.gaps).toEqual([]);
  expect(context.preamble).toMatch(/^# Context: \d+ pieces of \d+ files\n$/);
  expect(context.excluded.length).toBeGreaterThan(0);
  expect(context.fragments[0]?.breakdown).toMatchObject({ quality: 0.5, recency: 0 });
});

test("nothing found makes nothing", async () => {
  await using setUp = new AssemblySetUp([strategy("nothing")]);
  const context = await setUp.assembler.assemble(setUp.input(2_000));
  expect(context).toMatchObject({ text: "", tokens: 0, fragments: [], excluded: [], gaps: [] });
});

describe("for any budget, no token is over it", () => {
  const budgets = [0, 1, 10, 50, 100, 1_000, 8_000, 64_000, 200_000];
  let setUp: AssemblySetUp;
  beforeAll(() => {
    setUp = new AssemblySetUp([strategy("anythingA"), strategy("anythingB"), strategy("wholeFiles")]);
  });
  afterAll(() => setUp[Symbol.asyncDispose]());
  test.each(budgets)("%d", async (tokens) => {
    const scope = await setUp.scope();
    for (let seed = 1; seed <= sized({ quick: 1, normal: 3, full: 8 }); seed++) {
      for (const tokenizer of ["o200k_base", "cl100k_base"] as const) {
        const order = setUp.input(tokens, {
          question: question({ query: String(seed) }),
          tokenizer,
          scope: () => scope,
        });
        const context = await setUp.assembler.assemble(order);
        expect(context.tokens).toBe(tokenizerNamed(tokenizer)(context.text));
        expect(context.tokens).toBeLessThanOrEqual(tokens);
        const left = context.trace.find(({ stage }) => stage === "order");
        expect(left?.out).toBe(context.fragments.length);
      }
    }
  });
});

test("the same inputs give the same bytes, in any order of finishing", async () => {
  const names = ["anythingA", "anythingB", "anythingC"];
  await using setUp = new AssemblySetUp(names.map((name) => strategy(name)));
  for (let seed = 1; seed <= 5; seed++) {
    const hashes = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const context = await setUp.assembler.assemble(
        setUp.input(1_500, { question: question({ query: String(seed) }) }),
      );
      hashes.add(context.hash);
    }
    expect(hashes.size).toBe(1);
  }
});

test("less detail is shown of a fragment that does not fit in full", async () => {
  await using setUp = new AssemblySetUp([strategy("wholeFiles")]);
  const context = await setUp.assembler.assemble(setUp.input(1_250));
  const levels = new Set(context.fragments.map(({ level }) => level));
  expect(levels.has("full")).toBe(true);
  expect(levels.size).toBeGreaterThan(1);
});

test("the limits of a view hold before anything is packed", async () => {
  await using setUp = new AssemblySetUp([strategy("wholeFiles")]);
  const view = { maxFiles: 3, maxTotalSize: undefined, strategies: undefined };
  const context = await setUp.assembler.assemble(setUp.input(50_000, { view }));
  expect(new Set(context.fragments.map(({ provenance }) => provenance?.path)).size).toBe(3);
  expect(context.excluded.filter(({ reason }) => reason === "file limit")).toHaveLength(12);

  const small = { maxFiles: undefined, maxTotalSize: 2_000, strategies: undefined };
  const less = await setUp.assembler.assemble(setUp.input(50_000, { view: small }));
  const bytes = less.fragments.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  expect(bytes).toBeLessThanOrEqual(2_000);
  expect(less.excluded.some(({ reason }) => reason === "size limit")).toBe(true);
  expect(less.text).not.toContain("limits of this view");
});

test("a fragment from outside the scope is dropped, and its strategy is named", async () => {
  await using setUp = new AssemblySetUp([strategy("leaks"), strategy("malformed"), strategy("signatures")]);
  const context = await setUp.assembler.assemble(setUp.input(8_000));
  expect(context.text).not.toContain("a secret");
  expect(context.gaps).toContainEqual({
    kind: "strategy",
    name: "leaks",
    reason: "returned 9 fragments from outside the scope",
  });
  expect(context.gaps).toContainEqual({
    kind: "strategy",
    name: "malformed",
    reason: "returned 4 malformed fragments",
  });
  expect(context.fragments.some(({ strategies }) => strategies.includes("leaks"))).toBe(true);
});

test("decisions of the plan come in, others do not", async () => {
  await using setUp = new AssemblySetUp([strategy("decisions", { needs: ["decisions"] }), strategy("signatures")]);
  const decision = {
    id: "01K0000000000000000000000A",
    type: "strategy_choice",
    question: "How is the price worked out, and by whom?",
    answer: "By the till, from the list of prices, at the end.",
    outcome: undefined,
  };
  const plan = { planId: "p", goal: "g", decisions: [decision], changedPaths: ["shop:src/part-3.ts"] };
  const context = await setUp.assembler.assemble(setUp.input(4_000, { plan }));
  expect(context.text).toContain("How is the price worked out");
  const recent = context.fragments.find(({ provenance }) => provenance?.path === "src/part-3.ts");
  expect(recent?.breakdown["recency"]).toBe(1);
  const without = await setUp.assembler.assemble(setUp.input(4_000));
  expect(without.gaps).toEqual([
    { kind: "backend", name: "decisions", reason: "needs the decisions of a plan; there is no plan" },
  ]);
});

describe("strategies that misbehave", () => {
  const failing = ["throws", "garbage", "floods", "floodsText", "floodsBeside", "longError"];
  test.each(failing)("%s: the others' fragments arrive, the gap is named, the third time is the last", async (name) => {
    await using setUp = new AssemblySetUp([strategy(name, { confidence: () => 1 }), strategy("signatures")]);
    for (let round = 1; round <= 3; round++) {
      const context = await setUp.assembler.assemble(setUp.input(2_000));
      expect(context.fragments.length).toBeGreaterThan(5);
      expect(context.gaps.map((gap) => gap.name)).toEqual([name]);
      expect(context.text).not.toContain("Missing");
      expect(context.gaps[0]?.reason.length).toBeLessThan(2_500);
    }
    const context = await setUp.assembler.assemble(setUp.input(2_000));
    expect(context.gaps).toEqual([
      { kind: "strategy", name, reason: "is switched off for now because it kept failing" },
    ]);
    // In another project it has not failed yet.
    const elsewhere = await setUp.assembler.assemble(setUp.input(2_000, { project: "local/other" }));
    expect(elsewhere.gaps[0]?.reason).not.toContain("switched off");
  });

  test("that hang, spin or ignore the abort: the others' fragments arrive when the deadline ends them", async () => {
    const names = ["hangs", "ignoresAbort", "spins"];
    const rounds = sized({ normal: 1, full: 3 });
    const timers = new ControlledTimers();
    await using setUp = new AssemblySetUp([...names.map((name) => strategy(name)), strategy("signatures")], {
      breaker: { failureThreshold: rounds },
      executor: { strategyTimeoutMs: 6_000, totalTimeoutMs: 12_000, timers },
    });
    for (let round = 1; round <= rounds; round++) {
      const assembling = setUp.assembler.assemble(setUp.input(2_000));
      await timers.untilOnly(names.length, names.length + 1);
      timers.advance(6_000);
      const context = await assembling;
      expect(context.fragments.length).toBeGreaterThan(5);
      expect(context.gaps).toEqual(names.map((name) => ({ kind: "strategy", name, reason: "timed out after 6 s" })));
    }
    const context = await setUp.assembler.assemble(setUp.input(2_000));
    expect(context.gaps.map(({ reason }) => reason)).toEqual(
      names.map(() => "is switched off for now because it kept failing"),
    );
  }, 90_000);
});

test("twenty assemblies at once over one executor come out like one by one", async () => {
  const names = ["anythingA", "anythingB", "anythingC"];
  await using setUp = new AssemblySetUp([...names.map((name) => strategy(name)), strategy("throws")], {
    breaker: { failureThreshold: 1_000 },
  });
  const scope = await setUp.scope();
  const ask = (seed: number) =>
    setUp.assembler.assemble(
      setUp.input(500 + seed * 100, { question: question({ query: String(seed) }), scope: () => scope }),
    );
  const together = await Promise.all(Array.from({ length: 20 }, (_, seed) => ask(seed)));
  for (const [seed, context] of together.entries()) {
    expect(context.hash).toBe((await ask(seed)).hash);
  }
});

test("an index that changes meanwhile is read again, three times", async () => {
  await using setUp = new AssemblySetUp([strategy("signatures")]);
  const old = await setUp.scope();
  setUp.write({ "src/new.ts": "export const somethingNew = [1, 2, 3, 4, 5, 6, 7, 8];\n" });
  await setUp.scope();
  let asked = 0;
  const late = () => (++asked < 3 ? old : setUp.scope());
  const context = await setUp.assembler.assemble(setUp.input(8_000, { scope: late }));
  expect(context.text).toContain("src/new.ts");
  expect(asked).toBe(3);
  const stale = setUp.assembler.assemble(setUp.input(8_000, { scope: () => old }));
  await expect(stale).rejects.toMatchObject({ code: "conflict", next: [{ text: expect.stringContaining("repeat") }] });
});

test("an index that changes under the strategies is read again, and counts against none of them", async () => {
  await using setUp = new AssemblySetUp([strategy("movesIndex"), strategy("signatures")]);
  let asked = 0;
  const scope = () => {
    asked++;
    return setUp.scope();
  };
  const move = question({ query: `${setUp.root}/src/new.ts` });
  const context = await setUp.assembler.assemble(setUp.input(8_000, { scope, question: move }));
  expect(asked).toBe(2);
  expect(context.gaps).toEqual([]);
  expect(context.text).toContain("src/new.ts");
  expect(setUp.breaker.failures("movesIndex@local/shop")).toBe(0);
});

test("a strategy that only claims the index has moved does not prevent a context", async () => {
  await using setUp = new AssemblySetUp([strategy("pretendsMoved"), strategy("signatures")]);
  const context = await setUp.assembler.assemble(setUp.input(2_000));
  expect(context.fragments.length).toBeGreaterThan(5);
  expect(context.gaps).toMatchObject([{ name: "pretendsMoved" }]);
});

test("a caller that gives up gets no context, and no strategy is blamed", async () => {
  await using setUp = new AssemblySetUp([strategy("hangs")]);
  const controller = new AbortController();
  const assembling = setUp.assembler.assemble(setUp.input(1_000, { signal: controller.signal }));
  void sleep(300).then(() => controller.abort());
  await expect(assembling).rejects.toMatchObject({ name: "AbortError" });
  expect(setUp.breaker.failures("hangs@local/shop")).toBe(0);
});

test("a strategy that does not exist, or that the view does not allow, is an error", async () => {
  await using setUp = new AssemblySetUp([strategy("signatures"), strategy("definitions")]);
  const misspelled = setUp.input(1_000, { question: question({ strategy: "signature" }) });
  await expect(setUp.assembler.assemble(misspelled)).rejects.toMatchObject({
    code: "not_found",
    next: [{ text: "did you mean signatures?" }],
  });
  const view = { maxFiles: undefined, maxTotalSize: undefined, strategies: ["definitions", "gone"] };
  await expect(
    setUp.assembler.assemble(setUp.input(1_000, { view, question: question({ strategy: "signatures" }) })),
  ).rejects.toMatchObject({ code: "usage" });
  const context = await setUp.assembler.assemble(setUp.input(1_000, { view }));
  expect(context.gaps).toEqual([{ kind: "strategy", name: "gone", reason: "is named by the view but does not exist" }]);
  expect(context.strategies.map(({ name }) => name).toSorted(compareText)).toEqual(["definitions"]);
});
