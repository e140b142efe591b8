/** Texts that no person writes: analyzing any of them ends, names the missing parts, and harms no other text. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Analyzer, createAnalyzer, MAX_ANALYZED_LENGTH } from "./analyze.ts";
import type { Language } from "../model/facts.ts";
import { DETAIL_LEVELS } from "../../domain/context/detail-level.ts";
import { renderFile } from "../search/detail-rendering.ts";
import { sized } from "../../testing/size.ts";
import { problemsOf } from "../testing/check-facts.ts";
import { SAMPLED, sampleOf } from "../testing/samples.ts";

let analyzer: Analyzer;
beforeAll(async () => {
  analyzer = await createAnalyzer();
  await analyzer.load(SAMPLED);
});
afterAll(() => analyzer[Symbol.dispose]());

const LENGTH = sized({ quick: 10_000, normal: 100_000, full: 100_000 });
const TEXTS: Readonly<Record<string, string>> = {
  nothing: "",
  [`${LENGTH} equal letters`]: "a".repeat(LENGTH),
  [`${LENGTH} spaces`]: " ".repeat(LENGTH),
  [`${LENGTH} quotes`]: '"'.repeat(LENGTH),
  [`${LENGTH} hashes`]: "#".repeat(LENGTH),
  [`${LENGTH} zero characters`]: "\0".repeat(LENGTH),
  [`${LENGTH} halves of characters`]: "\ud800".repeat(LENGTH),
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

const LARGE: readonly (readonly [Language, string, string])[] = [
  ["typescript", "a pattern of 300,000 names", `const {${"a,".repeat(300_000)}} = x`],
  [
    "typescript",
    "100,000 variables far behind a comment",
    `// c\n${" ".repeat(500_000)}let a=1${",b=2".repeat(100_000)}`,
  ],
  ["typescript", "100,000 functions in functions without a bracket", `x = ${"a=>z?1:".repeat(100_000)}z`],
  ["cpp", "50,000 templates of templates", `${"template<class T> ".repeat(50_000)}class A {};`],
  ["markdown", "100 lines of a heading and 9,000 spaces", `# ${" ".repeat(9_000)}x\n`.repeat(100)],
];

test.each(LARGE)("%s: %s", async (language, _name, text) => {
  await analyzer.load([language]);
  const facts = analyzer.analyze(language, text);
  expect(problemsOf(facts, text)).toEqual([]);
  for (const level of DETAIL_LEVELS)
    expect(renderFile(facts, text, level).text.length).toBeLessThanOrEqual(text.length);
});

const BREAKING: readonly (readonly [Language, string, string])[] = [
  ["java", "a=>".repeat(2_000), "parsing takes too much memory"],
  ["java", ":-".repeat(2_000), "parsing takes too long"],
  ["typescript", "-;".repeat(30_000), "parsing takes too long"],
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

test("a text that needs more than the parser's own stack is parsed, and breaks nothing", () => {
  const { incomplete } = analyzer.analyze("java", ";-".repeat(3_000));
  expect(incomplete).toBe("line 1 and perhaps others could not be parsed");
});

test("definitions in definitions in definitions are left out at some depth, and it says so", () => {
  const { definitions, incomplete } = analyzer.analyze("typescript", `${"namespace a {".repeat(60)}${"}".repeat(60)}`);
  expect(definitions).toHaveLength(50);
  expect(incomplete).toBe("definitions nested deeper than 50 levels are left out");
});
