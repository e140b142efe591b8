import { expect, test } from "vitest";
import { isTokenCount, isTooFew } from "./token-claim.ts";

test.each([0, 1, 1_000_000_000])("%d is a number of tokens", (value) => {
  expect(isTokenCount(value)).toBe(true);
});

test.each([-1, -0.5, 0.1, 1_000_000_001, 1e15, Number.NaN, Number.POSITIVE_INFINITY, "5", null, undefined])(
  "%o is none",
  (value) => {
    expect(isTokenCount(value)).toBe(false);
  },
);

test("half of what is counted may be true, less may not; of a word or two anything may", () => {
  expect([500, 496, 495, 1, 0].map((said) => isTooFew(said, 1_000))).toEqual([false, false, true, true, true]);
  expect([1, 0].map((said) => isTooFew(said, 8))).toEqual([false, false]);
  expect(isTooFew(0, 9)).toBe(true);
});
