import { describe, expect, test } from "vitest";
import { EXPECTED_MOVES, expectedTarget, OPERATIONS } from "../../testing/expected-moves.ts";
import { STATUSES } from "../../testing/fixtures.ts";
import {
  isRecoverable,
  isTerminal,
  MAX_REVERSIONS,
  parseStatusKey,
  PHASES,
  sources,
  STATES,
  statusKey,
  target,
  type PlanStatus,
  type StatusKey,
} from "./transitions.ts";

function parsed(key: StatusKey): PlanStatus {
  const status = parseStatusKey(key);
  if (status === undefined) throw new Error(`${key} is not a status`);
  return status;
}

test("there are 16 statuses and 15 operations", () => {
  expect(STATUSES).toHaveLength(16);
  expect(new Set(STATUSES).size).toBe(16);
  expect(new Set(OPERATIONS).size).toBe(15);
  expect(MAX_REVERSIONS).toBe(3);
});

describe.each(STATUSES)("from %s", (from) => {
  test.each(OPERATIONS)("%s leads where the lifecycle says, or nowhere", (operation) => {
    expect(target(from, operation)).toBe(expectedTarget(from, operation));
  });
});

test("only a strategy that is complete is revised", () => {
  expect(sources("reviseStrategy")).toEqual(["strategize/complete"]);
  expect(target("strategize/complete", "reviseStrategy")).toBe("strategize/queued");
});

test("sources are the other direction of the same table", () => {
  for (const operation of OPERATIONS) {
    const expected = EXPECTED_MOVES.filter((move) => move.operation === operation).map((move) => move.from);
    expect([...sources(operation)].sort()).toEqual([...expected].sort());
  }
});

test("nothing leads out of a final status, and something leads out of every other", () => {
  for (const status of STATUSES) {
    const moves = OPERATIONS.filter((operation) => target(status, operation) !== undefined);
    expect(moves.length === 0).toBe(isTerminal(parsed(status)));
  }
});

test("only applied and cancelled are final, only errored and constrained are recoverable", () => {
  const final = STATUSES.filter((key) => isTerminal(parsed(key)));
  expect(final).toEqual(["strategize/cancelled", "execute/cancelled", "apply/applied", "apply/cancelled"]);
  const recoverable = STATUSES.filter((key) => isRecoverable(parsed(key)));
  expect(recoverable).toEqual(["strategize/errored", "execute/errored", "apply/constrained", "apply/errored"]);
});

test("reverting always ends in strategize/queued, rolling back in execute/queued; everything else stays in its phase or goes to the next one", () => {
  const moves = STATUSES.flatMap((from) =>
    OPERATIONS.map((operation) => ({ from, operation, to: target(from, operation) })),
  );
  const possible = moves.flatMap(({ from, operation, to }) => (to === undefined ? [] : [{ from, operation, to }]));
  const reverted = possible.filter(({ operation }) => operation === "revertPlan");
  expect(new Set(reverted.map(({ to }) => to))).toEqual(new Set(["strategize/queued"]));
  const distance = (from: StatusKey, to: StatusKey): number =>
    PHASES.indexOf(parsed(to).phase) - PHASES.indexOf(parsed(from).phase);
  const rolledBack = possible.filter(({ operation }) => operation === "rollbackPlan");
  expect(new Set(rolledBack.map(({ to }) => to))).toEqual(new Set(["execute/queued"]));
  const others = possible.filter(({ operation }) => !["revertPlan", "rollbackPlan"].includes(operation));
  expect(new Set(others.map(({ from, to }) => distance(from, to)))).toEqual(new Set([0, 1]));
});

test("a status key is parsed back, and nothing else is", () => {
  for (const key of STATUSES) expect(statusKey(parsed(key))).toBe(key);
  const possible = PHASES.flatMap((phase) => STATES.map((state) => `${phase}/${state}`));
  const impossible = possible.filter((key) => !STATUSES.some((status) => status === key));
  expect(impossible).toHaveLength(5);
  for (const key of [...impossible, "", "toString", "__proto__", "apply"]) expect(parseStatusKey(key)).toBeUndefined();
});
