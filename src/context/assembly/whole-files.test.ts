/** A directory that fits is shown whole: each file once, within the budget to the token, the same each time. */
import { describe, expect, test } from "vitest";
import type { AssembledContext } from "../model/context-model.ts";
import { BUILT_IN_STRATEGIES } from "../strategies/built-in-strategies.ts";
import { AssemblySetUp, question, strategy } from "../testing/assembly-set-up.ts";
import { tokenizerNamed } from "../tokens/tokenizer.ts";

const count = tokenizerNamed("o200k_base");

const FILES: Readonly<Record<string, string>> = {
  "a.txt": "one\n",
  "api/health.ts": 'export const path = "/health";\nexport const ping = async () => {\n  return 200;\n};\n',
  "api/same.ts": 'export const path = "/health";\nexport const ping = async () => {\n  return 200;\n};\n',
  "empty.ts": "\n\n",
  "no-end.md": "# Title\nwithout an end",
};
const SHOWN = ["a.txt", "api/health.ts", "api/same.ts", "no-end.md"];

function wholeOf({ fragments }: AssembledContext): Record<string, string> {
  const shown = fragments.flatMap(({ provenance, level, content }) =>
    provenance === undefined ? [] : [[`${provenance.path} ${level}`, content] as const],
  );
  expect(new Set(shown.map(([name]) => name)).size).toBe(shown.length);
  return Object.fromEntries(shown);
}

const EXPECTED = Object.fromEntries(SHOWN.map((path) => [`${path} full`, FILES[path]]));

test.each(["what is this", "ping", "zebra", "health path"])("%s: all of a small directory", async (query) => {
  await using setUp = new AssemblySetUp(BUILT_IN_STRATEGIES, { files: FILES });
  const order = setUp.input(1_000, { question: question({ query }) });
  const context = await setUp.assembler.assemble(order);
  expect(wholeOf(context)).toEqual(EXPECTED);
  expect(context.tokens).toBe(count(context.text));
  expect(context.tokens).toBeLessThanOrEqual(1_000);
  expect((await setUp.assembler.assemble(order)).hash).toBe(context.hash);
});

test("from the budget on that holds it all, and not below; never a token too many", async () => {
  await using setUp = new AssemblySetUp([strategy("signatures"), strategy("definitions")], { files: FILES });
  const wholeAt: number[] = [];
  for (let tokens = 0; tokens <= 240; tokens += 8) {
    const context = await setUp.assembler.assemble(setUp.input(tokens));
    expect(context.tokens).toBe(count(context.text));
    expect(context.tokens).toBeLessThanOrEqual(tokens);
    if (context.fragments.filter(({ level }) => level === "full").length === SHOWN.length) wholeAt.push(tokens);
  }
  expect(wholeAt.length).toBeGreaterThan(5);
  const [least = 0] = wholeAt;
  expect(wholeAt).toHaveLength((240 - least) / 8 + 1);
});

test("beside the decisions of a plan, as long as both fit", async () => {
  const decisions = strategy("decisions", { needs: ["decisions"] });
  await using setUp = new AssemblySetUp([decisions, strategy("signatures")], { files: FILES });
  const decision = { id: "01K0000000000000000000000A", type: "strategy_choice", question: "How?", answer: "so" };
  const plan = {
    planId: "01K0000000000000000000000B",
    goal: "g",
    decisions: [{ ...decision, outcome: undefined }],
    changedPaths: [],
  };
  const context = await setUp.assembler.assemble(setUp.input(1_000, { plan }));
  expect(wholeOf(context)).toEqual(EXPECTED);
  expect(context.fragments.some(({ provenance }) => provenance === undefined)).toBe(true);
});

describe("not for other requests", () => {
  test.each([
    ["one strategy", { question: question({ strategy: "signatures" }) }],
    ["less detail", { question: question({ depth: "signatures" }) }],
    ["fewer files", { view: { maxFiles: 2, maxTotalSize: undefined, strategies: undefined } }],
    ["fewer bytes", { view: { maxFiles: undefined, maxTotalSize: 50, strategies: undefined } }],
  ] as const)("%s", async (_, changes) => {
    await using setUp = new AssemblySetUp([strategy("signatures")], { files: FILES });
    const context = await setUp.assembler.assemble(setUp.input(1_000, changes));
    expect(context.fragments.map(({ level }) => level)).not.toContain("full");
  });
});
