import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlanKnowledge } from "../model/context-model.ts";
import { placesOf, type StrategyName, StrategySetUp } from "../testing/strategy-set-up.ts";
import { TokenCounter } from "../tokens/token-counter.ts";
import { BUILT_IN_STRATEGIES } from "./built-in-strategies.ts";

const FILES = {
  "src/lease.ts": `import { readClock } from "./clock.ts";

/** Who owns a phase, and until when. */
export class PhaseLease {
  constructor(readonly holder: string, readonly expiry: number) {}

  isStale(): boolean {
    return readClock() > this.expiry;
  }
}

export function renewLease(lease: PhaseLease): PhaseLease {
  return new PhaseLease(lease.holder, readClock() + 30_000);
}
`,
  "src/clock.ts": `/** Milliseconds. */
export function readClock(): number {
  return 0;
}
`,
  "src/worker.ts": `import { PhaseLease, renewLease } from "./lease.ts";

export function work(lease: PhaseLease): void {
  if (lease.isStale()) throw new Error("another process has taken over");
  renewLease(lease);
}
`,
  "src/server.ts": `import { work } from "./worker.ts";

export function serve(): void {
  work(undefined as never);
}
`,
  "src/color.ts": `export function mixColors(a: string, b: string): string {
  return a + b;
}
`,
  "src/lease.test.ts": `import { renewLease } from "./lease.ts";

export function checksRenewal(): void {
  renewLease(undefined as never);
}
`,
  "docs/leases.md": "# Leases\n\nA stale lease is taken over by the next worker.\n\n# Colors\n\nAre mixed.\n",
  "empty.ts": "",
};

let code: StrategySetUp;
beforeAll(async () => {
  code = await StrategySetUp.of({ api: FILES });
});
afterAll(() => code[Symbol.dispose]());

describe("simple-keyword", () => {
  test("finds by the words of text, names and paths, in any form", async () => {
    const places = placesOf(await code.run("simpleKeyword", { query: "How are colors mixed?" }));
    expect(places.slice(0, 2).toSorted()).toEqual(["api:docs/leases.md", "api:src/color.ts"]);
  });

  test("shows the definition that is named, whole", async () => {
    const [first] = await code.run("simpleKeyword", { query: "why is renewLease slow?" });
    expect(first).toMatchObject({ entity: "api:src/lease.ts#renewLease@12", level: "full" });
    expect(first?.content).toContain("readClock() + 30_000");
    expect(first?.reason).toContain("renewLease");
  });

  test("takes names from the entities as well", async () => {
    expect(placesOf(await code.run("simpleKeyword", { entities: ["mixColors"] }))[0]).toBe("api:src/color.ts");
  });

  test("finds nothing without a question", async () => {
    expect(await code.run("simpleKeyword", { query: "how does it do that?" })).toEqual([]);
  });
});

describe("breadth-depth-navigator", () => {
  test("begins at the focus, then shows its users, and then theirs, with less detail", async () => {
    const found = await code.run("breadthDepthNavigator", { focus: ["src/lease.ts#renewLease"] });
    const places = placesOf(found);
    expect(places[0]).toBe("api:src/lease.ts");
    expect(places.slice(1, 4).toSorted()).toEqual(["api:src/clock.ts", "api:src/lease.test.ts", "api:src/worker.ts"]);
    expect(places.indexOf("api:src/server.ts")).toBeGreaterThan(3);
    expect(places).not.toContain("api:src/color.ts");
    expect(found[0]?.level).toBe("full");
    expect(found.find(({ provenance }) => provenance?.path === "src/server.ts")?.level).not.toBe("full");
  });

  test("walks as many steps as it is told", async () => {
    const at = async (breadth: number) =>
      placesOf(await code.run("breadthDepthNavigator", { focus: ["src/clock.ts"], breadth }));
    expect(await at(0)).toEqual(["api:src/clock.ts"]);
    expect((await at(1)).toSorted()).toEqual(["api:src/clock.ts", "api:src/lease.ts"]);
    expect(await at(2)).toContain("api:src/worker.ts");
    expect(await at(2)).not.toContain("api:src/server.ts");
    expect(await at(3)).toContain("api:src/server.ts");
  });

  test("begins at the best hits where nothing is pointed at", async () => {
    const places = placesOf(await code.run("breadthDepthNavigator", { query: "another process has taken over" }));
    expect(places).toContain("api:src/worker.ts");
    expect(places).toContain("api:src/lease.ts");
  });

  test("understands a resource, a directory and the end of a path as the focus", async () => {
    const at = async (focus: string) =>
      placesOf(await code.run("breadthDepthNavigator", { focus: [focus], breadth: 0 }));
    expect(await at("api:src/clock.ts")).toEqual(["api:src/clock.ts"]);
    expect(await at("clock.ts")).toEqual(["api:src/clock.ts"]);
    expect(await at("docs/")).toEqual(["api:docs/leases.md"]);
    expect(await at("other:src/clock.ts")).toEqual([]);
    expect(await at("src/clock.ts#nothing")).toEqual([]);
  });
});

describe("symbol-rank", () => {
  test("shows the named definition and its surroundings first", async () => {
    const places = placesOf(await code.run("symbolRank", { query: "renewLease" }));
    expect(places[0]).toBe("api:src/lease.ts");
    expect(places.slice(0, 4).toSorted()).toEqual([
      "api:src/clock.ts",
      "api:src/lease.test.ts",
      "api:src/lease.ts",
      "api:src/worker.ts",
    ]);
  });

  test("gives an overview without a question", async () => {
    expect(placesOf(await code.run("symbolRank", {}))).toContain("api:src/lease.ts");
  });
});

const PLAN: PlanKnowledge = {
  planId: "P",
  goal: "leases that do not lapse",
  decisions: [
    { id: "D1", type: "strategy_choice", question: "renew when?", answer: "at a third", outcome: undefined },
    { id: "D2", type: "implementation_choice", question: "", answer: "in a timer", outcome: "worked" },
  ],
  changedPaths: ["api:src/worker.ts", "api:gone.ts", "other:src/clock.ts"],
};

describe("plan-decision-context", () => {
  test("tells decisions, the latest first, and shows changed files that still exist", async () => {
    const found = await code.run("planDecisionContext", {}, { plan: PLAN });
    expect(placesOf(found)).toEqual(["decision:D2", "decision:D1", "api:src/worker.ts"]);
    expect(found[0]?.content).toBe("implementation_choice: in a timer\noutcome: worked\n");
    expect(found[1]?.content).toBe("strategy_choice: renew when?\nat a third\n");
    expect(found[2]?.content).toBe(FILES["src/worker.ts"]);
  });

  test("tells decisions also where there is no code yet", async () => {
    const found = await code.run("planDecisionContext", {}, { plan: PLAN, scope: { trees: [] } });
    expect(placesOf(found)).toEqual(["decision:D2", "decision:D1"]);
  });

  test("has nothing to tell without a plan", async () => {
    expect(await code.run("planDecisionContext", {})).toEqual([]);
  });
});

const LOCAL: readonly StrategyName[] = ["simpleKeyword", "breadthDepthNavigator", "symbolRank", "planDecisionContext"];

describe.each(LOCAL)("%s", (name) => {
  const asked = { query: "how does PhaseLease become stale?", focus: ["src/lease.ts"] };

  test.each([0, -1])("gives nothing for %s tokens", async (tokens) => {
    expect(await code.run(name, asked, { plan: PLAN, tokens })).toEqual([]);
  });

  test.each([1, 10, 30, 100, 400, 4_000])("keeps within %s tokens by the real tokenizer", async (tokens) => {
    const found = await code.run(name, asked, { plan: PLAN, tokens });
    const counter = new TokenCounter("o200k_base");
    expect(found.reduce((sum, { content }) => sum + counter.count(content), 0)).toBeLessThanOrEqual(tokens);
    expect(found.reduce((sum, { tokens: own }) => sum + own, 0)).toBeLessThanOrEqual(tokens);
  });

  test("gives a reason, and the shown text is in the file at these lines", async () => {
    for (const { reason, content, level, provenance, relevance } of await code.run(name, asked, { plan: PLAN })) {
      expect(reason).not.toBe("");
      expect(relevance).toBeGreaterThan(0);
      expect(relevance).toBeLessThanOrEqual(1);
      if (provenance === undefined || level !== "full") continue;
      const lines =
        Object.entries(FILES)
          .find(([path]) => path === provenance.path)?.[1]
          .split("\n") ?? [];
      expect(content.trimEnd()).toBe(
        lines
          .slice(provenance.startLine - 1, provenance.endLine)
          .join("\n")
          .trimEnd(),
      );
    }
  });

  test("answers the same again", async () => {
    expect(await code.run(name, asked, { plan: PLAN })).toEqual(await code.run(name, asked, { plan: PLAN }));
  });

  test("stops when it is aborted", async () => {
    const scope = await code.scope();
    const run = async () =>
      code.run(name, asked, { plan: PLAN, scope, signal: AbortSignal.abort(new Error("enough")) });
    await expect(run()).rejects.toThrow("enough");
  });

  test("finds nothing in nothing", async () => {
    using nothing = await StrategySetUp.of({ api: {} });
    expect(await nothing.run(name, asked)).toEqual([]);
    expect(await code.run(name, asked, { scope: { trees: [] } })).toEqual([]);
  });
});

describe("one large file", () => {
  const LARGE = Array.from({ length: 400 }, (_, at) => `export function boilKettle${at}(): void {}\n`).join("");
  const SMALL = (at: number): string => `export function pourKettle${at}(): string {\n  return "kettle";\n}\n`;

  test.each(["simpleKeyword", "breadthDepthNavigator", "symbolRank"] as const)(
    "leaves %s room for others",
    async (name) => {
      const small = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`small-${at}.ts`, SMALL(at)]));
      using kitchen = await StrategySetUp.of({ kitchen: { "large.ts": LARGE, ...small } });
      const found = await kitchen.run(
        name,
        { query: "kettle", focus: ["large.ts", "small-0.ts", "small-1.ts"] },
        { tokens: 3_000 },
      );
      expect(placesOf(found)).toEqual(expect.arrayContaining(["kitchen:small-0.ts", "kitchen:small-1.ts"]));
      const largest = Math.max(...found.map(({ tokens }) => tokens));
      expect(largest).toBeLessThanOrEqual(1_000);
    },
  );
});

describe("the built-in strategies", () => {
  test("are the promised ones, with their quality", () => {
    expect(Object.fromEntries(BUILT_IN_STRATEGIES.map(({ name, quality }) => [name, quality]))).toEqual({
      "symbol-rank": 0.9,
      "breadth-depth-navigator": 0.85,
      "passage-search": 1,
      "plan-decision-context": 0.7,
      "semantic-embedding": 0.6,
      "simple-keyword": 0.3,
    });
  });

  test("are where they say they are", async () => {
    for (const { module, exportName } of BUILT_IN_STRATEGIES) {
      const loaded: Record<string, unknown> = await import(module);
      expect(loaded[exportName]).toBeTypeOf("function");
    }
  });

  test("know what they can serve", () => {
    const base = { entities: [], focus: [], breadth: 2, depth: "full", strategy: undefined } as const;
    const lists = { preferredStrategies: [], requiredBackends: [] };
    const confident = (query: string, focus: readonly string[] = [], plan?: PlanKnowledge): readonly string[] =>
      BUILT_IN_STRATEGIES.filter(({ confidence }) => confidence({ ...base, ...lists, query, focus }, plan) > 0).map(
        ({ name }) => name,
      );
    expect(confident("")).toEqual(["symbol-rank"]);
    expect(confident("", ["src/a.ts"])).toEqual(["symbol-rank", "breadth-depth-navigator"]);
    expect(confident("stale leases")).toEqual([
      "symbol-rank",
      "breadth-depth-navigator",
      "passage-search",
      "semantic-embedding",
      "simple-keyword",
    ]);
    expect(confident("", [], PLAN)).toEqual(["symbol-rank", "plan-decision-context"]);
    expect(confident("", [], { ...PLAN, decisions: [], changedPaths: [] })).toEqual(["symbol-rank"]);
  });
});
