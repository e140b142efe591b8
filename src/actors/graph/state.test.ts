import { describe, expect, test } from "vitest";
import { updated, valueAt, valueBelow } from "./state.ts";

describe("reducers", () => {
  test.each([
    ["replace", 1, 2, 2],
    ["append", undefined, "a", ["a"]],
    ["append", ["a"], ["b", "c"], ["a", "b", "c"]],
    ["append", [], [], []],
    ["append", ["a"], { b: 1 }, ["a", { b: 1 }]],
    ["merge", undefined, { a: 1 }, { a: 1 }],
    ["merge", { a: 1, b: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ["sum", undefined, 2, 2],
    ["sum", 1, 2, 3],
  ] as const)("%s %j %j", (reducer, known, value, expected) => {
    const state = known === undefined ? { other: 1 } : { other: 1, k: known };
    expect(updated(state, { key: "k", value, reducer })).toEqual({ other: 1, k: expected });
  });

  test.each([
    ["append", "text", "a", '"k" is appended to, but the state has a text there and not a list'],
    ["merge", {}, [1], '"k" is merged, which takes objects and not a list'],
    ["sum", 1, "2", '"k" is summed up, which takes numbers and not a text'],
  ] as const)("%s refuses %j with %j", (reducer, known, value, message) => {
    expect(() => updated({ k: known }, { key: "k", value, reducer })).toThrow(message);
  });

  test("a key like those every object has is a key like any other", () => {
    const state = updated({}, { key: "__proto__", value: { a: 1 }, reducer: "merge" });
    expect(valueAt(state, "__proto__")).toEqual({ a: 1 });
    expect(valueAt(state, "a")).toBeUndefined();
    expect(valueAt({}, "constructor")).toBeUndefined();
  });
});

test.each([
  ["a.b", 1],
  ["a.list.1", "y"],
  ["dotted.key", 2],
  ["a.list.length", undefined],
  ["a.b.c", undefined],
  ["a.toString", undefined],
])("below: %s", (path, expected) => {
  expect(valueBelow({ a: { b: 1, list: ["x", "y"] }, "dotted.key": 2 }, path)).toEqual(expected);
});
