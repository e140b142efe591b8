import { expect, test } from "vitest";
import type { GraphActorDefinition } from "../domain/actor.ts";
import { StuckError } from "../domain/errors.ts";
import type { QualifiedName } from "../domain/qualified-name.ts";
import { placedRecords } from "../execution/step-records.ts";
import { runToolSteps, type WorkStep } from "../execution/step-runner.ts";
import { ExecutingPlan } from "../execution/testing/executing-plan.ts";
import { PlanThinking, type RunGraph } from "./plan-thinking.ts";

const GRAPH: GraphActorDefinition = {
  name: "local/graph" as QualifiedName,
  type: "graph",
  description: "a graph",
  provider: "scripted",
  model: "x",
  systemPrompt: "",
  options: {},
  tools: undefined,
  contextView: undefined,
  memory: {},
  responseFormat: undefined,
  unsafe: false,
  roleHint: undefined,
  route: { nodes: [], edges: [], entry: "a", exits: [], state: {}, limits: { maxVisits: 1, maxRounds: 1 } },
};

/** Carries out one step by the graph; `events` are told of. */
async function work(plan: ExecutingPlan, runGraph: RunGraph, events: string[] = []): Promise<void> {
  const thinking = new PlanThinking({
    store: plan.store,
    models: () => Promise.resolve({ call: () => Promise.reject(new Error("nobody is asked")), costOf: () => 0 }),
    context: undefined,
    runGraph,
    signal: new AbortController().signal,
    onEvent: ({ type }) => void events.push(type),
  });
  const chosen = { description: "Write it", resources: [], complexity: "low", risk: null };
  const step: WorkStep = { id: "one", tool: undefined, work: chosen, decision: await plan.decision("one") };
  const waves = [[step]];
  await using _opened = await runToolSteps({
    lease: plan.lease,
    directory: plan.directory,
    targets: [plan.target],
    waves,
    signal: new AbortController().signal,
    onStep: () => undefined,
    work: thinking.worker(plan.lease, GRAPH, waves),
  });
}

test("a graph carries out a step through the same hands; what it returns is the step's summary", async () => {
  await using plan = await ExecutingPlan.start();
  const events: string[] = [];
  await work(
    plan,
    async (actor, input, { hands, toolsFor, modelOf }) => {
      expect(input).toMatchObject({ goal: "Write it", key: "graph", gaveUp: 0, state: { step: "one" } });
      expect(input.briefing).toContain("one [THIS IS YOUR STEP]: Write it");
      expect([modelOf(actor).model, toolsFor(["read_file", "nothing"]).map(({ name }) => name)]).toEqual([
        "x",
        ["read_file"],
      ]);
      const { decision } = input;
      const done = await hands.callTool("graph/1", {
        tool: "write_file",
        params: { path: "g", content: "g" },
        decision,
      });
      const failed = await hands.callTool("graph/2", { tool: "read_file", params: { path: "nowhere" }, decision });
      return { output: { done: done.ok, failed: failed.ok } };
    },
    events,
  );
  expect(await plan.recorded()).toMatchObject([{ step: "one/graph/1", path: "g" }]);
  const records = await plan.store.read((reader) => placedRecords(reader, plan.id, 1));
  expect(records.at(-1)).toMatchObject({ key: "worked:one", summary: '{"done":true,"failed":false}' });
  expect(events).toEqual(["tool_started", "tool_ended", "tool_started", "tool_ended"]);
});

test("one that gave up is told so when it goes on, and does nothing twice", async () => {
  await using plan = await ExecutingPlan.start();
  const seen: number[] = [];
  const graph: RunGraph = async (_actor, { gaveUp, decision }, { hands }) => {
    seen.push(gaveUp);
    await hands.callTool("count", { tool: "shell_execute", params: { command: "echo 1 >> count" }, decision });
    if (gaveUp === 0) throw new StuckError("It goes round in circles.");
    return { output: "done" };
  };
  const error: unknown = await work(plan, graph).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "stuck", next: expect.arrayContaining([`agents plan execute ${plan.id}`]) });
  await plan.takeOver();
  await work(plan, graph);
  expect(seen).toEqual([0, 1]);
  expect(await plan.recorded()).toHaveLength(1);
});
