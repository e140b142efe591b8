/** A plan's row moves only from what its mover has seen. Transitions check the same before, under a lock; this is the last line. */
import { expect, test } from "vitest";
import { PlanLifecycleService, type Plan } from "../index.ts";
import { ACTION_NAME, actionInput } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { findPlan, movePlan } from "./plans.ts";

test.each([
  ["version", { version: 0 }],
  ["newer version", { version: 7 }],
  ["phase", { phase: "execute" }],
  ["state", { state: "processing" }],
] as const)("not when it was seen with another %s", async (_, seen) => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const plan = await service.useAction({ action: ACTION_NAME });
  const after: Plan = { ...plan, phase: "strategize", state: "cancelled", version: plan.version + 1 };
  const wrong = { ...plan, ...seen } as Plan;
  expect(await store.transaction((tx) => movePlan(tx, wrong, after))).toBe(false);
  expect(await store.read((reader) => findPlan(reader, plan.id))).toEqual(plan);
  expect(await store.transaction((tx) => movePlan(tx, plan, after))).toBe(true);
  expect(await store.transaction((tx) => movePlan(tx, plan, after))).toBe(false);
});
