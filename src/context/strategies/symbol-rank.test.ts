import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EdgeColumns } from "../../code-index/search/edge-columns.ts";
import type { CodeGraphEdge, IndexedFile } from "../../code-index/model/scoped-index.ts";
import { columnsOf, type GraphColumns } from "./graph-columns.ts";
import { rankSymbols, type RankSeeds } from "./symbol-rank.ts";

function graphOf(
  count: number,
  edges: readonly (readonly [from: number, to: number, name: string, count?: number])[],
): GraphColumns {
  const files = Array.from({ length: count }, (_, position) => fileNamed(`${position}.ts`));
  const definers = new Map<string, Set<number>>();
  for (const [, to, name] of edges) definers.set(name, (definers.get(name) ?? new Set()).add(to));
  const all = edges.map(([from, to, name, uses = 1]): CodeGraphEdge => {
    return { from, to, name, count: uses, definers: definers.get(name)?.size ?? 0 };
  });
  return columnsWith(files, all, () => true);
}

function columnsWith(
  files: readonly IndexedFile[],
  edges: readonly CodeGraphEdge[],
  isImporter: (file: number) => boolean,
): GraphColumns {
  const names = [...new Set(edges.map(({ name }) => name))];
  const columns = new EdgeColumns();
  for (const { from, to, name, count, definers } of edges) {
    columns.add(from, to, names.indexOf(name), count, definers, isImporter(from));
  }
  return columnsOf(columns.graph({ files, names, importer: new Int32Array(), importee: new Int32Array() }));
}

function fileNamed(path: string): IndexedFile {
  return { resource: "r", path, hash: "", size: 0, lines: 1, language: "typescript" };
}

function seeds(files: readonly number[], names: readonly string[] = []): RankSeeds {
  // Weights whose sum depends on the order in which they are added.
  return { files: new Map(files.map((file) => [file, 1 / (3 + file)])), names: new Set(names) };
}

describe("the rank of a file", () => {
  test("is higher the more important files use it", () => {
    const graph = graphOf(4, [
      [0, 2, "useful"],
      [1, 2, "useful"],
      [1, 3, "rare"],
    ]);
    const { files, namesAlong } = rankSymbols(graph, seeds([]));
    expect(files[2]).toBeGreaterThan(files[3] ?? 0);
    expect(namesAlong([0, 1, 2])).toEqual(["useful", "rare"]);
  });

  test("comes from where the request points, and stays near", () => {
    const graph = graphOf(6, [
      [0, 1, "near"],
      [1, 2, "farther"],
      [4, 5, "elsewhere"],
      [3, 5, "elsewhere"],
    ]);
    const { files } = rankSymbols(graph, seeds([0]));
    expect(files[1]).toBeGreaterThan(files[2] ?? 0);
    expect([files[3], files[4], files[5]]).toEqual([0, 0, 0]);
  });

  test("follows the names the request speaks of", () => {
    const graph = graphOf(2, [
      [0, 1, "alpha"],
      [0, 1, "omega"],
    ]);
    expect(rankSymbols(graph, seeds([0], ["omega"])).namesAlong([0, 1])[0]).toBe("omega");
    expect(rankSymbols(graph, seeds([0], ["alpha"])).namesAlong([0, 1])[0]).toBe("alpha");
  });

  test("hardly follows weak edges", () => {
    const graph = graphOf(3, [
      [0, 1, "close"],
      [0, 2, "close"],
    ]);
    const { files } = rankSymbols({ ...graph, imported: Int32Array.of(1, 0) }, seeds([0]));
    expect(files[1]).toBeGreaterThan(files[2] ?? 1);
  });

  test("reaches the callers of a definition", () => {
    const graph = graphOf(4, [
      [1, 0, "parseLease"],
      [2, 0, "parseLease"],
      [3, 3, "unrelated"],
    ]);
    const { files } = rankSymbols(graph, seeds([0], ["parseLease"]));
    expect(files[1]).toBeGreaterThan(0);
    expect(files[2]).toBe(files[1]);
    expect(files[3]).toBe(0);
  });
});

const anyGraph = fc.integer({ min: 0, max: 12 }).chain((count) =>
  fc.tuple(
    fc.constant(count),
    fc.array(
      fc.record({
        from: fc.nat({ max: Math.max(0, count - 1) }),
        to: fc.nat({ max: Math.max(0, count - 1) }),
        name: fc.constantFrom("a", "_b", "parseLease", "snake_case_name"),
        count: fc.integer({ min: 1, max: 50 }),
        definers: fc.integer({ min: 1, max: 9 }),
      }),
      { maxLength: count === 0 ? 0 : 40 },
    ),
    fc.array(fc.nat({ max: 15 }), { maxLength: 9 }),
  ),
);

test("all ranks together are 1, for any graph; and the same graph gives the same bits", () => {
  fc.assert(
    fc.property(anyGraph, ([count, edges, start]) => {
      const files = Array.from({ length: count }, (_, at) => fileNamed(`${at}.ts`));
      const graph = columnsWith(files, edges, (file) => file > 0);
      const given = seeds(start, ["parseLease"]);
      const once = rankSymbols(graph, given);
      const total = once.files.reduce((sum, value) => sum + value, 0);
      expect(total).toBeCloseTo(count === 0 ? 0 : 1, 9);
      expect(once.files.every((value) => value >= 0)).toBe(true);
      expect(rankSymbols(graph, given).files).toEqual(once.files);
      expect(rankSymbols(graph, seeds(start.toReversed(), ["parseLease"])).files).toEqual(once.files);
      // Independent of the requests in between.
      const all = Array.from(edges.keys());
      rankSymbols(graph, seeds([0, 1], ["a", "_b"]));
      const again = rankSymbols(graph, given);
      expect(again.files).toEqual(once.files);
      expect(again.namesAlong(all)).toEqual(rankSymbols({ ...graph }, given).namesAlong(all));
    }),
  );
});

test("the rest of an earlier request is not taken for the latest", () => {
  const graph = graphOf(2, [[0, 1, "alpha"]]);
  const earlier = rankSymbols(graph, seeds([0]));
  rankSymbols(graph, seeds([1]));
  expect(() => earlier.namesAlong([0])).toThrow("has been walked again");
});
