import { describe, expect, test } from "vitest";
import { StaleLeaseError } from "../../domain/errors/errors.ts";
import { ModelError } from "../models/model-error.ts";
import { runGraph } from "./run-graph.ts";
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

describe("failures", () => {
  const model = { provider: "vllm", model: "qwen3" };
  const two = graph({
    nodes: [compute("start", "set", { value: 1 }), ask("a", "a"), ask("b", "b")],
    edges: [edge("start", "a"), edge("start", "b")],
  });

  test("the others of the round are waited for, and are not repeated; the first one in the file is told", async () => {
    let broken = true;
    const effects = new TestEffects({
      ask: async (_, key) => {
        if (key.includes(".b/")) await new Promise((resolve) => setTimeout(resolve, 20));
        else if (broken) throw new ModelError("server", "The provider failed.", { model });
        return key;
      },
    });
    const failed = runGraph(two, input(), ports(effects));
    await expect(failed).rejects.toMatchObject({
      code: "model_server",
      message: 'The node "a" of local/graph failed in round 2: The provider failed.',
      detail: { node: "a", round: 2, provider: "vllm" },
      next: [{ text: expect.any(String) }, { operation: "config.set" }],
    });
    broken = false;
    const { state } = await runGraph(two, input(), ports(effects));
    expect(state).toMatchObject({ a: "run/2.a/ask-1", b: "run/2.b/ask-1" });
    expect(effects.asked.filter(({ key }) => key.includes(".b/"))).toHaveLength(1);
  });

  test("continued: failed nodes are tried again, recorded steps are not, and limits start again from zero", async () => {
    let [broken, count] = [true, 0];
    const effects = new TestEffects({
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
      runGraph(actor, { ...input(), gaveUp }, ports(effects)).then(
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
    expect(effects.called.map(({ key }) => key)).toEqual([
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
    await expect(runGraph(two, input(), ports(new TestEffects(answers)))).rejects.toBe(lost);
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
    await expect(runGraph(two, input(), ports(new TestEffects(answers)))).rejects.toBe(error);
  });
});
