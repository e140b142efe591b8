/**
 * The compare-and-swap under every move of a plan, asked directly: no transaction around it can hide that it compares.
 */
import { expect, test } from "vitest";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { actionInput, planAt } from "../../testing/fixtures.ts";
import { TemporaryStore } from "../../testing/temporary-store.ts";
import { findPlan, movePlan } from "./plans.ts";

test("a plan moves only from the version, the phase and the state that were seen", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const { id } = await planAt(service, "execute/queued");
  const seen = await service.getPlan(id);
  const after = { ...seen, phase: "execute", state: "cancelled", version: seen.version + 1 } as const;
  for (const stale of [
    { ...seen, version: seen.version - 1 },
    { ...seen, version: seen.version + 1 },
    { ...seen, phase: "apply", state: "queued" } as const,
    { ...seen, phase: "execute", state: "complete" } as const,
  ]) {
    expect(await store.transaction((tx) => movePlan(tx, stale, after))).toBe(false);
    expect(await store.read((reader) => findPlan(reader, id))).toEqual(seen);
  }
  expect(await store.transaction((tx) => movePlan(tx, seen, after))).toBe(true);
  // A second one that saw the same comes too late, even where it leads to the same state.
  expect(await store.transaction((tx) => movePlan(tx, seen, after))).toBe(false);
  expect(await store.read((reader) => findPlan(reader, id))).toMatchObject({
    version: after.version,
    state: "cancelled",
  });
});

test("of two that saw the same plan in a state that it keeps, one moves it", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  const { id } = await planAt(service, "apply/applied");
  const seen = await service.getPlan(id);
  // As undo and redo do: the state stays, the version tells.
  const after = { ...seen, version: seen.version + 1, undoneAt: 1 };
  const moved = await Promise.all([1, 2].map(() => store.transaction((tx) => movePlan(tx, seen, after))));
  expect(moved).toEqual([true, false]);
});
