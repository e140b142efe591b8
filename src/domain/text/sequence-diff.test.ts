import { array, assert, constantFrom, property } from "fast-check";
import { expect, test } from "vitest";
import { sequenceDiff } from "./sequence-diff.ts";

test("putting the replaced parts in place makes the second list of the first", () => {
  const list = array(constantFrom("a", "b", "c"), { maxLength: 12 });
  assert(
    property(list, list, (a, b) => {
      const made: string[] = [];
      let at = 0;
      for (const { oldFrom, oldTo, newFrom, newTo } of sequenceDiff(a, b)) {
        made.push(...a.slice(at, oldFrom), ...b.slice(newFrom, newTo));
        at = oldTo;
      }
      expect([...made, ...a.slice(at)]).toEqual(b);
    }),
    { numRuns: 500 },
  );
});

test("the way is the shortest: what is common is not replaced", () => {
  expect(
    sequenceDiff(["a", "b", "c", "a", "b", "b", "a"], ["c", "b", "a", "b", "a", "c"]).reduce(
      (sum, one) => sum + one.oldTo - one.oldFrom,
      0,
    ),
  ).toBe(3);
  expect(sequenceDiff(["x", "y", "z"], ["x", "z"])).toEqual([{ oldFrom: 1, oldTo: 2, newFrom: 1, newTo: 1 }]);
  expect(sequenceDiff(["same"], ["same"])).toEqual([]);
});
