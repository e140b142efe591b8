import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { assess } from "./confidence.ts";
import { findSetting, SETTINGS } from "../settings/settings.ts";

const PAGE = readFileSync(new URL("../../../docs/autonomy.md", import.meta.url), "utf8");

test("the settings the page tells people to type are taken, and every one of budgets is explained", () => {
  const typed = [...PAGE.matchAll(/^agents config set (\S+) (\S+)$/gm)];
  expect(typed.length).toBe(2);
  for (const [, key = "", value = ""] of typed)
    expect([key, findSetting(key).problem(value)]).toEqual([key, undefined]);
  for (const { key, env } of SETTINGS.filter((setting) => setting.key.startsWith("budget."))) {
    expect(PAGE).toContain(`\`${key}\``);
    expect(PAGE).toContain(env);
  }
});

test("the page's formula is the one that is used", () => {
  expect(PAGE).toContain("0.30 · success so far + 0.20 · familiarity + 0.30 · (1 − risk) + 0.20 · (1 − rules to keep)");
  const { confidence } = assess({ successRate: 0.9, familiarity: 0.4, risk: 0.3, invariantComplexity: 0.2 });
  expect(confidence).toBeCloseTo(0.3 * 0.9 + 0.2 * 0.4 + 0.3 * 0.7 + 0.2 * 0.8);
});
