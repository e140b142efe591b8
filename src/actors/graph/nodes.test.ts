import { describe, expect, test } from "vitest";
import type { GraphNode } from "../../domain/actor/actor.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { runGraph } from "./run-graph.ts";
import {
  ask,
  chain,
  check,
  choose,
  compute,
  DECISION,
  edge,
  graph,
  input,
  llmActor,
  ports,
  subgraph,
  TestEffects,
  tool,
  type Answers,
} from "./testing/graphs.ts";

/** The result of one node alone. */
async function result(node: GraphNode, state: JsonObject = {}, answers: Answers = {}): Promise<JsonValue> {
  return (await runGraph(graph({ nodes: [node] }), input(state), ports(new TestEffects(answers)))).output;
}

describe("tool and validation", () => {
  test("parameters are filled in; one that is nothing but a key keeps its kind", async () => {
    const effects = new TestEffects();
    const params = { path: "src/{name}.ts", list: ["{items}", "{{name}}"], deep: { n: "{count}" }, flag: true };
    const state = { name: "a", items: [1, 2], count: 3 };
    await runGraph(graph({ nodes: [tool("n", params)] }), input(state), ports(effects));
    expect(effects.called[0]).toEqual({
      key: "run/1.n",
      call: {
        tool: "read_file",
        params: { path: "src/a.ts", list: [[1, 2], "{name}"], deep: { n: 3 }, flag: true },
        decision: DECISION,
      },
    });
  });

  test("a parameter that uses what is not there is refused before the call", async () => {
    const effects = new TestEffects();
    const running = runGraph(graph({ nodes: [tool("n", { path: "src/{constructor}" })] }), input(), ports(effects));
    await expect(running).rejects.toThrow("params.path uses {constructor}, and the state has nothing there");
    expect(effects.called).toEqual([]);
  });

  test("a tool that fails stops the graph; a validation tells it to the state", async () => {
    const answers: Answers = { callTool: () => ({ ok: false, error: "There is no such file." }) };
    await expect(result(tool("n"), {}, answers)).rejects.toMatchObject({
      code: "graph_failed",
      message: 'The node "n" of local/graph failed in round 1: read_file: There is no such file.',
      detail: { graph: "local/graph", node: "n", round: 1 },
    });
    expect(await result(check("n", "true"), {}, answers)).toEqual({ passed: false, error: "There is no such file." });
  });

  test("a validation's check sees the tool's output and the state", async () => {
    const answers: Answers = { callTool: () => ({ ok: true, output: { failures: 2 } }) };
    const node = check("n", "output.failures <= allowed");
    expect(await result(node, { allowed: 2 }, answers)).toEqual({ passed: true, output: { failures: 2 } });
    expect(await result(node, { allowed: 1 }, answers)).toEqual({ passed: false, output: { failures: 2 } });
  });

  test("edges can look below a key", async () => {
    const actor = graph({
      nodes: [
        check("tests", "output == 2"),
        compute("fix", "increment", { key: "fixes" }, { outputKey: "fixes" }),
        tool("end"),
      ],
      edges: [
        edge("tests", "fix", { key: "tests.passed", equals: false }),
        edge("tests", "end", { key: "tests.passed", equals: true }),
        edge("fix", "tests"),
      ],
    });
    let runs = 0;
    const effects = new TestEffects({ callTool: () => ({ ok: true, output: runs++ }) });
    expect((await runGraph(actor, input(), ports(effects))).visits).toEqual({ tests: 3, fix: 2, end: 1 });
  });
});

describe("conditional", () => {
  const actor = graph({
    nodes: [choose("n", ["score > 5", "high"], ["score > 2", "middle"]), tool("high"), tool("middle"), tool("other")],
    edges: [edge("n", "other", { key: "n", equals: null })],
    exits: ["high", "middle", "other"],
  });

  test.each([
    [9, "high"],
    [3, "middle"],
    [1, "other"],
  ])("%d leads to %s", async (score, to) => {
    const { visits } = await runGraph(actor, input({ score }), ports(new TestEffects()));
    expect(visits).toEqual({ n: 1, [to]: 1 });
  });
});

describe("subgraph", () => {
  const inner = graph({ nodes: [ask("say", "{goal}: {topic}{secret}")], exits: ["say"] }, { name: "local/inner" });

  test("has a state of its own; its output comes back, its steps are below the node's", async () => {
    const actor = graph({ nodes: [subgraph("n", "local/inner", { topic: "subject.name", missing: "nothing" })] });
    const effects = new TestEffects();
    const state = { subject: { name: "cats" }, secret: "s" };
    const outcome = await runGraph(actor, input(state), ports(effects, [inner]));
    expect(outcome).toEqual({
      state: { goal: "Make it work", ...state, n: "yes" },
      output: "yes",
      visits: { n: 1 },
    });
    expect(effects.asked[0]).toMatchObject({
      key: "run/1.n/1.say/ask-1",
      call: { messages: [{ role: "user", content: "Make it work: cats" }] },
      about: { parent: DECISION },
    });
  });

  test("graphs that lead into each other are found before any model is asked", async () => {
    const a = graph(
      { nodes: [ask("first", "x"), subgraph("n", "local/b")], edges: chain("first", "n") },
      { name: "local/a" },
    );
    const b = graph({ nodes: [subgraph("n", "local/a")] }, { name: "local/b" });
    const effects = new TestEffects();
    await expect(runGraph(a, input(), ports(effects, [a, b]))).rejects.toThrow(
      "The graphs lead into each other: local/a → local/b → local/a.",
    );
    expect(effects.asked).toEqual([]);
  });

  test("many levels of twice the same are prepared once each, and keys stay short and different", async () => {
    const long = "x".repeat(80);
    const levels = Array.from({ length: 6 }, (_, level) =>
      graph(
        {
          nodes: [subgraph(`a${long}`, `local/l${level + 1}`), subgraph(`b${long}`, `local/l${level + 1}`)],
          edges: chain(`a${long}`, `b${long}`),
        },
        { name: `local/l${level}` },
      ),
    );
    const last = graph({ nodes: [ask("say", "x")] }, { name: "local/l6" });
    const [first] = levels;
    if (first === undefined) throw new Error("there are levels");
    const effects = new TestEffects();
    let looked = 0;
    const around = ports(effects, [...levels, last]);
    const counted = {
      ...around,
      actorOf: async (name: Parameters<typeof around.actorOf>[0]) => {
        looked += 1;
        return await around.actorOf(name);
      },
    };
    await runGraph(first, input(), counted);
    expect(looked).toBeLessThan(20);
    expect(effects.asked).toHaveLength(64);
    expect(Math.max(...effects.asked.map(({ key }) => key.length))).toBeLessThan(140);
  });

  test.each([
    [subgraph("n", "local/someone"), "must name an actor of type graph, and local/someone is of type llm"],
    [ask("n", "x", { actorRef: "local/inner" }), "must name an actor of type llm, and local/inner is of type graph"],
  ])("a reference to something else", async (node, message) => {
    const running = runGraph(
      graph({ nodes: [node] }),
      input(),
      ports(new TestEffects(), [inner, llmActor("local/someone")]),
    );
    await expect(running).rejects.toThrow(message);
  });

  test("an error inside is told with both places", async () => {
    const actor = graph({ nodes: [subgraph("n", "local/inner")] });
    const running = runGraph(actor, input(), ports(new TestEffects({ ask: () => "" }), [inner]));
    await expect(running).rejects.toThrow(
      'The node "n" of local/graph failed in round 1: The node "say" of local/inner failed in round 1: the model answered nothing.',
    );
  });
});

describe("function", () => {
  test.each([
    ["set", { value: { text: "{a}", list: "{list}" } }, { text: "x", list: [1, 2] }],
    ["increment", { key: "count" }, 4],
    ["increment", { key: "nothing", by: -2 }, -2],
    ["concat", { keys: ["a", "count", "nothing"], separator: "-" }, "x-3-"],
    ["concat", { keys: ["list", "list"] }, [1, 2, 1, 2]],
    ["pick", { key: "deep", path: "list.1.name" }, "second"],
    ["pick", { key: "deep", path: "constructor" }, null],
    ["length", { key: "list" }, 2],
    ["length", { key: "nothing" }, 0],
  ] as const)("%s %j", async (name, given, expected) => {
    const state = { a: "x", count: 3, list: [1, 2], deep: { list: [{}, { name: "second" }] } };
    expect(await result(compute("n", name, given), state)).toEqual(expected);
  });

  test("what cannot be incremented", async () => {
    await expect(result(compute("n", "increment", { key: "a" }), { a: "x" })).rejects.toThrow(
      '"a" is a text, and only a number can be incremented',
    );
  });

  test("input that the function does not take is found before anything runs", async () => {
    const effects = new TestEffects();
    const nodes = [ask("a", "x"), compute("n", "increment", { kye: "count" })];
    await expect(runGraph(graph({ nodes, edges: chain("a", "n") }), input(), ports(effects))).rejects.toMatchObject({
      code: "validation",
      issues: expect.arrayContaining([
        { path: "route.nodes.1.input.key", message: "is required" },
        { path: "route.nodes.1.input.kye", message: "unknown key", suggestion: "key" },
      ]),
    });
    expect(effects.asked).toEqual([]);
  });
});
