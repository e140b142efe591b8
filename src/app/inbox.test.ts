import { expect, test } from "vitest";
import type { PlanId } from "../domain/names/ids.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const TURNS = [
  strategy(FIX),
  step("fix", { match: { tool: "write_file" }, text: "The file is there." }),
  step("fix", calls("write_file", { path: "b.txt", content: "b\n" })),
];

test("the inbox has a plan in its group, with what it needs, and closer with its words, steps and cost", async () => {
  await using loop = new LoopWorld();
  loop.script(...TURNS);
  const { planId } = await loop.run("fix it");
  const agents = await loop.agents();
  const directory = loop.repository;
  expect(await agents.run("inbox", { directory, plan: planId })).toMatchObject({
    changed: true,
    plans: [{ planId, group: "ready to review", needs: "a review of 1 file", here: true, sameFiles: [] }],
    details: {
      planId,
      words: "The file is there.",
      steps: [{ step: "fix", state: "done" }],
      running: [],
      cost: { calls: 3 },
    },
  });
  await agents.run("plan.apply", { plan: planId });
  expect(await agents.run("inbox", { directory })).toMatchObject({
    plans: [{ group: "done", standing: "applied", needs: null }],
    details: null,
  });
  await agents.run("plan.undo", { plan: planId });
  expect(await agents.run("inbox", { directory })).toMatchObject({ plans: [{ group: "done", standing: "undone" }] });
});

test("asked again with its counter it tells nothing until something was committed", async () => {
  await using loop = new LoopWorld();
  loop.script(...TURNS);
  const { planId } = await loop.run("fix it");
  const agents = await loop.agents();
  const { counter } = await agents.run("inbox", {});
  expect(await agents.run("inbox", { after: counter })).toEqual({ changed: false, counter });
  await agents.run("plan.cancel", { plan: planId });
  expect(await agents.run("inbox", { after: counter })).toMatchObject({ changed: true, plans: [] });
});

test("two working plans that changed one file are told apart from a third that changed another", async () => {
  await using loop = new LoopWorld();
  const other = calls("write_file", { path: "c.txt", content: "c\n" });
  loop.script(...TURNS);
  const ids = [await loop.run("one"), await loop.run("two")].map((plan) => plan.planId as PlanId);
  loop.script(strategy(FIX), step("fix", { match: { tool: "write_file" }, text: "Done." }), step("fix", other));
  ids.push((await loop.run("three")).planId as PlanId);
  const agents = await loop.agents();
  for (const plan of ids) await agents.run("plan.prompt", { plan, text: "more" });
  await using store = await openStore(`sqlite:${agents.paths.database}`);
  const service = new PlanLifecycleService({ store });
  const leases = [];
  for (const id of ids) leases.push(await service.startExecute(id));
  const { plans } = { plans: [], ...(await agents.run("inbox", {})) };
  expect(plans).toMatchObject([
    { number: 3, group: "working", sameFiles: [] },
    { number: 2, group: "working", sameFiles: [1] },
    { number: 1, group: "working", sameFiles: [2] },
  ]);
  for (const lease of leases) lease.stop();
});
