import { expect, test } from "vitest";
import { stateText } from "./standing.ts";

test.each([
  ["strategize", "queued", "not started"],
  ["strategize", "processing", "at work in strategize"],
  ["strategize", "complete", "planned but not executed"],
  ["strategize", "errored", "stopped in strategize"],
  ["strategize", "cancelled", "cancelled"],
  ["execute", "queued", "waiting to execute"],
  ["execute", "complete", "executed but not applied"],
  ["apply", "constrained", "stopped in apply"],
  ["apply", "applied", "applied"],
] as const)("%s/%s is %s in a sentence", (phase, state, text) => {
  expect(stateText({ phase, state })).toBe(text);
});
