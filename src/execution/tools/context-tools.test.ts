import { expect, test } from "vitest";
import { contextAnswer } from "./context-tools.ts";

test("a model is told which strategy is missing and how much did not fit, and nothing when that is all there is", () => {
  expect(contextAnswer({ text: "code", excluded: 0, gaps: [] })).toBe("code");
  const gaps = [
    { kind: "strategy", name: "symbol-rank", reason: "is switched off for now because it kept failing" },
    { kind: "backend", name: "vector", reason: "no embedding endpoint is configured" },
  ];
  expect(contextAnswer({ text: "code", excluded: 3, gaps })).toBe(
    "code\n[without symbol-rank: is switched off for now because it kept failing]\n" +
      "[3 more pieces did not fit; ask more narrowly]",
  );
});
