/** The journal's own promises: a direction is decided once, and the newest landing is the last one that was written. */
import { expect, test } from "vitest";
import { monotonicIds, type PlanId } from "../domain/names/ids.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { Store } from "../store/port.ts";
import { actionInput, planAt } from "../testing/fixtures.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import {
  decideDirection,
  findJournal,
  findUndoneSteps,
  insertJournal,
  sealJournal,
  type Journal,
  type JournalKind,
} from "./journal.ts";

async function planIn(store: Store): Promise<PlanId> {
  const service = new PlanLifecycleService({ store });
  await service.createAction(actionInput());
  return (await planAt(service, "apply/processing")).id;
}

function written(
  store: Store,
  planId: PlanId,
  facts: { kind?: JournalKind; undone?: string[]; at?: number } = {},
): Promise<Journal> {
  const { kind = "apply", undone: undoneSteps = [], at = Date.now() } = facts;
  const id = monotonicIds(() => at)();
  return store.transaction((tx) => insertJournal(tx, { id, planId, kind, holder: "me", undoneSteps, landings: [] }));
}

test.each([
  ["forward", "back"],
  ["back", "forward"],
] as const)("decided %s, it is never decided %s", async (first, second) => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const { id } = await written(store, await planIn(store));
  expect(await store.transaction((tx) => decideDirection(tx, id, first))).toBe(first);
  expect(await store.transaction((tx) => decideDirection(tx, id, second))).toBe(first);
  expect(await store.read((reader) => findJournal(reader, id))).toMatchObject({ direction: first });
});

test("once it is sealed no direction is written any more", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const { id } = await written(store, await planIn(store));
  await store.transaction((tx) => sealJournal(tx, id, "done", []));
  await store.transaction((tx) => decideDirection(tx, id, "back"));
  expect(await store.read((reader) => findJournal(reader, id))).toMatchObject({
    direction: undefined,
    outcome: "done",
  });
});

test("the undone steps are those of the last landing, whichever time its id has", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const planId = await planIn(store);
  const now = Date.now();
  for (const [kind, undone, at] of [
    ["apply", [], now],
    ["undo", ["a"], now + 86_400_000],
    ["undo", ["a", "b"], now - 86_400_000],
  ] as const) {
    const { id } = await written(store, planId, { kind, undone: [...undone], at });
    await store.transaction((tx) => sealJournal(tx, id, "done", []));
    expect(await store.read((reader) => findUndoneSteps(reader, planId))).toEqual(undone);
  }
});
