/** docs/tools.md: its tables are the tools and their parameters, and its examples are accepted. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import * as z from "zod";
import { expect, test } from "vitest";
import { TOOL_NAMES } from "../../domain/names/tool-names.ts";
import { parseToolActor } from "../../domain/actor/tool-actor.ts";
import { parameterNames, parameterProblems } from "./step-parameters.ts";
import { BUILT_IN_TOOLS } from "./tool-set.ts";

const PAGE = readFileSync(new URL("../../../docs/tools.md", import.meta.url), "utf8");
const rows = PAGE.split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.slice(2, -2).split(" | "));
const plain = (cell = ""): string => cell.replaceAll("`", "");

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly items?: { readonly type?: string };
}

function schemaOf(tool: string): { properties: Record<string, Property>; required: readonly string[] } {
  const parameters = BUILT_IN_TOOLS.get(tool)?.parameters ?? z.never();
  const schema = z.toJSONSchema(parameters, { io: "input" });
  return {
    properties: (schema.properties ?? {}) as Record<string, Property>,
    required: schema.required ?? [],
  };
}

function typeText({ type, enum: words, items }: Property): string {
  if (words !== undefined) return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
  const texts: Record<string, string> = {
    string: "text",
    boolean: "true or false",
    integer: "whole number",
    array: items?.type === "object" ? "list of objects" : "list of texts",
  };
  return texts[type ?? ""] ?? "";
}

test("every tool is on the page once, and the page says whether it changes files", () => {
  const tools = rows.filter((cells) => cells.length === 3).map(([name, changes]) => `${plain(name)} ${changes}`);
  const known = [...BUILT_IN_TOOLS.values()].map(({ name, writes }) => `${name} ${writes ? "yes" : "no"}`);
  expect(tools.toSorted()).toEqual(known.toSorted());
  expect([...BUILT_IN_TOOLS.keys()].toSorted()).toEqual([...TOOL_NAMES].toSorted());
});

test.each(TOOL_NAMES)(
  "the page has the parameters of %s with their types, and what holds if they are left out",
  (tool) => {
    const listed = rows.filter((cells) => cells.length === 5 && plain(cells[0]) === tool);
    const { properties, required } = schemaOf(tool);
    expect(listed.map(([, name]) => plain(name))).toEqual(
      parameterNames(BUILT_IN_TOOLS.get(tool)?.parameters ?? z.never()),
    );
    for (const [, name, type, leftOut] of listed) {
      const property = properties[plain(name)] ?? {};
      expect([name, plain(type)]).toEqual([name, typeText(property)]);
      expect([name, leftOut === "required"]).toEqual([name, required.includes(plain(name))]);
      if (["integer", "boolean"].includes(property.type ?? "") && property.default !== undefined)
        expect([name, leftOut]).toEqual([name, JSON.stringify(property.default)]);
    }
  },
);

test("the examples are accepted, and there is one of every tool", () => {
  const used = new Set<string>();
  for (const [, code = ""] of PAGE.matchAll(/^```yaml\n(.*?)^```$/gms)) {
    const actor = parseToolActor({ name: "example", type: "tool", description: "d", ...(parse(code) as object) });
    expect(parameterProblems(actor)).toEqual([]);
    for (const { tool } of actor.steps) used.add(tool);
  }
  expect([...used].toSorted()).toEqual([...TOOL_NAMES].toSorted());
});

test("what cannot be called later is told now; what a placeholder may still make right is not", () => {
  const problems = (tool: string, params: object) =>
    parameterProblems(parseToolActor({ name: "x", type: "tool", description: "d", steps: [{ tool, params }] }));
  expect(problems("copy_file", { from: "a", too: "b" })).toEqual([
    { path: "steps.0.params.path", message: "is required by copy_file" },
    { path: "steps.0.params.to", message: "is required by copy_file" },
    { path: "steps.0.params.from", message: expect.stringContaining("it takes path, to, resource") },
    { path: "steps.0.params.too", message: expect.stringContaining('no parameter "too"'), suggestion: "to" },
  ]);
  expect(problems("read_file", { path: 5, resource: ["api"] })).toMatchObject([
    { path: "steps.0.params.path" },
    { path: "steps.0.params.resource" },
  ]);
  expect(problems("write_file", { path: "a", content: "b", mode: "{mode}" })).toEqual([]);
  expect(problems("write_file", { path: "a", content: "b", mode: "777" })).toMatchObject([
    { path: "steps.0.params.mode" },
  ]);
  // An argument becomes text, and no text is a number.
  expect(problems("git_log", { limit: "{count}" })).toMatchObject([{ path: "steps.0.params.limit" }]);
  expect(problems("get_context_budget", { resource: "api" })).toMatchObject([{ path: "steps.0.params.resource" }]);
});
