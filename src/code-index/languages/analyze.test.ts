import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Analyzer, createAnalyzer } from "./analyze.ts";
import type { FileFacts, Language } from "../model/facts.ts";
import { problemsOf } from "../testing/check-facts.ts";
import { type Mutation, mutate, mutation } from "../testing/mutation.ts";
import { describeFacts, SAMPLED, sampleOf } from "../testing/samples.ts";
import { sized } from "../../testing/size.ts";

const STRIDE = sized({ quick: 29, normal: 7, full: 1 });
const RUNS = sized({ quick: 20, normal: 100, full: 2_000 });

let analyzer: Analyzer;
beforeAll(async () => {
  analyzer = await createAnalyzer();
  await analyzer.load(SAMPLED);
});
afterAll(() => analyzer[Symbol.dispose]());

describe.each(SAMPLED)("%s", (language) => {
  const sample = sampleOf(language);

  test("has the facts of the sample, at every level", async () => {
    const page = describeFacts(analyzer.analyze(language, sample), sample);
    await expect(page).toMatchFileSnapshot(`../testing/samples/expected/${language}.txt`);
  });

  test(`is in order for every ${STRIDE}. beginning of the sample`, () => {
    for (let end = 0; end <= sample.length; end += STRIDE) expectOrder(language, sample.slice(0, end));
    expect.hasAssertions();
  });

  test("is in order after any change of the sample", () => {
    fc.assert(
      fc.property(fc.array(mutation(sample.length), { minLength: 1, maxLength: 6 }), (mutations: Mutation[]) => {
        expectOrder(language, mutations.reduce(mutate, sample));
      }),
      { numRuns: RUNS },
    );
    expect.hasAssertions();
  });

  test("says the same with other line ends and behind a byte order mark", () => {
    const plain = withoutOffsets(analyzer.analyze(language, sample));
    expect(withoutOffsets(analyzer.analyze(language, sample.replaceAll("\n", "\r\n")))).toEqual(plain);
    expect(withoutOffsets(analyzer.analyze(language, `\uFEFF${sample}`))).toEqual(plain);
  });
});

test("is in order where a template is wrapped around code it does not belong to", () => {
  const sample = sampleOf("cpp");
  const cut = mutate(sample, {
    at: sample.indexOf("class Lease final"),
    remove: "class Lease final".length,
    insert: "(",
  });
  expect(problemsOf(analyzer.analyze("cpp", cut), cut)).toEqual([]);
  const early = mutate(sample, { at: 640, remove: 14, insert: "(" });
  expect(problemsOf(analyzer.analyze("cpp", early), early)).toEqual([]);
});

test("text has no facts", () => {
  const none = { definitions: [], references: [], imports: [], incomplete: undefined };
  expect(analyzer.analyze("text", "function f() {}")).toEqual({ language: "text", ...none });
});

test("a file that is nothing but errors says so and where", () => {
  const { incomplete } = analyzer.analyze("typescript", "const a = 1;\n)))) ]]]] }}}}");
  expect(incomplete).toBe("line 2 and perhaps others could not be parsed");
});

test("a file that breaks off says so", () => {
  const { definitions, incomplete } = analyzer.analyze(
    "typescript",
    "export class A {\n  run() {\n    return 1;\n  }\n",
  );
  expect(definitions.map(({ name }) => name)).toEqual(["A", "run"]);
  expect(incomplete).toBe("something is missing in it, so it may have been parsed wrongly");
});

test("facts do not depend on what was analyzed before", () => {
  const before = analyzer.analyze("rust", sampleOf("rust"));
  for (const language of SAMPLED) analyzer.analyze(language, sampleOf(language).slice(3));
  expect(analyzer.analyze("rust", sampleOf("rust"))).toEqual(before);
});

test("two analyzers of one thread do not disturb each other", async () => {
  using other = await createAnalyzer();
  await other.load(["go"]);
  const sample = sampleOf("go");
  expect(other.analyze("go", sample)).toEqual(analyzer.analyze("go", sample));
});

function expectOrder(language: Language, text: string): void {
  expect(problemsOf(analyzer.analyze(language, text), text)).toEqual([]);
}

function withoutOffsets(facts: FileFacts): unknown {
  const definitions = facts.definitions.map(({ signature: _signature, doc, ...rest }) => ({
    ...rest,
    hasDoc: doc !== undefined,
  }));
  return { ...facts, definitions };
}
