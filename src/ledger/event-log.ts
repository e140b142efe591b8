/**
 * The outbox: an event is a row written in the transaction of the change it reports, so it exists exactly when the
 * change does. Subscribers read the rows in commit order, whichever process wrote them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DomainEvent, EventType } from "../domain/plan/events.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { maskedFacts } from "../platform/masking.ts";
import type { Reader, Store, Tx } from "../store/port.ts";

export async function appendEvent(tx: Tx, event: Omit<DomainEvent, "sequence">): Promise<void> {
  await tx.run(
    "INSERT INTO events (id, type, plan_id, at, details) VALUES (?, ?, ?, ?, ?)",
    event.id,
    event.type,
    event.planId ?? null,
    event.at,
    JSON.stringify(maskedFacts(event.details)),
  );
}

/** Where a subscription begins, and how it ends. */
export interface SubscribeOptions {
  /** Start behind this sequence number; 0 is the beginning. Left out: only events that are committed from now on. */
  readonly after?: number;
  readonly planId?: PlanId;
  readonly signal?: AbortSignal;
  /** How often other processes' commits are looked for. */
  readonly pollMs?: number;
}

const PAGE = 500;

/**
 * Every committed event once, in commit order, for as long as the caller iterates.
 *
 * ```ts
 * for await (const event of subscribeEvents(store, { after: 0, signal })) console.log(event.type);
 * ```
 */
export async function* subscribeEvents(
  store: Store,
  options: SubscribeOptions = {},
): AsyncGenerator<DomainEvent, void> {
  const { planId, signal, pollMs = 200 } = options;
  const aborted = (): boolean => signal?.aborted === true;
  let after = options.after ?? (await store.read(newestSequence));
  while (!aborted()) {
    // Taken before the read: a commit that the read does not see changes the counter and so is not slept through.
    const counter = await store.changeCounter();
    const events = await store.read((reader) => eventsAfter(reader, { after, planId, limit: PAGE }));
    for (const event of events) {
      after = event.sequence;
      yield event;
      if (aborted()) return;
    }
    if (events.length === 0) await commitAfter(store, counter, pollMs, signal);
  }
}

async function commitAfter(
  store: Store,
  counter: number,
  pollMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  while (signal?.aborted !== true && (await store.changeCounter()) === counter) {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    const stop = store.onCommit(wake);
    signal?.addEventListener("abort", wake, { once: true });
    try {
      await sleep(pollMs, undefined, { signal: woken.signal, ref: signal !== undefined });
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    } finally {
      stop();
      signal?.removeEventListener("abort", wake);
    }
  }
}

export async function newestSequence(reader: Reader): Promise<number> {
  const row = await reader.get<{ last: number | null }>(
    "SELECT MAX(sequence) AS last FROM events WHERE sequence < events_end()",
  );
  return row?.last ?? 0;
}

interface EventRow {
  readonly sequence: number;
  readonly id: string;
  readonly type: EventType;
  readonly plan_id: PlanId | null;
  readonly at: number;
  readonly details: string;
}

/** The first events behind a sequence number, in commit order. */
export async function eventsAfter(
  reader: Reader,
  wanted: { readonly after: number; readonly planId: PlanId | undefined; readonly limit: number },
): Promise<DomainEvent[]> {
  const { after, planId, limit } = wanted;
  const rows = await reader.all<EventRow>(
    `SELECT sequence, id, type, plan_id, at, details FROM events
      WHERE sequence > ? AND sequence < events_end() ${planId === undefined ? "" : "AND plan_id = ?"} ORDER BY sequence LIMIT ?`,
    after,
    ...(planId === undefined ? [] : [planId]),
    limit,
  );
  return rows.map(readEvent);
}

/** All events of one type about a plan, in commit order. */
export async function findEvents(reader: Reader, planId: PlanId, type: EventType): Promise<DomainEvent[]> {
  const rows = await reader.all<EventRow>(
    "SELECT sequence, id, type, plan_id, at, details FROM events WHERE plan_id = ? AND type = ? ORDER BY sequence",
    planId,
    type,
  );
  return rows.map(readEvent);
}

function readEvent(row: EventRow): DomainEvent {
  return {
    sequence: row.sequence,
    id: row.id,
    type: row.type,
    at: row.at,
    planId: row.plan_id ?? undefined,
    details: JSON.parse(row.details) as DomainEvent["details"],
  };
}
