import { describe, expect, test } from "vitest";
import type { SeenContext } from "./context-messages.ts";
import {
  entityNames,
  exclusionsTable,
  fragmentsTable,
  gapsElement,
  graphTable,
  strategiesTable,
  summaryElement,
  traceTable,
  usedText,
} from "./context-tables.ts";

type Fragment = SeenContext["context"]["fragments"][number];
type Graph = NonNullable<Parameters<typeof graphTable>[0]>;
type Edge = Graph["edges"][number];

const FRAGMENT: Fragment = {
  entity: "shop:a.ts",
  depth: 3,
  depthName: "full",
  tokens: 1_234,
  score: 0.5,
  relevance: 0.5,
  scoreBreakdown: {},
  strategies: ["simple-keyword"],
  reason: "a word of the question",
  provenance: null,
};

const STRATEGY: SeenContext["activeStrategies"][number] = {
  name: "simple-keyword",
  quality: 0.3,
  confidence: 1,
  budgetPct: 33.3,
  budgetTokens: 100,
  found: 4,
  fragments: 1,
  status: "ran",
  durationMs: 1,
};

const INDEX: SeenContext["index"][number] = {
  resource: "shop",
  path: "/home/me/shop",
  files: 1_000,
  added: 0,
  changed: 0,
  removed: 0,
  gaps: 0,
  rebuilt: null,
  durationMs: 1,
};

const DOCS = { ...INDEX, resource: "docs", files: 34 };

function seen(changed: Partial<SeenContext> = {}, fragments: readonly Fragment[] = [FRAGMENT]): SeenContext {
  return {
    query: "total",
    focus: [],
    available: 10_000,
    activeStrategies: [STRATEGY],
    index: [INDEX],
    context: { hash: "h", tokens: 1_234, tokenizer: "o200k", fragments: [...fragments] },
    maskedFiles: [],
    excluded: [],
    gaps: [],
    trace: [],
    ...changed,
  };
}

test("the used part of the budget is told as a share with one digit; of no budget it is nothing", () => {
  expect(usedText(seen())).toBe("1,234 of 10,000 tokens (12.3 %), counted by o200k");
  const context = { hash: "h", tokens: 0, tokenizer: "o200k", fragments: [] };
  expect(usedText({ context, available: 0 })).toBe("0 of 0 tokens (0 %), counted by o200k");
});

describe("the name of a thing", () => {
  test("has no resource where there is only one, unless it is of another", () => {
    const nameOf = entityNames(seen());
    expect(["shop:a.ts", "shopping:a.ts", "docs:shop:a.md"].map(nameOf)).toEqual([
      "a.ts",
      "shopping:a.ts",
      "docs:shop:a.md",
    ]);
  });

  test.each([
    ["several resources", [INDEX, DOCS]],
    ["no resource", []],
  ])("is whole where %s was indexed", (_what, index) => {
    expect(entityNames({ index })("shop:a.ts")).toBe("shop:a.ts");
  });
});

test("strategies are numbered; one that did not run to its end stands out and found nothing that is known", () => {
  const failed = { ...STRATEGY, name: "graph", found: null, fragments: 0, budgetPct: 0, status: "failed: too slow" };
  expect(strategiesTable(seen({ activeStrategies: [STRATEGY, failed] }))).toMatchObject({
    rows: [
      ["1", "simple-keyword", "0.3", "33.3 %", "4", "1", "ran"],
      ["2", "graph", "0.3", "0 %", "-", "0", { text: "failed: too slow", tone: "warn" }],
    ],
    empty: "No strategy was selected.",
  });
});

describe("the fragments that went in", () => {
  test("are listed with the numbers of the strategies that found them; one that is not active has its name", () => {
    const strategies = ["outside", "simple-keyword"];
    const documented: Fragment = { ...FRAGMENT, depthName: "signatures_with_docs", strategies };
    expect(fragmentsTable(seen({}, [FRAGMENT, documented]), false)).toEqual({
      kind: "table",
      title: "Included: 2 fragments",
      columns: [{ keep: "Tokens" }, { keep: "Depth" }, "What", "Found by"],
      rows: [
        ["1,234", "full", "a.ts", "1"],
        ["1,234", "with docs", "a.ts", "outside, 1"],
      ],
      empty: "",
    });
  });

  test("are listed with the reasons instead where these are wanted", () => {
    expect(fragmentsTable(seen(), true)).toEqual({
      kind: "table",
      title: "Included: 1 fragment",
      columns: [{ keep: "Tokens" }, { keep: "Depth" }, "What", "Why"],
      rows: [["1,234", "full", "a.ts", "a word of the question"]],
      empty: "",
    });
  });

  test("are cut after 25, and the title says so", () => {
    const many = Array.from({ length: 26 }, (_, at) => ({ ...FRAGMENT, tokens: at }));
    const table = fragmentsTable(seen({}, many), false);
    expect(table).toMatchObject({
      title: "Included: the first 25 of 26 fragments",
      rows: many.slice(0, 25).map(({ tokens }) => [String(tokens), "full", "a.ts", "1"]),
    });
  });
});

test("what was left out is added up by reason", () => {
  const excluded = [
    { entity: "a", strategies: [], tokens: 900, reason: "budget" },
    { entity: "b", strategies: [], tokens: 5, reason: "duplicate" },
    { entity: "c", strategies: [], tokens: 200, reason: "budget" },
  ];
  expect(exclusionsTable(seen({ excluded }))).toMatchObject({
    rows: [
      ["budget", "2", "1,100"],
      ["duplicate", "1", "5"],
    ],
  });
});

test("of the missing things the first 25 are named, then how many others there are", () => {
  const gaps = Array.from({ length: 27 }, (_, at) => ({ kind: "file", name: `${at}.ts`, reason: "too large" }));
  const named = gaps.slice(0, 25).map(({ name }) => [name, { text: "too large", tone: "warn" }]);
  const rowsOf = (of: typeof gaps): unknown => gapsElement(seen({ gaps: of }));
  expect(rowsOf([])).toEqual([]);
  expect(rowsOf(gaps.slice(0, 25))).toEqual([{ kind: "fields", title: "Missing", rows: named }]);
  expect(rowsOf(gaps)).toEqual([
    { kind: "fields", title: "Missing", rows: [...named, ["others", { text: "2 more", tone: "dim" }]] },
  ]);
});

test("stages are named in words; one without a note has an empty cell", () => {
  const stage = { stage: "score_fragments", component: "scorer", in: 3, out: 2, durationMs: 1, note: null };
  expect(traceTable(seen({ trace: [stage, { ...stage, note: "one twice" }] }))).toMatchObject({
    rows: [
      ["score fragments", "scorer", "3", "2", "1", ""],
      ["score fragments", "scorer", "3", "2", "1", "one twice"],
    ],
  });
});

describe("the surroundings of a thing", () => {
  const nameOf = entityNames(seen());
  const left: Edge = { relation: "imported_by", target: "shop:left.ts", depth: null, depthName: null, tokens: 0 };
  const included: Edge = { relation: "imports", target: "shop:b.ts", depth: 3, depthName: "full", tokens: 1_234 };
  const graph: Graph = { root: "shop:a.ts", rootDepth: 3, rootDepthName: "full", rootTokens: 1, edges: [] };

  test("are left out where there is nothing to look around", () => {
    expect(graphTable(null, nameOf)).toEqual([]);
  });

  test("begin with the things that went in; the others are dim and have no size", () => {
    expect(graphTable({ ...graph, edges: [left, included] }, nameOf)).toEqual([
      {
        kind: "table",
        title: "Around a.ts",
        columns: [{ keep: "Relation" }, "What", { keep: "Depth" }, { keep: "Tokens" }],
        rows: [
          ["imports", "b.ts", "full", "1,234"],
          ["imported by", "left.ts", "-", "-"].map((text) => ({ text, tone: "dim" })),
        ],
        empty: "",
      },
    ]);
  });

  test("are cut after 12, and what went in is never cut for what did not", () => {
    const edges = [...Array.from({ length: 12 }, () => left), included];
    const [table] = graphTable({ ...graph, edges }, nameOf);
    if (table?.kind !== "table") throw new Error("there is no table");
    expect(table.title).toBe("Around a.ts: the first 12 of 13");
    expect(table.rows).toHaveLength(12);
    expect(table.rows[0]).toEqual(["imports", "b.ts", "full", "1,234"]);
  });
});

describe("the summary", () => {
  const about = { project: "local/shop", view: "default", budgetSource: "the model" };
  const budget = ["budget", "1,234 of 10,000 tokens (12.3 %), counted by o200k; set by the model"];

  test("says question and focus, and adds up the files of all resources", () => {
    const facts = seen({ focus: ["a.ts", "b.ts"], index: [INDEX, DOCS] });
    expect(summaryElement("Context", { ...facts, ...about })).toEqual({
      kind: "fields",
      title: "Context of local/shop, view default",
      rows: [["question", "total"], ["focus", "a.ts, b.ts"], budget, ["index", "1,034 files in 2 resources"]],
    });
  });

  test("without a project is of this directory; a question that was not asked has no row", () => {
    expect(summaryElement("Context", { ...seen({ query: "" }), ...about, project: null })).toEqual({
      kind: "fields",
      title: "Context of this directory, view default",
      rows: [budget, ["index", "1,000 files in 1 resource"]],
    });
  });
});
