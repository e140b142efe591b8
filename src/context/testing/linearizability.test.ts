import { describe, expect, test } from "vitest";
import { describeHistory, type History, isLinearizable, overlaps } from "./linearizability.ts";

/** A register: writing returns nothing, reading returns the last written value. */
type Operation = { write: number } | "read";
const register = {
  initial: 0,
  step: (value: number, operation: Operation) =>
    operation === "read" ? { state: value, result: value } : { state: operation.write, result: undefined },
};

function recorded(operation: Operation, called: number, returned: number, result?: number) {
  return { operation, result, called: BigInt(called), returned: BigInt(returned) };
}

describe("a history", () => {
  const writing = [recorded({ write: 1 }, 0, 10)];
  const cases: readonly [string, History<Operation, number | undefined>, boolean][] = [
    ["of nothing", [[], []], true],
    ["in which a read during a write sees it", [writing, [recorded("read", 2, 4, 1)]], true],
    ["in which a read during a write does not see it yet", [writing, [recorded("read", 2, 4, 0)]], true],
    ["in which a read after a write does not see it", [writing, [recorded("read", 11, 12, 0)]], false],
    ["in which a read sees a value that was never written", [writing, [recorded("read", 2, 4, 7)]], false],
    [
      "in which a value is seen and then unseen",
      [writing, [recorded("read", 2, 4, 1), recorded("read", 5, 6, 0)]],
      false,
    ],
    [
      "whose threads saw two writes in opposite orders",
      [
        writing,
        [recorded({ write: 2 }, 0, 10)],
        [recorded("read", 11, 12, 1), recorded("read", 13, 14, 1)],
        [recorded("read", 11, 12, 2), recorded("read", 13, 14, 2)],
      ],
      false,
    ],
  ];
  test.each(cases)("%s", (_, history, expected) => {
    expect(isLinearizable(history, register)).toBe(expected);
  });
});

test("overlaps are counted on both sides", () => {
  expect(overlaps([[recorded("read", 0, 10, 0)], [recorded("read", 5, 6, 0), recorded("read", 11, 12, 0)]])).toBe(2);
});

test("a history reads in the order of its calls", () => {
  const text = describeHistory([[recorded("read", 107, 109, 1)], [recorded({ write: 1 }, 100, 105)]]);
  expect(text).toBe('thread 1 0..5 ns: {"write":1} → undefined\nthread 0 7..9 ns: "read" → 1');
});
