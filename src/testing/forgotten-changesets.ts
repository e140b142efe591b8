/**
 * Run with `--expose-gc` by a test: opens and closes many changesets in one context, drops them, and prints what is
 * still reachable afterwards.
 */
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanExecutionContext, type ChangesetHandle } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { ACTION_NAME, actionInput, created } from "./fixtures.ts";

const CHANGESETS = 10_000;
const AT_ONCE = 1_000;

await using store = await openStore("memory:");
const service = new PlanLifecycleService({ store });
await service.createAction(actionInput());
const plan = await service.useAction({ action: ACTION_NAME });
const context = new PlanExecutionContext({ store, plan });
const handles: WeakRef<ChangesetHandle>[] = [];
for (let done = 0; done < CHANGESETS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, useOne));
for (let round = 0; round < 5; round += 1) {
  // A turn of the event loop lets go of what the last turn's promises held.
  await new Promise((resolve) => setImmediate(resolve));
  globalThis.gc?.();
}
const reachable = handles.filter((handle) => handle.deref() !== undefined).length;
const counts = await store.read((reader) =>
  reader.get<Record<string, number>>(
    "SELECT COUNT(*) AS changesets, SUM(entry_count) AS entries, COUNT(closed_at) AS closed FROM changesets",
  ),
);
console.log(
  JSON.stringify({ ...counts, active: context.activeChangesets().length, handles: handles.length, reachable }),
);

async function useOne(): Promise<void> {
  const handle = await context.startChangeset();
  handles.push(new WeakRef(handle));
  await context.run(handle, () => context.recordChange(created(`of/${handle.id}`)));
  await handle.close();
}
