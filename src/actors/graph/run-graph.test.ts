import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import { runGraph, type GraphOutcome, type NodeEvent } from "./run-graph.ts";
import {
  ask,
  chain,
  choose,
  compute,
  edge,
  graph,
  input,
  ports,
  TestEffects,
  tool,
  type Answers,
} from "./testing/graphs.ts";

const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

type Graph = ReturnType<typeof graph>;

async function run(actor: Graph, answers: Answers = {}, state = {}): Promise<GraphOutcome & { effects: TestEffects }> {
  const effects = new TestEffects(answers);
  return { ...(await runGraph(actor, input(state), ports(effects))), effects };
}

describe("rounds", () => {
  test("a chain: each node sees what the one before it returned", async () => {
    const actor = graph({
      nodes: [ask("draft", "{goal}"), ask("review", "Review {draft}", { outputKey: "verdict" })],
      edges: chain("draft", "review"),
    });
    const answers: Answers = { ask: ({ messages: [first] }) => (first?.role === "user" ? `<${first.content}>` : "") };
    const { state, output, visits, effects } = await run(actor, answers);
    expect(output).toBe("<Review <Make it work>>");
    expect(state).toEqual({ goal: "Make it work", draft: "<Make it work>", verdict: output });
    expect(visits).toEqual({ draft: 1, review: 1 });
    expect(effects.asked.map(({ key }) => key)).toEqual(["run/1.draft/ask-1", "run/2.review/ask-1"]);
  });

  test(`20 nodes at once that append: all 20, in the order of the file, however late they are (seed ${SEED})`, async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const nodes = names.map((name) => ask(name, name, { outputKey: "log" }));
    const actor = graph({
      nodes: [compute("start", "set", { value: 0 }), ...nodes, compute("end", "length", { key: "log" })],
      edges: names.flatMap((name) => [edge("start", name), edge(name, "end")]),
      state: { log: "append" },
    });
    const random = seededRandom(SEED);
    const arrivals = new Set<string>();
    for (let time = 0; time < 20; time += 1) {
      const arrived: string[] = [];
      const answers: Answers = {
        ask: async (_, key) => {
          await sleep(random() * 20);
          const name = key.replace(/^run\/2\.|\/ask-1$/g, "");
          arrived.push(name);
          return name;
        },
      };
      const { state, output } = await run(actor, answers);
      expect(state["log"]).toEqual(names);
      expect(output).toBe(20);
      arrivals.add(arrived.join());
    }
    // Otherwise this would say nothing about order.
    expect(arrivals.size).toBeGreaterThan(15);
  });

  test("nodes of one round do not see each other's results", async () => {
    const actor = graph({
      nodes: [
        compute("start", "set", { value: "old" }, { outputKey: "word" }),
        compute("writes", "set", { value: "new" }, { outputKey: "word" }),
        ask("reads", "The word is {word}"),
        ask("end", "The word is {word}"),
      ],
      edges: [edge("start", "writes"), edge("start", "reads"), edge("writes", "end"), edge("reads", "end")],
    });
    const { effects } = await run(actor);
    expect(effects.asked.map(({ call }) => call.messages[0])).toEqual([
      { role: "user", content: "The word is old" },
      { role: "user", content: "The word is new" },
    ]);
  });

  test("what a tool is handed of the state cannot be changed for the others", async () => {
    const actor = graph({
      nodes: [
        compute("list", "set", { value: ["a"] }),
        tool("one", { items: "{list}" }),
        tool("two", { items: "{list}" }),
      ],
      edges: [edge("list", "one"), edge("list", "two")],
    });
    const answers: Answers = {
      callTool: ({ params }) => {
        const { items } = params as { items: string[] };
        expect(() => items.push("b")).toThrow(TypeError);
        return { ok: true, output: [...items] };
      },
    };
    expect((await run(actor, answers)).state).toMatchObject({ one: ["a"], two: ["a"] });
  });

  test("the state that was given is not touched", async () => {
    const given = { list: ["a"] };
    const actor = graph({
      nodes: [compute("n", "set", { value: "b" }, { outputKey: "list" })],
      state: { list: "append" },
    });
    expect((await run(actor, {}, given)).state["list"]).toEqual(["a", "b"]);
    given.list.push("still mine");
    expect(given.list).toEqual(["a", "still mine"]);
  });

  test("who watches hears of each node", async () => {
    const events: NodeEvent[] = [];
    const actor = graph({ nodes: [tool("a"), tool("b")], edges: chain("a", "b") });
    const answers: Answers = {
      callTool: (_, key) => (key.endsWith("b") ? { ok: false, error: "no" } : { ok: true, output: 1 }),
    };
    const watched = ports(new TestEffects(answers), [], { onNode: (event) => events.push(event) });
    await expect(runGraph(actor, input(), watched)).rejects.toThrow("read_file: no");
    expect(events.map(({ node, round, key, happened }) => [node, round, key, happened])).toEqual([
      ["a", 1, "run/1.a", "begun"],
      ["a", 1, "run/1.a", "ended"],
      ["b", 2, "run/2.b", "begun"],
      ["b", 2, "run/2.b", "failed"],
    ]);
  });
});

describe("joins", () => {
  test("ways of different length come together once, after the longest", async () => {
    const actor = graph({
      nodes: [
        tool("start"),
        tool("short"),
        tool("long1"),
        tool("long2"),
        tool("long3"),
        ask("join", "{long3} {short}"),
      ],
      edges: [...chain("start", "short", "join"), ...chain("start", "long1", "long2", "long3", "join")],
    });
    const { visits, effects } = await run(actor);
    expect(visits).toMatchObject({ join: 1 });
    expect(effects.asked.map(({ key }) => key)).toEqual(["run/5.join/ask-1"]);
  });

  test("no node waits for a path that was not taken", async () => {
    const actor = graph({
      nodes: [compute("start", "set", { value: 1 }), tool("a"), tool("b"), tool("join")],
      edges: [
        edge("start", "a", { key: "start", equals: 1 }),
        edge("start", "b", { key: "start", equals: 2 }),
        edge("a", "join"),
        edge("b", "join"),
      ],
    });
    expect((await run(actor)).visits).toEqual({ start: 1, a: 1, join: 1 });
  });

  test("within a loop, each time around", async () => {
    const actor = graph({
      nodes: [
        compute("count", "increment", { key: "count" }),
        tool("short"),
        tool("long1"),
        tool("long2"),
        tool("join"),
        choose("again", ["count < 3", "count"], [undefined, "end"]),
        tool("end"),
      ],
      edges: [...chain("count", "short", "join", "again"), ...chain("count", "long1", "long2", "join")],
    });
    expect((await run(actor)).visits).toEqual({ count: 3, short: 3, long1: 3, long2: 3, join: 3, again: 3, end: 1 });
  });

  test("of a loop beside it, until the loop has ended", async () => {
    const actor = graph({
      nodes: [
        tool("start"),
        compute("count", "increment", { key: "count" }),
        tool("side"),
        compute("join", "length", { key: "count" }),
      ],
      edges: [
        edge("start", "count"),
        ...chain("start", "side", "join"),
        edge("count", "count", { key: "count", equals: 1 }),
        edge("count", "join", { key: "count", equals: 2 }),
      ],
    });
    const { visits } = await run(actor);
    expect(visits).toEqual({ start: 1, count: 2, side: 1, join: 1 });
  });
});

describe("loops and limits", () => {
  const loop = (limits: { maxVisits: number; maxRounds: number }): Graph =>
    graph({
      nodes: [tool("work"), choose("enough", ['"never" in work', "end"], [undefined, "work"]), tool("end")],
      edges: chain("work", "enough"),
      limits,
    });

  test("a node that runs too often ends the graph, before it runs once more", async () => {
    const effects = new TestEffects();
    const running = runGraph(loop({ maxVisits: 3, maxRounds: 100 }), input(), ports(effects));
    await expect(running).rejects.toMatchObject({
      code: "graph_limit",
      message:
        'local/graph does not come to an end: the node "work" has run 3 times, which is its limit, and would run again in round 7.',
      detail: { node: "work", round: 7 },
      kept: expect.stringContaining("recorded"),
    });
    expect(effects.called).toHaveLength(3);
  });

  test("so do too many rounds", async () => {
    const effects = new TestEffects();
    const running = runGraph(loop({ maxVisits: 100, maxRounds: 4 }), input(), ports(effects));
    await expect(running).rejects.toMatchObject({
      code: "graph_limit",
      message: expect.stringContaining("after 4 rounds"),
    });
    expect(effects.called).toHaveLength(2);
  });

  test("a stop is noticed between two rounds", async () => {
    const controller = new AbortController();
    const stop: Answers = {
      callTool: () => {
        controller.abort(new Error("stopped"));
        return { ok: true, output: 1 };
      },
    };
    const effects = new TestEffects(stop, controller.signal);
    const running = runGraph(loop({ maxVisits: 100, maxRounds: 1_000 }), input(), ports(effects));
    await expect(running).rejects.toThrow("stopped");
    expect(effects.called).toHaveLength(1);
  });
});

describe("ends", () => {
  test("the output is what the exit that ran last returned", async () => {
    const actor = graph({
      nodes: [tool("start"), compute("exit", "set", { value: null }, { outputKey: "log" })],
      edges: chain("start", "exit"),
      state: { log: "append" },
    });
    expect(await run(actor)).toMatchObject({ output: null, state: { log: [null] } });
  });

  test("of several in that round, one for each", async () => {
    const actor = graph({
      nodes: [tool("start"), compute("a", "set", { value: 1 }), compute("b", "set", { value: 2 })],
      edges: [edge("start", "a"), edge("start", "b")],
      exits: ["a", "b"],
    });
    expect((await run(actor)).output).toEqual({ a: 1, b: 2 });
  });

  test("no way to an exit is an error, not an empty result", async () => {
    const actor = graph({
      nodes: [tool("start"), tool("end")],
      edges: [edge("start", "end", { key: "start", equals: "something else" })],
    });
    await expect(run(actor)).rejects.toMatchObject({
      code: "graph_failed",
      message: 'local/graph ended without an exit: no edge that leads on from "start" was taken.',
    });
  });
});

describe("a second run with the same records", () => {
  test("asks no model, calls no tool, and comes to the same result", async () => {
    const actor = graph({
      nodes: [
        ask("a", "a"),
        tool("b"),
        compute("count", "increment", { key: "count" }),
        choose("again", ["count < 4", "a"], [undefined, "end"]),
        ask("end", "{a} {b} {count}"),
      ],
      edges: [...chain("a", "b", "count", "again")],
    });
    const effects = new TestEffects({ ask: (_, key) => `answer to ${key}` });
    const first = await runGraph(actor, input(), ports(effects));
    const [asked, called] = [effects.asked.length, effects.called.length];
    expect(asked).toBe(5);
    expect(await runGraph(actor, input(), ports(effects))).toEqual(first);
    expect([effects.asked.length, effects.called.length]).toEqual([asked, called]);
  });
});
