import { expect, test } from "vitest";
import { StageRunner } from "./stage-runner.ts";
import type { Stages } from "../model/stage-interfaces.ts";
import { defaultStages } from "./default-stages.ts";
import { setUp } from "../testing/executor-set-up.ts";

async function order(own: Stages["order"]) {
  const { executor } = setUp();
  await using _ = executor;
  const runner = new StageRunner(
    defaultStages(executor, [], (name) => name),
    { order: own },
    50,
  );
  const result = await runner.run({
    stage: "order",
    in: 0,
    out: ({ length }) => length,
    run: (component) => component.order([]),
    problem: () => undefined,
  });
  return { result, gaps: runner.gaps, trace: runner.trace };
}

test("a custom stage that never settles is not waited for", async () => {
  const never = { name: "Never", order: () => new Promise(() => {}) } as unknown as Stages["order"];
  const { result, gaps } = await order(never);
  expect(result).toEqual([]);
  expect(gaps).toEqual([
    {
      kind: "stage",
      name: "order",
      reason: "Never failed: it did not settle in time; the default was used instead",
    },
  ]);
});

test("a custom stage that settles late is waited for", async () => {
  const slow = { order: () => Promise.resolve([]) } as unknown as Stages["order"];
  const { gaps, trace } = await order(slow);
  expect(gaps).toEqual([]);
  expect(trace).toMatchObject([{ stage: "order", component: "custom stage", note: undefined }]);
});
