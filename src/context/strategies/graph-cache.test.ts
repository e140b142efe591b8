import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { IndexScope } from "../../code-index/index-scope.ts";
import { StrategySetUp } from "../testing/strategy-set-up.ts";
import { cachedGraph } from "./graph-cache.ts";
import type { GraphColumns } from "./graph-columns.ts";

let code: StrategySetUp;
beforeEach(async () => {
  code = await StrategySetUp.of({ api: { "a.ts": "export const a = 1;\n" }, web: { "b.ts": "" } });
});
afterEach(() => code[Symbol.dispose]());

const GRAPH: GraphColumns = {
  files: 3,
  names: ["öffnen", "line\nbreak"],
  from: Int32Array.of(0, 1),
  to: Int32Array.of(2, 0),
  name: Int32Array.of(1, 0),
  count: Int32Array.of(7, 1),
  definers: Int32Array.of(1, 2),
  imported: Int32Array.of(0, 1),
  importer: Int32Array.of(1, 1, 2),
  importee: Int32Array.of(0, 2, 0),
};

/** How often a graph had to be made. */
function asked(scope: IndexScope, times = 2): number {
  let made = 0;
  for (let time = 0; time < times; time += 1) {
    const graph = cachedGraph(scope, () => {
      made += 1;
      return GRAPH;
    });
    expect(graph).toEqual(GRAPH);
  }
  return made;
}

const fileOf = (scope: IndexScope): string => join(dirname(scope.trees[0]?.index ?? ""), "graphs.db");

test("a graph is made once, and read as it was", async () => {
  expect(asked(await code.scope(), 3)).toBe(1);
});

test("an edit, another filter and another scope each have a graph of their own", async () => {
  const scope = await code.scope();
  asked(scope);
  writeFileSync(join(code.directory, "api", "a.ts"), "export const c = 1;\n");
  expect(asked(await code.scope())).toBe(1);
  expect(asked(await code.scope({ api: { exclude: ["a.ts"] }, web: {} }))).toBe(1);
  expect(asked(await code.scope({ api: {} }))).toBe(1);
  expect(asked(scope)).toBe(0);
});

test("only the latest are kept", async () => {
  const scope = await code.scope();
  asked(scope);
  for (const glob of ["1", "2", "3", "4"]) asked(await code.scope({ api: { exclude: [glob] } }));
  expect(asked(scope)).toBe(1);
});

test("a damaged graph is made again, and so is one in a file that is something else", async () => {
  const scope = await code.scope();
  asked(scope);
  {
    using database = new DatabaseSync(fileOf(scope));
    // One byte of a column; what is before it says how long the columns are.
    database.exec("UPDATE graphs SET graph = CAST(substr(graph, 1, 44) || x'09' || substr(graph, 46) AS BLOB)");
  }
  expect(asked(scope)).toBe(1);
  writeFileSync(fileOf(scope), "no database at all, but long enough to be taken for one".repeat(100));
  expect(asked(scope)).toBeLessThanOrEqual(2);
  expect(asked(scope)).toBe(0);
});

test("without a place to keep it, it is made each time", async () => {
  const scope: IndexScope = {
    trees: (await code.scope()).trees.map((tree) => ({ ...tree, index: "/nowhere/at/all/index.db" })),
  };
  expect(asked(scope)).toBe(2);
  expect(asked({ trees: [] })).toBe(2);
});
