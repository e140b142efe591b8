import { afterAll, beforeAll, expect, test } from "vitest";
import type { AssembledContext, PlanKnowledge } from "../model/context-model.ts";
import { BUILT_IN_STRATEGIES } from "../strategies/built-in-strategies.ts";
import { AssemblySetUp, question } from "../testing/assembly-set-up.ts";
import { tokenizerNamed } from "../tokens/tokenizer.ts";

const count = tokenizerNamed("o200k_base");

const BODY = `res.json = function json(obj) {
  var body = stringify(obj, this.app.get('json escape'));
  if (!this.get('Content-Type')) this.set('Content-Type', 'application/json');
  return this.send(body);
};`;

/** Like a web framework: an owner with members, names that others use for something else, and modules for `require`. */
const FILES: Readonly<Record<string, string>> = {
  "lib/response.js": `var http = require('http');\nvar res = Object.create(http.ServerResponse.prototype);\n\nres.status = function status(code) {\n  this.statusCode = code;\n  return this;\n};\n\n${BODY}\n`,
  "lib/types.js": `exports.setContentType = function setContentType(type) {\n${"  this.types.push(type + ';charset=utf-8', this.types.length);\n".repeat(140)}};\n`,
  ...Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `examples/part-${at}.js`,
      `var json = require('./json');\nvar part${at} = require('./part');\n${`function use${at}(value) {\n  return part${at}.run(json, value);\n}\n`.repeat(6)}`,
    ]),
  ),
};

let setUp: AssemblySetUp;
beforeAll(() => {
  setUp = new AssemblySetUp(BUILT_IN_STRATEGIES, { files: FILES });
});
afterAll(() => setUp[Symbol.asyncDispose]());

function assemble(
  tokens: number,
  query: string,
  plan?: PlanKnowledge,
  rendering?: "pointers",
): Promise<AssembledContext> {
  return setUp.assembler.assemble(setUp.input(tokens, { question: question({ query, rendering }), plan }));
}

test("a member is a name: its whole body is shown first, and what requires a module of that name is not", async () => {
  const { fragments, text } = await assemble(2_000, "how does res.json set the content type?");
  expect(fragments[0]?.provenance?.path).toBe("lib/response.js");
  expect(text).toContain(BODY);
});

test("no budget is left empty while something is left out", async () => {
  const { tokens, excluded } = await assemble(3_000, "how does res.json set the content type?");
  expect(excluded.some(({ reason }) => reason === "budget")).toBe(true);
  expect(tokens).toBeGreaterThan(2_700);
});

test("pointers: ranked files with the reason of each, signatures, and the best bodies, within the budget", async () => {
  for (const tokens of [200, 500, 1_500, 4_000]) {
    const context = await assemble(tokens, "how does res.json set the content type?", undefined, "pointers");
    expect(context.tokens).toBe(count(context.text));
    expect(context.tokens).toBeLessThanOrEqual(tokens);
  }
  const { text } = await assemble(1_500, "how does res.json set the content type?", undefined, "pointers");
  const [, files = ""] = /# Files, the best first\n((?:- .*\n)+)/.exec(text) ?? [];
  expect(files.split("\n")[0]).toMatch(/^- shop:lib\/response\.js: defines res\.json, which the query names/);
  expect(text).toContain(BODY);
  // Of what is not shown whole; the signature of a shown body would be there twice.
  const [, signatures = ""] = /# Signatures\n((?:- .*\n)+)/.exec(text) ?? [];
  expect(signatures).toContain("- shop:lib/types.js:1: exports.setContentType = function setContentType(type)");
  expect(signatures).not.toContain("res.json");
});

test("pointers do not repeat the decisions of a plan", async () => {
  const plan: PlanKnowledge = {
    planId: "01",
    goal: "a goal",
    decisions: [{ id: "1", type: "strategy", question: "", answer: "the answer 4711", outcome: undefined }],
    changedPaths: [],
  };
  expect((await assemble(1_500, "res.json", plan, "pointers")).text).not.toContain("4711");
  expect((await assemble(1_500, "res.json", plan)).text).toContain("4711");
});
