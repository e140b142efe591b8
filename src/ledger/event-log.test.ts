/** The outbox: each committed event once, in the order of the commits, to every subscriber. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { ProjectService } from "../catalog/project-service.ts";
import { subscribeEvents, type SubscribeOptions } from "./event-log.ts";
import type { DomainEvent } from "../domain/plan/events.ts";
import type { Store } from "../store/port.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { ACTION_NAME, actionInput, perform, planAt, STATUSES } from "../testing/fixtures.ts";
import { outcomeOf } from "../testing/outcome.ts";
import { history, planRows } from "../testing/plan-rows.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { appendEvent } from "./event-log.ts";

async function take(store: Store, count: number, options: SubscribeOptions = {}): Promise<DomainEvent[]> {
  const events: DomainEvent[] = [];
  for await (const event of subscribeEvents(store, { pollMs: 20, ...options })) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

async function collect(events: AsyncIterable<DomainEvent>): Promise<DomainEvent[]> {
  const collected: DomainEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

async function committed(store: Store): Promise<{ sequence: number; id: string; type: string }[]> {
  const rows = await store.read((reader) =>
    reader.all<{ sequence: number; id: string; type: string }>(
      "SELECT sequence, id, type FROM events ORDER BY sequence",
    ),
  );
  return rows.map((row) => ({ ...row }));
}

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  test("several subscribers with concurrent writers: each event once, in commit order", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const services = [1, 2, 3].map(() => new PlanLifecycleService({ store }));
    await services[0]!.createAction(actionInput());
    const total = 1 + 3 * 10 * 9;
    const subscribers = [take(store, total, { after: 0 }), take(store, total - 1), take(store, total, { after: 0 })];
    await sleep(10);
    await Promise.all(
      services.flatMap((service) => Array.from({ length: 10 }, () => planAt(service, "apply/applied"))),
    );
    const [first, live, third] = await Promise.all(subscribers);
    const all = await committed(store);
    expect(all).toHaveLength(total);
    expect(first!.map(({ sequence, id, type }) => ({ sequence, id, type }))).toEqual(all);
    expect(third).toEqual(first);
    expect(live).toEqual(first!.slice(1));
  });

  test("resumes behind a sequence number, and follows one plan only when asked to", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    const [one, other] = [await planAt(service, "strategize/complete"), await planAt(service, "execute/queued")];
    const all = await take(store, 8, { after: 0 });
    expect(await take(store, 5, { after: all[2]!.sequence })).toEqual(all.slice(3));
    const ofOther = await take(store, 4, { after: 0, planId: other.id });
    expect(ofOther).toEqual(all.filter((event) => event.planId === other.id));
    const ofOne = await take(store, 3, { after: 0, planId: one.id });
    expect(ofOne.map((event) => event.type)).toEqual(["plan.created", "plan.state_changed", "plan.state_changed"]);
  });

  test("a thousand events that were there before are read page by page", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    await Promise.all(
      Array.from({ length: 1_201 }, (_, index) =>
        store.transaction((tx) =>
          appendEvent(tx, {
            id: `e${index}`,
            type: "config.changed",
            at: index,
            planId: undefined,
            details: { index },
          }),
        ),
      ),
    );
    const events = await take(store, 1_201, { after: 0 });
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map((event) => event.id)).size).toBe(1_201);
    expect(events[7]).toEqual({
      sequence: 8,
      id: "e7",
      type: "config.changed",
      at: 7,
      planId: undefined,
      details: { index: 7 },
    });
  });

  test("what was rolled back leaves no event", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    const { id } = await planAt(service, "strategize/queued");
    const before = await committed(store);
    await Promise.all([
      outcomeOf(service.createAction(actionInput())),
      outcomeOf(service.executePlan(id)),
      outcomeOf(
        store.transaction(async (tx) => {
          await appendEvent(tx, { id: "ghost", type: "config.changed", at: 0, planId: undefined, details: {} });
          throw new Error("after all not");
        }),
      ),
    ]);
    expect(await committed(store)).toEqual(before);
    await service.startStrategize(id).then((lease) => lease.stop());
    const [next] = await take(store, 1, { after: before.at(-1)!.sequence });
    expect(next).toMatchObject({ type: "plan.state_changed", planId: id });
  });

  test("aborting ends the iteration: before it began, while it waits, and in the middle of a page", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    await service.createAction(actionInput());
    await planAt(service, "execute/queued");
    expect(await collect(subscribeEvents(store, { after: 0, signal: AbortSignal.abort() }))).toEqual([]);

    const waiting = new AbortController();
    const silent = collect(subscribeEvents(store, { signal: waiting.signal, pollMs: 60_000 }));
    await sleep(30);
    waiting.abort();
    expect(await silent).toEqual([]);

    const middle = new AbortController();
    const seen: number[] = [];
    for await (const event of subscribeEvents(store, { after: 0, signal: middle.signal })) {
      seen.push(event.sequence);
      if (seen.length === 2) middle.abort();
    }
    expect(seen).toEqual([1, 2]);
  });

  test("a commit of this process wakes a subscriber long before it would look by itself", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    const next = take(store, 1, { pollMs: 3_600_000 });
    await sleep(30);
    await service.createAction(actionInput());
    expect(await next).toMatchObject([{ type: "action.created", details: { action: ACTION_NAME } }]);
  });

  test("each transition has one event and one audit entry, of the same type and details", async () => {
    const clock = new FakeClock();
    await using temporary = await TemporaryStore.open(kind, { clock: clock.now });
    const { store } = temporary;
    const service = new PlanLifecycleService({ store, clock: clock.now, user: "tester" });
    await service.createAction(actionInput());
    for (const status of STATUSES) {
      const { id } = await planAt(service, status);
      const rows = await planRows(store, id);
      expect(rows.events).toHaveLength(rows.audit.length);
      for (const [index, event] of rows.events.entries()) {
        const { type, details, at } = rows.audit[index] ?? {};
        expect(event).toMatchObject({ type, details, at });
        expect(rows.audit[index]?.["user_name"]).toBe("tester");
      }
    }
    const { id } = await planAt(service, "apply/applied");
    expect(history(await planRows(store, id)).map((entry) => entry.type)).toEqual([
      "plan.created",
      "plan.state_changed",
      "plan.state_changed",
      "plan.phase_changed",
      "plan.state_changed",
      "plan.state_changed",
      "plan.phase_changed",
      "plan.state_changed",
      "plan.applied",
    ]);
    const { id: failed, lease } = await planAt(service, "execute/processing");
    await perform(service, { operation: "failExecute", planId: failed, lease });
    await service.revertPlan(failed);
    await service.cancelPlan(failed);
    expect(
      history(await planRows(store, failed))
        .map((entry) => entry.type)
        .slice(-3),
    ).toEqual(["plan.errored", "plan.phase_changed", "plan.cancelled"]);
  });

  test("actions and projects have their events and entries in the system chain", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const service = new PlanLifecycleService({ store });
    const projects = new ProjectService({ store });
    await service.createAction(actionInput());
    await projects.createProject({ name: "shop" });
    const plan = await service.useAction({ action: ACTION_NAME, projects: ["shop"] });
    await service.archiveAction(ACTION_NAME);
    await service.archiveAction(ACTION_NAME);
    await projects.deleteProject("shop", { force: true });
    const types = ["action.created", "project.created", "plan.created", "action.archived", "plan.cancelled"];
    expect((await committed(store)).map(({ type }) => type)).toEqual([...types, "project.deleted"]);
    const chains = await store.read((reader) =>
      reader.all<{ chain: string }>("SELECT chain FROM audit_entries ORDER BY sequence"),
    );
    const system = "system";
    expect(chains.map(({ chain }) => chain)).toEqual([system, system, plan.id, system, plan.id, system]);
  });
});

test("a subscriber whose database fails gets the error, not silence", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const failure = new Error("gone");
  const store = alteredStore(temporary.store, { read: () => Promise.reject(failure) });
  await expect(take(store, 1, { after: 0 })).rejects.toBe(failure);
});
