/** The schemas that editors get say what the parsers do: the same examples, the same keys, no false alarm. */
import { Validator } from "jsonschema";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { ValidationError } from "../../domain/errors/errors.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import { pageExamples, PARSERS, valueOf, type PageExample } from "../testing/page-examples.ts";
import { ABOUT_KINDS, FILE_KINDS, type FileKind } from "./file-kinds.ts";
import { definitionSchema } from "./definition-schemas.ts";

const MORE: readonly Omit<PageExample, "place">[] = [
  {
    kind: "config",
    text: "core.format: plain\nbudget.per-run: 2.5\nprojects: { local/shop: { core.automation-profile: manual } }\n",
  },
  { kind: "config", text: "provider.ollama.base-url: http://127.0.0.1:11434/v1\nprovider.ollama.timeout: 30\n" },
  {
    kind: "mcp-servers",
    text: '{ "mcpServers": { "memory": { "command": "npx", "args": ["-y", "x"], "other": 1 } } }',
  },
  { kind: "mcp-servers", text: '{ "servers": { "docs": { "type": "http", "url": "https://docs.example.com/mcp" } } }' },
  {
    kind: "validation",
    text: "name: tests\ndescription: All tests pass\nmode: informational\ncommand: npm test\ntimeout_ms: 1000\n",
  },
  {
    kind: "validation",
    text: "name: notes\ndescription: There are notes\ntool: read-file\nparams: { path: NOTES.md }\n",
  },
  {
    kind: "tool",
    text: "tool:\n  name: count\n  description: Counts\n  command: wc -w\n  capability: { writes: false }\n",
  },
  { kind: "tool", text: "name: count\ndescription: Counts\ncommand: [wc, -w]\nenv: { LANG: C }\noutput: json\n" },
  {
    kind: "skill",
    text: "skill:\n  name: files\n  description: Files\n  builtins: [file_operations, { group: git_operations }]\n",
  },
  {
    kind: "automation-profile",
    text: "name: own\ndescription: Mine\nthresholds: { auto_apply: 0.5 }\nguards: { max_calls_per_tool: { shell_execute: 2 } }\nnetwork: registries\nbudget: { max_cost_usd: 2 }\n",
  },
  {
    kind: "actor",
    text: 'name: a\ndescription: b\ntype: llm\noptions: { temperature: "${HEAT:0.5}", reasoning: 2048 }\nunsafe: "${RISK:true}"\n',
  },
  {
    kind: "actor",
    text: "agents:\n  writer: { type: llm, config: { model_id: x, temperature: 1 } }\nroutes:\n  main: { type: graph, entry_node: w, nodes: { w: { type: agent, actor: local/writer } } }\n",
  },
  {
    kind: "actor",
    text: "name: s\ndescription: t\ntype: tool\nversion: 1.0\nsteps: [{ tool: read_file, params: { path: a } }]\n",
  },
];

const EXAMPLES: readonly PageExample[] = [
  ...pageExamples(),
  ...MORE.map((one, index) => ({ ...one, place: `this test, ${index}` })),
];
const SCHEMAS = new Map(FILE_KINDS.map((kind) => [kind, definitionSchema(kind, ABOUT_KINDS[kind])]));

function bySchema(kind: FileKind, value: unknown): string[] {
  const { $schema: _, ...schema } = SCHEMAS.get(kind) ?? {};
  return new Validator().validate(value, schema).errors.map(String);
}

function byParser(kind: FileKind, value: unknown): string[] {
  const text = kind === "mcp-servers" ? JSON.stringify(value) : stringify(value);
  try {
    PARSERS[kind](text);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.issues.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("every kind has examples", () => {
  for (const kind of FILE_KINDS) expect(EXAMPLES.map((one) => one.kind)).toContain(kind);
  expect(EXAMPLES.length).toBeGreaterThan(40);
});

test.each(EXAMPLES)("parser and schema take $kind of $place", ({ kind, text }) => {
  expect(byParser(kind, valueOf(text))).toEqual([]);
  expect(bySchema(kind, valueOf(text))).toEqual([]);
});

const NAMED = EXAMPLES.filter(({ kind, text }) => "name" in valueOf(text) && kind !== "mcp-servers");
function without(value: Record<string, unknown>, name: string): unknown {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

const BROKEN: readonly (readonly [string, (value: Record<string, unknown>) => unknown])[] = [
  ["an unknown key", (value) => ({ ...value, surprising: 1 })],
  ["a key with a misspelling", (value) => ({ ...value, discription: "x" })],
  ["a missing name", (value) => without(value, "name")],
  ["a missing description", (value) => without(value, "description")],
  ["a name of a wrong type", (value) => ({ ...value, name: [1] })],
  ["a description of a wrong type", (value) => ({ ...value, description: { a: 1 } })],
];

test.each(BROKEN)("%s is refused by both", (_, breakIt) => {
  for (const { kind, text, place } of NAMED) {
    const broken = breakIt(valueOf(text));
    expect([place, byParser(kind, broken).length > 0]).toEqual([place, true]);
    expect([place, bySchema(kind, broken).length > 0]).toEqual([place, true]);
  }
});

test("a configuration with an unknown key, or a list for a value, is refused by both", () => {
  for (const value of [
    { "core.fromat": "plain" },
    { "core.format": [] },
    { projects: { p: { "core.format": "x" } } },
  ]) {
    expect(byParser("config", value)).not.toEqual([]);
    expect(bySchema("config", value)).not.toEqual([]);
  }
  expect(byParser("config", { projects: 1 })).toEqual(["projects: must hold one section for each project"]);
  expect(byParser("config", { projects: { p: 1 } })).toEqual(["projects.p: must be a set of key: value lines"]);
  expect(byParser("config", { "core.format": "x" })[0]).toContain("must be one of rich");
});

/** Values of every type in the place of every value: an editor must not mark a file that the program takes. */
test("the schema refuses nothing that the parser takes", () => {
  const others: readonly unknown[] = [1, "x", true, false, [], ["x"], {}, { x: 1 }, "auto", null];
  let refused = 0;
  for (const { kind, text, place } of EXAMPLES) {
    for (const changed of variations(valueOf(text), others)) {
      if (bySchema(kind, changed).length === 0) continue;
      refused += 1;
      expect([place, changed, byParser(kind, changed).length > 0]).toEqual([place, changed, true]);
    }
  }
  expect(refused).toBeGreaterThan(500);
});

/** The value with one of its values, down to three levels, replaced by some of the others or left out. */
function variations(value: unknown, others: readonly unknown[], depth = 0): unknown[] {
  if (depth === 3 || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((one: unknown, index) =>
      variations(one, others, depth + 1).map((made) => value.with(index, made)),
    );
  }
  return Object.entries(value).flatMap(([key, one]) => {
    const some = others.filter((_other, index) => (index + key.length) % 3 === depth);
    const made = [...some, ...variations(one, others, depth + 1)].map((other) => ({ ...value, [key]: other }));
    return [...made, without(value as Record<string, unknown>, key)];
  });
}

test("every key that a schema offers is one that its parser knows", () => {
  for (const { kind, text, place } of NAMED) {
    const value = valueOf(text);
    for (const key of offered(SCHEMAS.get(kind) ?? {}, value)) {
      const told = byParser(kind, { ...value, [key]: { x: null } });
      expect([place, key, told.filter((one) => one.startsWith(`${key}: unknown key`))]).toEqual([place, key, []]);
    }
  }
});

/** The keys at the top of the form that fits the value. */
function offered(schema: JsonObject, value: Record<string, unknown>): string[] {
  const fits = (part: unknown): boolean => new Validator().validate(value, part as JsonObject).valid;
  const parts: JsonObject[] = [];
  const walk = (part: JsonObject): void => {
    parts.push(part);
    if (part["if"] !== undefined) {
      const next = fits(part["if"]) ? part["then"] : part["else"];
      if (next !== undefined) walk(next as JsonObject);
    }
    for (const one of (part["allOf"] ?? []) as readonly JsonObject[]) walk(one);
  };
  walk(schema);
  return parts.flatMap((part) => Object.keys(part["properties"] ?? {}));
}

test("every key at the top of a kind is described, except older spellings", () => {
  for (const { kind, text, place } of NAMED) {
    const flat = JSON.stringify(SCHEMAS.get(kind));
    for (const key of Object.keys(valueOf(text))) {
      const known = new RegExp(
        `"${key}":\\{"(?:description|deprecated)"|"${key}":\\{[^{}]*"(?:description|deprecated)"`,
      );
      expect([place, key, known.test(flat)]).toEqual([place, key, true]);
    }
  }
});
