/** Events across processes: what others commit arrives, once and in order. */
import { expect, test } from "vitest";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { subscribeEvents } from "./event-log.ts";
import type { DomainEvent } from "../domain/plan/events.ts";
import { ActorGroup, soon, type ActorHome } from "../testing/actor-group.ts";
import { actionInput } from "../testing/fixtures.ts";
import { losses } from "../testing/outcome.ts";
import { TemporaryStore, wherePostgresRuns, type StoreKind } from "../testing/temporary-store.ts";

test.each([
  ["threads", "memory"],
  ["processes", "file"],
  ...wherePostgresRuns(["processes", "postgres"] as const),
] as const satisfies readonly (readonly [ActorHome, StoreKind])[])(
  "%s on a %s store: writers elsewhere, a subscriber here and one there",
  async (home, kind) => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    await using actors = await ActorGroup.start(home, store.url, 3);
    const total = 2 * 100;
    // That of the action.
    const [first] = await store.read((reader) => reader.all<{ sequence: number }>("SELECT sequence FROM events"));
    const after = first?.sequence ?? 0;
    const here: DomainEvent[] = [];
    const listening = (async () => {
      for await (const event of subscribeEvents(store, { after, pollMs: 10 })) {
        here.push(event);
        if (here.length === total) return;
      }
    })();
    const startAt = soon();
    const [replies] = await Promise.all([
      actors.run([
        { kind: "make-plans", count: 100, startAt },
        { kind: "make-plans", count: 100, startAt },
        { kind: "read-events", after, count: total },
      ]),
      listening,
    ]);
    expect(losses(replies.flat())).toEqual([]);
    const rows = await store.read((reader) =>
      reader.all<{ sequence: number }>("SELECT sequence FROM events WHERE sequence > ? ORDER BY sequence", after),
    );
    const sequences = rows.map((row) => row.sequence);
    expect(sequences).toHaveLength(total);
    expect(here.map((event) => event.sequence)).toEqual(sequences);
    expect(replies[2]).toEqual([{ ok: true, value: sequences }]);
  },
);
