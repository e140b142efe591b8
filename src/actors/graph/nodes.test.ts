import { describe, expect, test } from "vitest";
import { StaleLeaseError } from "../../domain/errors.ts";
import type { GraphNode } from "../../domain/actor.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { ModelError } from "../model-error.ts";
import { TURN_LIMIT } from "./ask-node.ts";
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
  TestHands,
  tool,
  wants,
  type Answers,
} from "./testing/graphs.ts";

/** The result of one node alone. */
async function result(node: GraphNode, state: JsonObject = {}, answers: Answers = {}): Promise<JsonValue> {
  return (await runGraph(graph({ nodes: [node] }), input(state), ports(new TestHands(answers)))).output;
}

describe("llm", () => {
  test("asks the graph's own model, with its system prompt and options", async () => {
    const own = { ...graph({ nodes: [ask("n", "Do {goal}{nothing}")] }), options: { temperature: 0.5, topP: 1 } };
    const hands = new TestHands();
    await runGraph(own, input(), ports(hands));
    expect(hands.asked).toEqual([
      {
        key: "run/1.n/ask-1",
        call: {
          model: { provider: "vllm", model: "qwen3" },
          system: "You are part of a graph.",
          messages: [{ role: "user", content: "Do Make it work" }],
          tools: [],
          settings: { temperature: 0.5, topP: 1 },
        },
        about: { type: "implementation_choice", question: 'What does the node "n" answer?', parent: DECISION },
      },
    ]);
  });

  test("or another actor, with its own", async () => {
    const reviewer = llmActor("local/reviewer", {
      model: "llama4",
      systemPrompt: "You review.",
      options: { maxOutputTokens: 9 },
    });
    const hands = new TestHands();
    const nodes = [ask("n", "Review", { actorRef: "local/reviewer", description: "Is it good?" })];
    await runGraph(graph({ nodes }), input(), ports(hands, [reviewer]));
    expect(hands.asked[0]).toMatchObject({
      call: { model: { model: "llama4" }, system: "You review.", settings: { maxOutputTokens: 9 } },
      about: { question: "Is it good?" },
    });
  });

  test("is told first what all are told, also inside of inner graphs", async () => {
    const inner = graph({ nodes: [ask("in", "x", { systemPrompt: "Inside." })] }, { name: "local/inner" });
    const hands = new TestHands();
    const actor = graph({ nodes: [ask("out", "x"), subgraph("n", "local/inner")], edges: chain("out", "n") });
    await runGraph(actor, { ...input(), briefing: "Never touch main." }, ports(hands, [inner]));
    expect(hands.asked.map(({ call }) => call.system)).toEqual([
      "Never touch main.\n\nYou are part of a graph.",
      "Never touch main.\n\nInside.",
    ]);
  });

  test("uses the tools of the node turn by turn, each call for the decision it was made by", async () => {
    const said = [
      wants({ tool: "read_file", parameters: { path: "a" } }, { tool: "write_file", parameters: { path: "b" } }),
      wants({ tool: "read_file", parameters: { path: "b" } }),
      "done",
    ];
    const answers: Answers = {
      ask: () => said.shift() ?? "",
      callTool: ({ tool: name }) =>
        name === "write_file" ? { ok: false, error: "It is read-only." } : { ok: true, output: [1] },
    };
    const hands = new TestHands(answers);
    const nodes = [ask("n", "Go", { tools: ["read_file", "write_file"] })];
    expect((await runGraph(graph({ nodes }), input(), ports(hands))).output).toBe("done");
    expect(hands.called).toEqual([
      {
        key: "run/1.n/call-1.1",
        call: { tool: "read_file", params: { path: "a" }, decision: "decision of run/1.n/ask-1" },
      },
      {
        key: "run/1.n/call-1.2",
        call: { tool: "write_file", params: { path: "b" }, decision: "decision of run/1.n/ask-1" },
      },
      {
        key: "run/1.n/call-2.1",
        call: { tool: "read_file", params: { path: "b" }, decision: "decision of run/1.n/ask-2" },
      },
    ]);
    expect(hands.asked.map(({ about }) => about.type)).toEqual([
      "implementation_choice",
      "error_recovery",
      "implementation_choice",
    ]);
    expect(hands.asked[1]?.call.messages.slice(1)).toMatchObject([
      { role: "assistant", toolCalls: [{ id: "call-0" }, { id: "call-1" }] },
      { role: "tool", callId: "call-0", output: [1], failed: false },
      { role: "tool", callId: "call-1", output: "It is read-only.", failed: true },
    ]);
    expect(hands.asked[0]?.call.messages).toHaveLength(1);
  });

  test("has no tools but those of the node, and hears so; parameters that are none are told too", async () => {
    const said = [
      wants({ tool: "shell_execute", parameters: {} }, { tool: "read_file", parameters: undefined }),
      "then not",
    ];
    const hands = new TestHands({ ask: () => said.shift() ?? "" });
    const nodes = [ask("n", "Go", { tools: ["read_file"] })];
    await runGraph(graph({ nodes }), input(), ports(hands));
    expect(hands.called).toEqual([]);
    expect(hands.asked[1]?.call.messages.slice(2)).toMatchObject([
      { output: 'There is no tool "shell_execute". There are: read_file.', failed: true },
      { output: 'The parameters are no JSON object: "nonsense"', failed: true },
    ]);
  });

  test("is shown no more of its conversation than its memory holds, and no more of an output than fits", async () => {
    const said = Array.from({ length: 4 }, () => wants({ tool: "read_file", parameters: {} }));
    const hands = new TestHands({
      ask: () => said.shift() ?? "done",
      callTool: () => ({ ok: true, output: "x".repeat(60_000) }),
    });
    const nodes = [ask("n", "Go", { tools: ["read_file"] })];
    await runGraph({ ...graph({ nodes }), memory: { maxMessages: 3 } }, input(), ports(hands));
    const last = hands.asked.at(-1)?.call.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(JSON.stringify(last[2])).toContain("[cut here: 50000 of 60000 characters are shown");
  });

  test("asks for tools for ever: an error that keeps the work", async () => {
    const hands = new TestHands({ ask: () => wants({ tool: "read_file", parameters: {} }) });
    const nodes = [ask("n", "Go", { tools: ["read_file"] })];
    await expect(runGraph(graph({ nodes }), input(), ports(hands))).rejects.toMatchObject({
      code: "graph_limit",
      message: expect.stringContaining(
        'The node "n" of local/graph failed in round 1: its model asked for tools 25 times',
      ),
      kept: expect.stringContaining("recorded"),
    });
    expect(hands.called).toHaveLength(TURN_LIMIT);
  });

  test.each([
    ["nothing", { text: " \n" }, "the model answered nothing"],
    ["half of it", { text: "Once upon a", finish: "length" } as const, "cut off"],
  ])("answers %s", async (_, said, message) => {
    await expect(result(ask("n", "Go"), {}, { ask: () => said })).rejects.toThrow(message);
  });
});

describe("response_format", () => {
  const responseFormat = {
    type: "object",
    properties: { verdict: { enum: ["pass", "fail"] } },
    required: ["verdict"],
  };
  const judged = graph({ nodes: [ask("before", "a"), ask("n", "b")], edges: chain("before", "n") }, { responseFormat });

  test.each(['{"verdict":"pass","why":"fine"}', '```json\n{"verdict": "pass", "why": "fine"}\n```\n'])(
    "the last answer is the data it stands for: %s",
    async (text) => {
      const hands = new TestHands({ ask: (_, key) => (key.includes("before") ? "free text" : text) });
      const { output } = await runGraph(judged, input(), ports(hands));
      expect(output).toEqual({ verdict: "pass", why: "fine" });
      expect(hands.asked.map(({ call }) => call.responseSchema)).toEqual([undefined, responseFormat]);
    },
  );

  test.each([
    ["It is fine.", "no JSON"],
    ['{"verdict":"maybe"}', "verdict"],
    ["{}", "verdict"],
  ])("%s does not fit", async (text, problem) => {
    const running = runGraph(judged, input(), ports(new TestHands({ ask: () => text })));
    await expect(running).rejects.toMatchObject({ code: "graph_failed", message: expect.stringContaining(problem) });
  });

  test("also of an exit that asks no model", async () => {
    const nodes = [compute("n", "set", { value: { verdict: "perhaps" } })];
    await expect(runGraph(graph({ nodes }, { responseFormat }), input(), ports(new TestHands()))).rejects.toThrow(
      "local/graph failed: the answer does not fit its response_format",
    );
  });
});

describe("tool and validation", () => {
  test("parameters are filled in; one that is nothing but a key keeps its kind", async () => {
    const hands = new TestHands();
    const params = { path: "src/{name}.ts", list: ["{items}", "{{name}}"], deep: { n: "{count}" }, flag: true };
    const state = { name: "a", items: [1, 2], count: 3 };
    await runGraph(graph({ nodes: [tool("n", params)] }), input(state), ports(hands));
    expect(hands.called[0]).toEqual({
      key: "run/1.n",
      call: {
        tool: "read_file",
        params: { path: "src/a.ts", list: [[1, 2], "{name}"], deep: { n: 3 }, flag: true },
        decision: DECISION,
      },
    });
  });

  test("a parameter that uses what is not there is refused before the call", async () => {
    const hands = new TestHands();
    const running = runGraph(graph({ nodes: [tool("n", { path: "src/{constructor}" })] }), input(), ports(hands));
    await expect(running).rejects.toThrow("params.path uses {constructor}, and the state has nothing there");
    expect(hands.called).toEqual([]);
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
    const hands = new TestHands({ callTool: () => ({ ok: true, output: runs++ }) });
    expect((await runGraph(actor, input(), ports(hands))).visits).toEqual({ tests: 3, fix: 2, end: 1 });
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
    const { visits } = await runGraph(actor, input({ score }), ports(new TestHands()));
    expect(visits).toEqual({ n: 1, [to]: 1 });
  });
});

describe("subgraph", () => {
  const inner = graph({ nodes: [ask("say", "{goal}: {topic}{secret}")], exits: ["say"] }, { name: "local/inner" });

  test("has a state of its own; its output comes back, its steps are below the node's", async () => {
    const actor = graph({ nodes: [subgraph("n", "local/inner", { topic: "subject.name", missing: "nothing" })] });
    const hands = new TestHands();
    const state = { subject: { name: "cats" }, secret: "s" };
    const outcome = await runGraph(actor, input(state), ports(hands, [inner]));
    expect(outcome).toEqual({
      state: { goal: "Make it work", ...state, n: "yes" },
      output: "yes",
      visits: { n: 1 },
    });
    expect(hands.asked[0]).toMatchObject({
      key: "run/1.n/1.say/ask-1",
      call: { messages: [{ role: "user", content: "Make it work: cats" }] },
      about: { parent: DECISION },
    });
  });

  test("graphs that lead into each other are found before anybody is asked", async () => {
    const a = graph(
      { nodes: [ask("first", "x"), subgraph("n", "local/b")], edges: chain("first", "n") },
      { name: "local/a" },
    );
    const b = graph({ nodes: [subgraph("n", "local/a")] }, { name: "local/b" });
    const hands = new TestHands();
    await expect(runGraph(a, input(), ports(hands, [a, b]))).rejects.toThrow(
      "The graphs lead into each other: local/a → local/b → local/a.",
    );
    expect(hands.asked).toEqual([]);
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
    const hands = new TestHands();
    let looked = 0;
    const around = ports(hands, [...levels, last]);
    const counted = {
      ...around,
      actorOf: async (name: Parameters<typeof around.actorOf>[0]) => {
        looked += 1;
        return await around.actorOf(name);
      },
    };
    await runGraph(first, input(), counted);
    expect(looked).toBeLessThan(20);
    expect(hands.asked).toHaveLength(64);
    expect(Math.max(...hands.asked.map(({ key }) => key.length))).toBeLessThan(140);
  });

  test.each([
    [subgraph("n", "local/someone"), "must name an actor of type graph, and local/someone is of type llm"],
    [ask("n", "x", { actorRef: "local/inner" }), "must name an actor of type llm, and local/inner is of type graph"],
  ])("a reference to something else", async (node, message) => {
    const running = runGraph(
      graph({ nodes: [node] }),
      input(),
      ports(new TestHands(), [inner, llmActor("local/someone")]),
    );
    await expect(running).rejects.toThrow(message);
  });

  test("an error inside is told with both places", async () => {
    const actor = graph({ nodes: [subgraph("n", "local/inner")] });
    const running = runGraph(actor, input(), ports(new TestHands({ ask: () => "" }), [inner]));
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
    const hands = new TestHands();
    const nodes = [ask("a", "x"), compute("n", "increment", { kye: "count" })];
    await expect(runGraph(graph({ nodes, edges: chain("a", "n") }), input(), ports(hands))).rejects.toMatchObject({
      code: "validation",
      issues: expect.arrayContaining([
        { path: "route.nodes.1.input.key", message: "is required" },
        { path: "route.nodes.1.input.kye", message: "unknown key", suggestion: "key" },
      ]),
    });
    expect(hands.asked).toEqual([]);
  });
});

describe("failures", () => {
  const model = { provider: "vllm", model: "qwen3" };
  const two = graph({
    nodes: [compute("start", "set", { value: 1 }), ask("a", "a"), ask("b", "b")],
    edges: [edge("start", "a"), edge("start", "b")],
  });

  test("the others of the round are waited for, and are not repeated; the first one in the file is told", async () => {
    let broken = true;
    const hands = new TestHands({
      ask: async (_, key) => {
        if (key.includes(".b/")) await new Promise((resolve) => setTimeout(resolve, 20));
        else if (broken) throw new ModelError("server", "The provider failed.", { model });
        return key;
      },
    });
    const failed = runGraph(two, input(), ports(hands));
    await expect(failed).rejects.toMatchObject({
      code: "model_server",
      message: 'The node "a" of local/graph failed in round 2: The provider failed.',
      detail: { node: "a", round: 2, provider: "vllm" },
      next: [expect.any(String), expect.any(String)],
    });
    broken = false;
    const { state } = await runGraph(two, input(), ports(hands));
    expect(state).toMatchObject({ a: "run/2.a/ask-1", b: "run/2.b/ask-1" });
    expect(hands.asked.filter(({ key }) => key.includes(".b/"))).toHaveLength(1);
  });

  test("had to go on: what failed is tried again, what has a record is not, and limits begin anew", async () => {
    let [broken, count] = [true, 0];
    const hands = new TestHands({
      callTool: (_, key) => {
        if (key.includes(".work")) count += 1;
        return broken && key.includes(".end") ? { ok: false, error: "no" } : { ok: true, output: count };
      },
    });
    const actor = graph({
      nodes: [tool("work"), choose("enough", ["work >= 3", "end"], [undefined, "work"]), tool("end")],
      edges: chain("work", "enough"),
      limits: { maxVisits: 2, maxRounds: 100 },
    });
    const goOn = async (gaveUp: number): Promise<unknown> =>
      runGraph(actor, { ...input(), gaveUp }, ports(hands)).then(
        ({ visits }) => visits,
        (error: unknown) => error,
      );
    expect(await goOn(0)).toMatchObject({ code: "graph_limit" });
    expect(await goOn(0)).toMatchObject({ code: "graph_limit" });
    expect(count).toBe(2);
    expect(await goOn(1)).toMatchObject({ message: 'The node "end" of local/graph failed in round 7: read_file: no.' });
    broken = false;
    expect(await goOn(1)).toMatchObject({ code: "graph_failed" });
    expect(await goOn(2)).toEqual({ work: 3, enough: 3, end: 1 });
    expect(hands.called.map(({ key }) => key)).toEqual([
      "run/1.work",
      "run/3.work",
      "run/5.work",
      "run/7.end",
      "run/7.end/try-2",
      "run/7.end/try-3",
    ]);
  });

  test("what is about the whole run is told first", async () => {
    const lost = new StaleLeaseError("The lease is no longer held.");
    const answers: Answers = {
      ask: (_, key) => {
        if (key.includes(".b/")) throw lost;
        return "";
      },
    };
    await expect(runGraph(two, input(), ports(new TestHands(answers)))).rejects.toBe(lost);
  });

  test.each([
    new StaleLeaseError("The lease is no longer held."),
    new ModelError("cancelled", "It was stopped.", { model }),
    new Error("a defect"),
  ])("what is about the whole run stays what it is: $message", async (error) => {
    const answers: Answers = {
      ask: () => {
        throw error;
      },
    };
    await expect(runGraph(two, input(), ports(new TestHands(answers)))).rejects.toBe(error);
  });
});
