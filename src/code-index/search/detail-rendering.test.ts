import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Analyzer, createAnalyzer } from "../languages/analyze.ts";
import { DETAIL_LEVELS } from "../../domain/context/detail-level.ts";
import type { FileFacts } from "../model/facts.ts";
import { renderDefinition, renderFile } from "./detail-rendering.ts";
import { type Mutation, mutate, mutation } from "../testing/mutation.ts";
import { SAMPLED, sampleOf } from "../testing/samples.ts";

let analyzer: Analyzer;
beforeAll(async () => {
  analyzer = await createAnalyzer();
  await analyzer.load(SAMPLED);
});
afterAll(() => analyzer[Symbol.dispose]());

describe.each(SAMPLED)("%s", (language) => {
  const sample = sampleOf(language);

  test("a level is never longer than a deeper one, for any text", () => {
    fc.assert(
      fc.property(fc.array(mutation(sample.length), { maxLength: 4 }), (mutations: Mutation[]) => {
        const text = mutations.reduce(mutate, sample);
        const facts = analyzer.analyze(language, text);
        expectGrowing(DETAIL_LEVELS.map((level) => renderFile(facts, text, level).text));
        for (const ordinal of facts.definitions.keys()) {
          expectGrowing(DETAIL_LEVELS.map((level) => renderDefinition(facts, ordinal, text, level).text));
        }
      }),
      { numRuns: 20 },
    );
    expect.hasAssertions();
  });

  test("in full it is the file, and its lines", () => {
    const facts = analyzer.analyze(language, sample);
    const lines = sample.split("\n");
    expect(renderFile(facts, sample, "full")).toEqual({ text: sample, startLine: 1, endLine: lines.length - 1 });
    for (const [ordinal, { startLine, endLine }] of facts.definitions.entries()) {
      const text = lines.slice(startLine - 1, endLine).join("\n");
      expect(renderDefinition(facts, ordinal, sample, "full")).toEqual({ text, startLine, endLine });
    }
  });
});

test("a definition is shown with everything inside it, and nothing else", () => {
  const text = sampleOf("typescript");
  const facts = analyzer.analyze("typescript", text);
  const ordinal = facts.definitions.findIndex(({ name }) => name === "Keeper");
  expect(DETAIL_LEVELS.map((level) => renderDefinition(facts, ordinal, text, level).text)).toEqual([
    ["interface Keeper", "  field size", "  method keep"].join("\n"),
    [
      "export interface Keeper<T> extends errors.Base",
      "  readonly size: number",
      "  keep(item: T, options?: { deep: boolean }): Promise<void>",
    ].join("\n"),
    [
      "/** What can be kept. */",
      "export interface Keeper<T> extends errors.Base",
      "  /** How many. */",
      "  readonly size: number",
      "  keep(item: T, options?: { deep: boolean }): Promise<void>",
    ].join("\n"),
    [
      "/** What can be kept. */",
      "export interface Keeper<T> extends errors.Base {",
      "  /** How many. */",
      "  readonly size: number;",
      "  keep(item: T, options?: { deep: boolean }): Promise<void>;",
      "}",
    ].join("\n"),
  ]);
});

test("of a file without definitions the first lines are shown, and how many there are", () => {
  const text = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join("\n");
  const facts = analyzer.analyze("text", text);
  expect(renderFile(facts, text, "listing").text).toBe("100 lines");
  expect(renderFile(facts, text, "signatures").text).toMatch(/^line 1\n[^]*\nline 10\n… \(100 lines\)$/);
  expect(renderFile(facts, text, "signatures_with_docs").text).toMatch(/^line 1\n[^]*\nline 40\n… \(100 lines\)$/);
});

test("a long line is cut between characters", () => {
  const text = `${"a".repeat(199)}😀${"b".repeat(1_000)}\n`.repeat(11);
  const facts = analyzer.analyze("text", text);
  expect(renderFile(facts, text, "signatures").text.split("\n")[0]).toBe(`${"a".repeat(199)}…`);
});

test("facts and ordinal belong together", () => {
  const facts: FileFacts = analyzer.analyze("text", "");
  expect(() => renderDefinition(facts, 0, "", "full")).toThrow(RangeError);
});

function expectGrowing(texts: readonly string[]): void {
  const lengths = texts.map((text) => text.length);
  expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
}
