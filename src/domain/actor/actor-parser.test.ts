import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ActorDefinition } from "./actor.ts";
import { parseActor, parseActors } from "./actor-parser.ts";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";

const LLM = { name: "thinker", type: "llm", description: "Thinks" };
const NODES = [
  { id: "a", type: "llm", prompt: "{goal}" },
  { id: "b", type: "tool", tool: "git-status", params: { resource: "api" } },
];
const ROUTE = { entry: "a", exits: ["b"], nodes: NODES, edges: [{ from: "a", to: "b" }] };
const GRAPH = { name: "walker", type: "graph", description: "Walks", model: "openai/gpt-4o", route: ROUTE };

function issuesOf(input: unknown): readonly ValidationIssue[] {
  try {
    parseActors(input);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return (error as ValidationError).issues;
  }
  return [];
}

const routed = (more: object): unknown => ({ ...GRAPH, route: { ...ROUTE, ...more } });
const withNode = (node: object): unknown =>
  routed({ nodes: [...NODES, { id: "c", ...node }], edges: [...ROUTE.edges, { from: "b", to: "c" }], exits: ["c"] });

test("an actor with a model needs three things", () => {
  expect(parseActor(LLM)).toEqual({
    name: "local/thinker",
    type: "llm",
    description: "Thinks",
    provider: undefined,
    model: undefined,
    systemPrompt: "",
    options: {},
    tools: undefined,
    contextView: undefined,
    memory: {},
    responseFormat: undefined,
    unsafe: false,
  });
});

test("a graph needs nodes and an entry; everything else has a default", () => {
  const actor = parseActor({ ...GRAPH, route: { nodes: { only: { type: "llm" } }, entry: "only" } });
  expect(actor).toMatchObject({
    type: "graph",
    route: {
      nodes: [{ id: "only", type: "llm", prompt: "{goal}", tools: [], outputKey: undefined, description: "" }],
      edges: [],
      entry: "only",
      exits: ["only"],
      state: {},
      limits: { maxVisits: 25, maxRounds: 200 },
    },
  });
});

test("tools may be none, which is not the same as all", () => {
  expect(parseActor({ ...LLM, tools: [] })).toMatchObject({ tools: [] });
  expect(parseActor({ ...LLM, tools: ["read-file", "builtin/git_log"] })).toMatchObject({
    tools: ["read_file", "git_log"],
  });
});

describe("an actor's own lines come before older ones:", () => {
  test.each([
    [{ provider: "a", provider_type: "b", config: { provider: "c" } }, "a"],
    [{ provider_type: "b", config: { provider: "c" } }, "b"],
    [{ config: { provider: "c", provider_type: "d" } }, "c"],
  ])("%j", (more, provider) => {
    expect(parseActor({ ...LLM, ...more })).toMatchObject({ provider });
  });

  test("of other keys two spellings that disagree are refused, and two that agree are not", () => {
    expect(issuesOf({ ...LLM, options: { max_tokens: 5, max_output_tokens: 6 } })).toEqual([
      { path: "options.max_tokens", message: "says something else than max_output_tokens; keep one of them" },
    ]);
    expect(parseActor({ ...LLM, system_prompt: "x", config: { system_prompt: "x" } })).toMatchObject({
      systemPrompt: "x",
    });
  });
});

test("a schema of the answer may be wrapped as OpenAI has it", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  for (const format of [
    schema,
    { type: "json_schema", json_schema: { name: "x", schema } },
    { type: "json_schema", schema },
  ])
    expect(parseActor({ ...LLM, response_format: format })).toMatchObject({ responseFormat: schema });
});

describe("refused with its place and a suggestion is", () => {
  test.each<[string, unknown, string, string?]>([
    ["an unknown type", { ...LLM, type: "lm" }, "type", "llm"],
    ["no type", { name: "x", description: "x" }, "type"],
    ["a description of nothing", { ...LLM, description: " " }, "description"],
    ["a name of a provider's", { ...LLM, name: "openai/mine" }, "name"],
    ["an unknown key", { ...LLM, sytem_prompt: "x" }, "sytem_prompt", "system_prompt"],
    ["an unknown key in config", { ...LLM, config: { modle: "x" } }, "config.modle", "model"],
    ["an option beside the options", { ...LLM, temperature: 1 }, "temperature"],
    ["an unknown option", { ...LLM, options: { temprature: 1 } }, "options.temprature", "temperature"],
    ["a temperature of 3", { ...LLM, options: { temperature: 3 } }, "options.temperature"],
    ["half a token", { ...LLM, options: { max_tokens: 0.5 } }, "options.max_tokens"],
    ["an endpoint without protection", { ...LLM, options: { base_url: "http://example.com" } }, "options.base_url"],
    ["an endpoint with a password", { ...LLM, options: { base_url: "https://a:b@example.com" } }, "options.base_url"],
    [
      "a scripted model with an endpoint",
      { ...LLM, provider: "scripted", options: { base_url: "http://localhost" } },
      "options",
    ],
    ["a provider that is not a name", { ...LLM, provider: "a b" }, "provider"],
    ["an unknown tool", { ...LLM, tools: ["raed_file"] }, "tools.0", "read_file"],
    ["a tool defined in place", { ...LLM, tools: [{ name: "x", code: "…" }] }, "tools.0"],
    ["a skill", { ...LLM, skills: ["local/x/y"] }, "skills.0"],
    ["an unknown view", { ...LLM, context_view: "excute" }, "context_view", "execute"],
    ["a view that nothing uses", { ...LLM, context_view: "apply" }, "context_view"],
    ["a role, which has no effect", { ...LLM, role_hint: "review" }, "role_hint"],
    ["no memory", { ...LLM, memory: { enabled: false } }, "memory.enabled"],
    ["an answer that is not an object", { ...LLM, response_format: { type: "string" } }, "response_format"],
    ["unsafe in words", { ...LLM, unsafe: "yes" }, "unsafe"],
    ["a version that is none", { ...LLM, version: "new" }, "version"],
    ["a route of a model", { ...LLM, route: ROUTE }, "route"],
    ["a key by its name", { ...LLM, options: { api_key: "x" } }, "options.api_key"],
    ["a key by its form", { ...LLM, system_prompt: `Use sk-${"a1".repeat(20)}` }, "system_prompt"],
    [
      "a key in a parameter",
      withNode({ type: "tool", tool: "write_file", params: { a: [`ghp_${"a1".repeat(18)}`] } }),
      "route.nodes.2.params.a.0",
    ],
    ["tools of a whole graph", { ...GRAPH, tools: ["read_file"] }, "tools"],
    ["a graph without a route", { ...GRAPH, route: undefined }, "route"],
    ["no entry", routed({ entry: undefined }), "route.entry"],
    ["an entry that is not there", routed({ entry: "aa" }), "route.entry", "a"],
    ["an exit that is not there", routed({ exits: ["bb"] }), "route.exits", "b"],
    ["no nodes", routed({ nodes: [] }), "route.nodes"],
    ["an edge from nowhere", routed({ edges: [...ROUTE.edges, { from: "x", to: "a" }] }), "route.edges.1"],
    ["an edge twice", routed({ edges: [...ROUTE.edges, ...ROUTE.edges] }), "route.edges.1"],
    ["two nodes of one id", routed({ nodes: [...NODES, NODES[0]] }), "route.nodes.2"],
    ["an unreachable node", routed({ nodes: [...NODES, { id: "c", type: "llm" }] }), "route.nodes.2"],
    ["a loop without a condition", routed({ edges: [...ROUTE.edges, { from: "b", to: "a" }] }), "route.nodes.0"],
    ["a node that leads to itself", routed({ edges: [...ROUTE.edges, { from: "a", to: "a" }] }), "route.nodes.0"],
    ["an id with a space", routed({ nodes: [{ id: "a b", type: "llm" }] }), "route.nodes.0.id"],
    ["an id that differs from its key", routed({ nodes: { a: { id: "b", type: "llm" } } }), "route.nodes.a.id"],
    ["an unknown type of node", withNode({ type: "tol", x: 1 }), "route.nodes.2.type", "tool"],
    ["a key of another type of node", withNode({ type: "tool", tool: "git_log", prompt: "x" }), "route.nodes.2.prompt"],
    ["a tool node without its tool", withNode({ type: "tool" }), "route.nodes.2.tool"],
    [
      "a check that cannot be read",
      withNode({ type: "validation", tool: "git_log", check: "a = 1" }),
      "route.nodes.2.check",
    ],
    ["a validation without a check", withNode({ type: "validation", tool: "git_log" }), "route.nodes.2.check"],
    ["a condition that leads nowhere", withNode({ type: "conditional", conditions: [{ to: "z" }] }), "route.nodes.2"],
    [
      "a condition without a way",
      withNode({ type: "conditional", conditions: [{ check: "a" }] }),
      "route.nodes.2.conditions.0.to",
    ],
    [
      "an unreachable condition",
      withNode({ type: "conditional", conditions: [{ to: "a" }, { check: "a", to: "b" }] }),
      "route.nodes.2",
    ],
    ["a conditional node that leads nowhere", withNode({ type: "conditional" }), "route.nodes.2"],
    ["a subgraph without its graph", withNode({ type: "subgraph" }), "route.nodes.2.actor_ref"],
    [
      "an unknown function",
      withNode({ type: "function", function: "incremnt" }),
      "route.nodes.2.function",
      "increment",
    ],
    ["a function without its input", withNode({ type: "function", function: "increment" }), "route.nodes.2.input.key"],
    ["an unknown reducer", routed({ state: { a: "apend" } }), "route.state.a", "append"],
    ["a limit of nothing", routed({ limits: { max_visits: 0 } }), "route.limits.max_visits"],
    [
      "an edge under a check",
      routed({ edges: [{ from: "a", to: "b", condition: { check: "x" } }] }),
      "route.edges.0.condition.key",
    ],
    [
      "an edge under another kind of condition",
      routed({ edges: [{ from: "a", to: "b", condition: { type: "regex", key: "a", value: 1 } }] }),
      "route.edges.0.condition.type",
    ],
    ["a file without actors", { actors: {} }, "actors"],
    [
      "a default that is not there",
      { cleveragents: { default_actor: "b" }, actors: { a: { type: "llm" } } },
      "cleveragents.default_actor",
    ],
    ["an actor of the file of no type", { agents: { a: { config: { model: "x" } } } }, "agents.a.type"],
    [
      "a route that is a stream",
      { actors: { a: { type: "llm" } }, routes: { s: { type: "stream" } } },
      "routes.s.type",
    ],
    [
      "a route that is not there",
      { actors: { a: { type: "graph", route: "mian" } }, routes: { main: { ...ROUTE } } },
      "actors.a.route",
      "main",
    ],
    ["one name twice", { actors: { a: { type: "llm" }, "local/A": { type: "llm" } } }, "actors.local/A"],
    ["templates", { actors: { a: { type: "llm" } }, templates: {} }, "templates"],
    [
      "another way of writing templates",
      { cleveragents: { template_engine: "JINJA2" }, actors: { a: { type: "llm" } } },
      "cleveragents.template_engine",
    ],
  ])("%s", (_, input, path, suggestion) => {
    const found = issuesOf(input);
    expect(found.map((issue) => issue.path)).toContain(path);
    if (suggestion !== undefined) expect(found.find((issue) => issue.path === path)?.suggestion).toBe(suggestion);
  });

  test("everything at once", () => {
    const input = { ...LLM, name: "1", typo: 1, options: { temperature: "hot" }, tools: ["x"], memory: 1 };
    expect(
      issuesOf(input)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(["memory", "name", "options.temperature", "tools.0", "typo"]);
  });
});

test("a loop is fine as soon as one edge on it has a condition, or a conditional node is", () => {
  const back = { from: "b", to: "a", condition: { context_value: "b", equals: false } };
  expect(issuesOf(routed({ edges: [...ROUTE.edges, back], exits: ["b"] }))).toEqual([]);
  expect(issuesOf(withNode({ type: "conditional", conditions: [{ check: "b", to: "a" }] }))).toEqual([]);
});

test("a graph of the file is its actor's if one names it, and an actor of its own if none does", () => {
  const names = (input: unknown): string[] => parseActors(input).map(({ name, type }) => `${name} ${type}`);
  const routes = { main: { ...ROUTE, type: "graph" } };
  expect(names({ actors: { a: { type: "graph", route: "main", model: "openai/x" } }, routes })).toEqual([
    "local/a graph",
  ]);
  expect(names({ actors: { a: { type: "llm" } }, routes })).toEqual(["local/a llm", "local/main graph"]);
  expect(names({ cleveragents: { default_actor: "main" }, actors: { a: { type: "llm" } }, routes })).toEqual([
    "local/main graph",
    "local/a llm",
  ]);
  const tool = { type: "tool", steps: [{ tool: "git_status" }] };
  expect(names({ agents: { a: tool, "Team/B": { type: "llm" } } })).toEqual(["local/a tool", "Team/B llm"]);
});

test("one actor is wanted where there is one", () => {
  expect(() => parseActor({ actors: { a: { type: "llm" }, b: { type: "llm" } } })).toThrow("more than one actor");
});

test("a circle of objects is refused like anything else", () => {
  const circle: Record<string, unknown> = { ...LLM };
  circle["options"] = circle;
  circle["response_format"] = { type: "object", properties: circle };
  expect(issuesOf(circle).length).toBeGreaterThan(0);
});

test("every input gives an actor or a ValidationError", () => {
  const keys = fc.constantFrom(
    "name",
    "type",
    "description",
    "route",
    "nodes",
    "edges",
    "entry",
    "config",
    "actors",
    "options",
    "x",
  );
  const { any } = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<unknown>("llm", "graph", "tool", "a", "", null, 1, true, undefined, []),
      fc.dictionary(keys, tie("any")),
      fc.array(tie("any"), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(any, (input) => {
      let actors: ActorDefinition[] = [];
      try {
        actors = parseActors(input);
      } catch (error) {
        expect(error).toBeInstanceOf(ValidationError);
      }
      for (const actor of actors) expect(actor.name).toContain("/");
    }),
    { numRuns: 500 },
  );
});
