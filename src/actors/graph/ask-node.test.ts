import { describe, expect, test } from "vitest";
import { TURN_LIMIT } from "./ask-node.ts";
import { runGraph } from "./run-graph.ts";
import {
  ask,
  chain,
  compute,
  DECISION,
  graph,
  input,
  llmActor,
  ports,
  subgraph,
  TestEffects,
  wants,
  type Answers,
} from "./testing/graphs.ts";

describe("llm", () => {
  test("asks the graph's own model, with its system prompt and options", async () => {
    const own = { ...graph({ nodes: [ask("n", "Do {goal}{nothing}")] }), options: { temperature: 0.5, topP: 1 } };
    const effects = new TestEffects();
    await runGraph(own, input(), ports(effects));
    expect(effects.asked).toEqual([
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
    const effects = new TestEffects();
    const nodes = [ask("n", "Review", { actorRef: "local/reviewer", description: "Is it good?" })];
    await runGraph(graph({ nodes }), input(), ports(effects, [reviewer]));
    expect(effects.asked[0]).toMatchObject({
      call: { model: { model: "llama4" }, system: "You review.", settings: { maxOutputTokens: 9 } },
      about: { question: "Is it good?" },
    });
  });

  test("is told first what all are told, also inside of inner graphs", async () => {
    const inner = graph({ nodes: [ask("in", "x", { systemPrompt: "Inside." })] }, { name: "local/inner" });
    const effects = new TestEffects();
    const actor = graph({ nodes: [ask("out", "x"), subgraph("n", "local/inner")], edges: chain("out", "n") });
    await runGraph(actor, { ...input(), briefing: "Never touch main." }, ports(effects, [inner]));
    expect(effects.asked.map(({ call }) => call.system)).toEqual([
      "Never touch main.\n\nYou are part of a graph.",
      "Never touch main.\n\nInside.",
    ]);
  });

  test("uses the tools of the node turn by turn, each call for the decision it was made by", async () => {
    const said = [
      wants({ tool: "read_file", params: { path: "a" } }, { tool: "write_file", params: { path: "b" } }),
      wants({ tool: "read_file", params: { path: "b" } }),
      "done",
    ];
    const answers: Answers = {
      ask: () => said.shift() ?? "",
      callTool: ({ tool: name }) =>
        name === "write_file" ? { ok: false, error: "It is read-only." } : { ok: true, output: [1] },
    };
    const effects = new TestEffects(answers);
    const nodes = [ask("n", "Go", { tools: ["read_file", "write_file"] })];
    expect((await runGraph(graph({ nodes }), input(), ports(effects))).output).toBe("done");
    expect(effects.called).toEqual([
      {
        key: "run/1.n/call-1.1",
        call: { tool: "read_file", params: { path: "a" }, decision: "decision of run/1.n/ask-1", forModel: true },
      },
      {
        key: "run/1.n/call-1.2",
        call: { tool: "write_file", params: { path: "b" }, decision: "decision of run/1.n/ask-1", forModel: true },
      },
      {
        key: "run/1.n/call-2.1",
        call: { tool: "read_file", params: { path: "b" }, decision: "decision of run/1.n/ask-2", forModel: true },
      },
    ]);
    expect(effects.asked.map(({ about }) => about.type)).toEqual([
      "implementation_choice",
      "error_recovery",
      "implementation_choice",
    ]);
    expect(effects.asked[1]?.call.messages.slice(1)).toMatchObject([
      { role: "assistant", toolCalls: [{ id: "call-0" }, { id: "call-1" }] },
      { role: "tool", callId: "call-0", output: "[1]", failed: false },
      { role: "tool", callId: "call-1", output: "It is read-only.", failed: true },
    ]);
    expect(effects.asked[0]?.call.messages).toHaveLength(1);
  });

  test("has no tools but those of the node, and hears so; parameters that are none are told too", async () => {
    const said = [wants({ tool: "shell_execute", params: {} }, { tool: "read_file", params: undefined }), "then not"];
    const effects = new TestEffects({ ask: () => said.shift() ?? "" });
    const nodes = [ask("n", "Go", { tools: ["read_file"] })];
    await runGraph(graph({ nodes }), input(), ports(effects));
    expect(effects.called).toEqual([]);
    expect(effects.asked[1]?.call.messages.slice(2)).toMatchObject([
      { output: 'There is no tool "shell_execute". There are: read_file.', failed: true },
      { output: 'The parameters are not a JSON object: "nonsense"', failed: true },
    ]);
  });

  test("is shown no more of its conversation than its memory holds, and no more of an output than fits", async () => {
    const said = Array.from({ length: 4 }, () => wants({ tool: "read_file", params: {} }));
    const effects = new TestEffects({
      ask: () => said.shift() ?? "done",
      callTool: () => ({ ok: true, output: "x".repeat(90_000) }),
    });
    const nodes = [ask("n", "Go", { tools: ["read_file"] })];
    await runGraph({ ...graph({ nodes }), memory: { maxMessages: 3 } }, input(), ports(effects));
    const last = effects.asked.at(-1)?.call.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(JSON.stringify(last[2])).toContain("[cut here: 80000 of 90000 characters are shown");
  });

  test("asks for tools for ever: an error that keeps the work", async () => {
    const effects = new TestEffects({ ask: () => wants({ tool: "read_file", params: {} }) });
    const nodes = [ask("n", "Go", { tools: ["read_file"] })];
    await expect(runGraph(graph({ nodes }), input(), ports(effects))).rejects.toMatchObject({
      code: "graph_limit",
      message: expect.stringContaining(
        'The node "n" of local/graph failed in round 1: its model asked for tools 25 times',
      ),
      kept: expect.stringContaining("recorded"),
    });
    expect(effects.called).toHaveLength(TURN_LIMIT);
  });

  test.each([
    ["nothing", { text: " \n" }, "the model answered nothing"],
    ["half of it", { text: "Once upon a", finish: "length" } as const, "cut off"],
  ])("answers %s", async (_, said, message) => {
    const effects = new TestEffects({ ask: () => said });
    await expect(runGraph(graph({ nodes: [ask("n", "Go")] }), input(), ports(effects))).rejects.toThrow(message);
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
      const effects = new TestEffects({ ask: (_, key) => (key.includes("before") ? "free text" : text) });
      const { output } = await runGraph(judged, input(), ports(effects));
      expect(output).toEqual({ verdict: "pass", why: "fine" });
      expect(effects.asked.map(({ call }) => call.responseSchema)).toEqual([undefined, responseFormat]);
    },
  );

  test.each([
    ["It is fine.", "not JSON"],
    ['{"verdict":"maybe"}', "verdict"],
    ["{}", "verdict"],
  ])("%s does not fit", async (text, problem) => {
    const running = runGraph(judged, input(), ports(new TestEffects({ ask: () => text })));
    await expect(running).rejects.toMatchObject({ code: "graph_failed", message: expect.stringContaining(problem) });
  });

  test("also of an exit that asks no model", async () => {
    const nodes = [compute("n", "set", { value: { verdict: "perhaps" } })];
    await expect(runGraph(graph({ nodes }, { responseFormat }), input(), ports(new TestEffects()))).rejects.toThrow(
      "local/graph failed: the answer does not fit its response_format",
    );
  });
});
