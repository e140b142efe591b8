import { expect, test } from "vitest";
import { spendingCell } from "./parts.ts";

const NOTHING = {
  calls: 1,
  spentUsd: 0,
  estimatedUsd: 0,
  assumedUsd: 0,
  reservedUsd: 0,
  unpricedCalls: 0,
  capUsd: 0.5,
};

test.each([
  ["below zero", -44, "─".repeat(20)],
  ["nothing", 0, "─".repeat(20)],
  ["half", 0.25, `${"━".repeat(10)}${"─".repeat(10)}`],
  ["far above the cap", 1e9, "━".repeat(20)],
])("the bar of %s is drawn", (_what, spentUsd, bar) => {
  const cell = spendingCell({ ...NOTHING, spentUsd });
  expect(typeof cell === "string" ? cell : cell.text).toContain(` ${bar} `);
});
