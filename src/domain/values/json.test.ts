import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ValidationIssue } from "../errors/errors.ts";
import { parseJson, type JsonValue } from "./json.ts";

const LIMITS = { depth: 4, bytes: 1024 };

function parsed(value: unknown): { copy: JsonValue | undefined; issues: ValidationIssue[] } {
  const issues: ValidationIssue[] = [];
  return { copy: parseJson(value, "at", LIMITS, issues), issues };
}

test("what JSON holds comes back as an equal copy", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 2, depthSize: "small" }), (value) => {
      const { copy, issues } = parsed(value);
      fc.pre(issues.length === 0);
      expect(copy).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("every accepted value goes through JSON unchanged", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withDate: true, withMap: true }), (value) => {
      const { copy, issues } = parsed(value);
      expect(copy === undefined).toBe(issues.length > 0);
      if (copy !== undefined) expect(JSON.parse(JSON.stringify(copy))).toStrictEqual(copy);
    }),
  );
});

describe("refused with its place is", () => {
  test.each([
    ["undefined", { a: undefined }, "at.a"],
    ["NaN", { a: [1, Number.NaN] }, "at.a.1"],
    ["infinity", [Number.POSITIVE_INFINITY], "at.0"],
    ["an integer that is not exact", { a: 2 ** 53 }, "at.a"],
    ["a function", { a: () => 1 }, "at.a"],
    ["a symbol", [Symbol("x")], "at.0"],
    ["a bigint", [1n], "at.0"],
    ["a date", [new Date(0)], "at.0"],
    ["a map", [new Map()], "at.0"],
    ["bytes", [new Uint8Array(2)], "at.0"],
    ["a hole", [1, , 2], "at.1"], // oxlint-disable-line no-sparse-arrays -- the hole is what is tested
    ["half a surrogate pair", ["\ud800"], "at.0"],
    ["a key with a NUL", { "a\0": 1 }, "at"],
    ["the key __proto__", JSON.parse('{"__proto__": 1}') as unknown, "at"],
    ["a fifth level", [[[[[]]]]], "at.0.0.0.0"],
    ["one byte too many", "x".repeat(1023), "at"],
    ["bytes too many in few characters", "ü".repeat(600), "at"],
    ["a list longer than memory", Object.assign([], { length: 2 ** 32 - 1 }), "at.0"],
  ])("%s", (_, value, path) => {
    const { copy, issues } = parsed(value);
    expect(copy).toBeUndefined();
    expect(issues[0]?.path).toBe(path);
  });
});

test("every problem is found, and minus zero becomes zero", () => {
  expect(parsed({ a: Number.NaN, b: { c: "\0", d: [undefined] } }).issues.map(({ path }) => path)).toEqual([
    "at.a",
    "at.b.c",
    "at.b.d.0",
  ]);
  expect(parsed([-0]).copy).toStrictEqual([0]);
});

test("a value that would be endless written out ends at the limit", () => {
  const circle: unknown[] = [];
  for (let count = 0; count < 1000; count += 1) circle.push(circle);
  expect(parsed(circle).issues.at(-1)?.message).toBe("is larger than 1 KiB");
  const tower = (levels: number): unknown => {
    const below = levels === 0 ? "x" : tower(levels - 1);
    return Array.from({ length: 1000 }, () => below);
  };
  expect(parsed(tower(3)).issues).toEqual([{ path: "at", message: "is larger than 1 KiB" }]);
});
