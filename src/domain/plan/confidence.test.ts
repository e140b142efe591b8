import { expect, test } from "vitest";
import { assess, decide } from "./confidence.ts";

test("confidence is the weighted sum of its factors, and says how it came about", () => {
  const best = assess({ successRate: 1, familiarity: 1, risk: 0, invariantComplexity: 0 });
  const worst = assess({ successRate: 0, familiarity: 0, risk: 1, invariantComplexity: 1 });
  const fresh = assess({ successRate: 0.5, familiarity: 0, risk: 0.2, invariantComplexity: 0.1 });
  expect([best.confidence, worst.confidence, fresh.confidence]).toEqual([1, 0, 0.57]);
  expect(fresh.explanation).toBe(
    "Confidence 0.57: 0.50 + success so far 0.50 × 0.30, familiarity 0.00 × 0.20, risk 0.20 × −0.30, rules to keep 0.10 × −0.20.",
  );
  const onPaper = assess({ successRate: 0.8, familiarity: 0.8, risk: 0.2, invariantComplexity: 0.2 });
  expect(onPaper.confidence).toBe(0.8);
});

test.each([-0.01, 1.01, Number.NaN])("a factor of %d is refused", (risk) => {
  expect(() => assess({ successRate: 1, familiarity: 1, risk, invariantComplexity: 0 })).toThrow(RangeError);
});

test("0 always continues, 1 always asks, between the confidence must reach the threshold", () => {
  expect([0, 0.5, 1].map((confidence) => decide(0, confidence))).toEqual(["go", "go", "go"]);
  expect([0, 0.5, 1].map((confidence) => decide(1, confidence))).toEqual(["ask", "ask", "ask"]);
  expect([0.79, 0.8, 0.81].map((confidence) => decide(0.8, confidence))).toEqual(["ask", "go", "go"]);
});
