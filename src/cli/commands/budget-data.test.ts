import { expect, test } from "vitest";
import type { Spending } from "../../ledger/budget-report.ts";
import { spendingCell } from "./budget-data.ts";

const NOTHING: Spending = {
  calls: 1,
  spent: 0,
  estimated: 0,
  assumed: 0,
  reserved: 0,
  unpriced: 0,
  cap: { amount: 500_000, raise: "raise it" },
};

test.each([
  ["below zero", -44_000_000, "─".repeat(20)],
  ["nothing", 0, "─".repeat(20)],
  ["half", 250_000, `${"━".repeat(10)}${"─".repeat(10)}`],
  ["far above the cap", 1e15, "━".repeat(20)],
])("the bar of %s is drawn", (_what, spent, bar) => {
  const cell = spendingCell({ ...NOTHING, spent });
  expect(typeof cell === "string" ? cell : cell.text).toContain(` ${bar} `);
});
