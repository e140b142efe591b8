import { assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { capOf, capProblem } from "../settings/budget-settings.ts";
import { dollars, dollarsLeft, parseDollars } from "./money.ts";

test("dollars are read exactly, and anything else is refused", () => {
  expect(["2.50", "$2.50", "3", "0", "0.000001", "0.1", "999999999.999999"].map(parseDollars)).toEqual([
    2_500_000, 2_500_000, 3_000_000, 0, 1, 100_000, 999_999_999_999_999,
  ]);
  for (const text of ["", "-1", "1,5", "1.", ".5", "1e3", "1.0000001", "ten", "1 $", "0x10", "NaN", "1234567890"]) {
    expect(parseDollars(text), text).toBeUndefined();
  }
  assert(
    property(integer({ min: 0, max: 999_999_999_999_999 }), (amount) => {
      const text = `${Math.floor(amount / 1_000_000)}.${String(amount % 1_000_000).padStart(6, "0")}`;
      expect(parseDollars(text)).toBe(amount);
    }),
  );
});

test("small amounts are shown with all their digits", () => {
  expect([0, 1, 9_999, 10_000, 147_000, 150_000, 1_500_000, 1_234_567].map(dollars)).toEqual([
    "$0.00",
    "$0.000001",
    "$0.009999",
    "$0.01",
    "$0.147",
    "$0.15",
    "$1.50",
    "$1.23",
  ]);
});

test("money that is left is rounded down", () => {
  expect([0, 9_999, 274_999, 1_239_999].map(dollarsLeft)).toEqual(["$0.00", "$0.009999", "$0.2749", "$1.23"]);
});

test("a cap is an amount or none", () => {
  expect([capOf("0"), capOf("none"), capOf(undefined)]).toEqual([0, undefined, undefined]);
  expect([capProblem("0"), capProblem("none"), capProblem("2.50")]).toEqual([undefined, undefined, undefined]);
  expect(capProblem("lots")).toContain("dollars");
});
