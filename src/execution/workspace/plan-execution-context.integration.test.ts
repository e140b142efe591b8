/** Changesets shared with threads and processes, and what a context keeps after ten thousand of them. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { PlanExecutionContext } from "./plan-execution-context.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { ChangeEntry } from "../../domain/plan/change-entry.ts";
import { ActorGroup, soon, type ActorHome } from "../../testing/actor-group.ts";
import { actionInput, created, planAt } from "../../testing/fixtures.ts";
import { losses, winners } from "../../testing/outcome.ts";
import { TemporaryStore, wherePostgresRuns, type StoreKind } from "../../testing/temporary-store.ts";

const ACTORS = 4;
const PATHS = 25;

describe.each([
  ["threads", "memory"],
  ["threads", "file"],
  ["processes", "file"],
  ...wherePostgresRuns(["processes", "postgres"] as const),
] as const satisfies readonly (readonly [ActorHome, StoreKind])[])("%s on a %s store", (home, kind) => {
  test("all record into all changesets at once; some are closed meanwhile, then the lease is lost", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    const { id, lease } = await planAt(service, "execute/processing");
    if (lease === undefined) throw new Error("no lease");
    const context = new PlanExecutionContext({ store, plan: id, lease });
    const handles = await Promise.all([1, 2, 3, 4].map(() => context.startChangeset()));
    const [closing, ...kept] = handles;
    await using actors = await ActorGroup.start(home, store.url, ACTORS);
    const shared = handles.map((handle) => ({ id: handle.id, epoch: handle.epoch }));
    const startAt = soon();
    const paths = (actor: number): string[] => Array.from({ length: PATHS }, (_, index) => `actor-${actor}/${index}`);
    const recording = actors.run(
      Array.from({ length: ACTORS }, (_, actor) => ({
        kind: "record" as const,
        changesets: shared,
        paths: paths(actor),
        startAt,
      })),
    );
    // The owner continues at the same time: it starts more, records into its own, closes one of the shared.
    const own = await context.startChangeset();
    await context.run(own, () => context.recordChange(created("own")));
    await closing?.close();
    const changesets = new ChangesetStore(store);
    const atClose = await changesets.entries(closing!.id);
    const outcomes = (await recording).flat();
    expect(await changesets.entries(closing!.id)).toEqual(atClose);

    for (const error of losses(outcomes)) expect(error).toMatchObject({ name: "PlanError", code: "plan" });
    const acknowledged = winners(outcomes) as ChangeEntry[];
    const filed = (await Promise.all(handles.map((handle) => changesets.entries(handle.id)))).flat();
    const key = (entry: ChangeEntry): string => `${entry.changesetId} ${entry.sequence} ${entry.path}`;
    expect(filed.map(key).sort()).toEqual(acknowledged.map(key).sort());
    // Each actor put the changeset it meant into the path.
    for (const entry of filed) expect(entry.path.startsWith(`${entry.changesetId}/`)).toBe(true);
    for (const handle of kept) {
      const entries = await changesets.entries(handle.id);
      expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
      expect(entries).toHaveLength(ACTORS * PATHS);
    }
    expect((await changesets.entries(own.id)).map((entry) => entry.path)).toEqual(["own"]);

    await service.cancelPlan(id);
    const late = await actors.run({ kind: "record", changesets: shared.slice(1), paths: ["late"], startAt: 0 });
    expect(winners(late.flat())).toEqual([]);
    for (const error of losses(late.flat())) expect(error.name).toBe("StaleLeaseError");
    lease.stop();
  });
});

test("after 10,000 changesets a context holds none of them", async () => {
  const program = fileURLToPath(new URL("../../testing/forgotten-changesets.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program]);
  const found = JSON.parse(stdout) as { reachable: number };
  expect(found).toMatchObject({ changesets: 10_000, entries: 10_000, closed: 10_000, active: 0, handles: 10_000 });
  // A few objects that registers or caches still hold are not a leak; one in ten would be.
  expect(found.reachable).toBeLessThan(100);
});
