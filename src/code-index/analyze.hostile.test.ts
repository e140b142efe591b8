/** Texts nobody writes for people: whatever they are, analyzing them ends, says what is missing, and harms no other text. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Analyzer, createAnalyzer, MAX_ANALYZED_LENGTH } from "./analyze.ts";
import type { Language } from "./facts.ts";
import { DETAIL_LEVELS } from "./detail-level.ts";
import { renderFile } from "./render.ts";
import { problemsOf } from "./testing/check-facts.ts";
import { SAMPLED, sampleOf } from "./testing/samples.ts";

let analyzer: Analyzer;
beforeAll(async () => {
  analyzer = await createAnalyzer();
  await analyzer.load(SAMPLED);
});
afterAll(() => analyzer[Symbol.dispose]());

const TEXTS: Readonly<Record<string, string>> = {
  nothing: "",
  "100,000 equal letters": "a".repeat(100_000),
  "100,000 spaces": " ".repeat(100_000),
  "100,000 quotes": '"'.repeat(100_000),
  "100,000 hashes": "#".repeat(100_000),
  "100,000 zero characters": "\0".repeat(100_000),
  "100,000 halves of characters": "\ud800".repeat(100_000),
  "10,000 open brackets": "(".repeat(10_000),
  "10,000 arrays in arrays": `x = ${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  "10,000 quotations": `${"> ".repeat(10_000)}x`,
  "900 functions in functions": "function f(){".repeat(900),
  "900 namespaces in namespaces": "namespace a {".repeat(900),
  "20,000 definitions on a line": `const a=1${",b=2".repeat(20_000)}`,
  "20,000 members on a line": `enum E {${"A,".repeat(20_000)}}`,
  "30,000 comments": `${"// a\n".repeat(30_000)}function f() {}`,
  "20,000 halves of links": "[a](b".repeat(20_000),
};

describe.each(Object.entries(TEXTS))("%s", (_name, text) => {
  test.each(SAMPLED)("as %s", async (language) => {
    await analyzer.load([language]);
    const facts = analyzer.analyze(language, text);
    expect(problemsOf(facts, text)).toEqual([]);
    for (const level of DETAIL_LEVELS)
      expect(renderFile(facts, text, level).text.length).toBeLessThanOrEqual(text.length);
  });
});

const BREAKING: readonly (readonly [Language, string, string])[] = [
  ["java", "a=>".repeat(2_000), "parsing takes too much memory"],
  ["java", ":-".repeat(2_000), "parsing takes too long"],
  ["cpp", "a::{".repeat(5_000), "nested deeper than 1000 levels"],
  ["go", "x".repeat(MAX_ANALYZED_LENGTH + 1), `longer than ${MAX_ANALYZED_LENGTH} characters`],
  ["markdown", "x".repeat(50_000_000), `longer than ${MAX_ANALYZED_LENGTH} characters`],
];

test.each(BREAKING)(
  "%s that cannot be parsed is given up, and the next text is not",
  async (language, text, reason) => {
    const expected = analyzer.analyze("java", sampleOf("java"));
    expect(analyzer.analyze(language, text)).toMatchObject({ definitions: [], incomplete: reason });
    await Promise.all([analyzer.load(["java"]), analyzer.load([language])]);
    expect(analyzer.analyze("java", sampleOf("java"))).toEqual(expected);
  },
);

test("definitions in definitions in definitions are left out at some depth, and it says so", () => {
  const { definitions, incomplete } = analyzer.analyze("typescript", `${"namespace a {".repeat(60)}${"}".repeat(60)}`);
  expect(definitions).toHaveLength(50);
  expect(incomplete).toBe("definitions nested deeper than 50 levels are left out");
});
