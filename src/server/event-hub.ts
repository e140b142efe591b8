/**
 * One reader of the event log for all subscribers of this process. A subscriber first reads from the store what it
 * missed and joins the live events at the exact place where that ends, so it sees each event once and in order. Each
 * live event is written down once, as one string for all. A subscriber that does not read is dropped before it fills
 * the memory; by the id of its last event it can come back without a gap.
 */
import type { CleverAgents } from "../app/open.ts";
import type { OutputOf } from "../app/table/operation-table.ts";
import { eventText, type StreamedEvent } from "./event-text.ts";

/** One open stream, as far as the hub knows it. */
export interface Subscriber {
  /** Only events of this plan. */
  readonly planId: string | undefined;
  readonly write: (text: string) => void;
  /** Bytes that its client has not taken yet. */
  readonly waiting: () => number;
  readonly drop: (why: "slow" | "stopping" | "refused") => void;
  /** Waits until its client has taken what was written; false when it went away. */
  readonly drained: () => Promise<boolean>;
}

const MOST_WAITING = 1024 * 1024;
const HEARTBEAT = ": \n\n";

export class EventHub {
  readonly #agents: CleverAgents;
  readonly #stop = new AbortController();
  readonly #live = new Set<Subscriber>();
  readonly #failed: (error: unknown) => void;
  #reader: Promise<void> | undefined;
  /** Every event up to here was handed out. */
  #position = 0;
  dropped = 0;

  constructor(agents: CleverAgents, failed: (error: unknown) => void) {
    this.#agents = agents;
    this.#failed = failed;
  }

  get subscribers(): number {
    return this.#live.size;
  }

  get position(): number {
    return this.#position;
  }

  /** Reads the log from its end on. */
  async start(): Promise<void> {
    this.#position = await this.newest();
    this.#reader = this.#read().catch(this.#failed);
  }

  /** The sequence number of the newest event of the log. */
  async newest(): Promise<number> {
    return (await this.#agents.run("events.list", { limit: 1 })).newest;
  }

  /** Until it leaves or is dropped. `after`: the last event that it has seen; undefined for none of the past. */
  async join(subscriber: Subscriber, after: number | undefined): Promise<() => void> {
    const leave = (): void => void this.#live.delete(subscriber);
    if (after === undefined || (await this.#catchUp(subscriber, after))) this.#live.add(subscriber);
    if (this.#stop.signal.aborted) this.#drop(subscriber, "stopping");
    return leave;
  }

  /** Until the subscriber has seen all that was handed out; false when it went away meanwhile. */
  async #catchUp({ planId, write, drained }: Subscriber, after: number): Promise<boolean> {
    let seen = after;
    for (;;) {
      // Taken before the read: the page has all events up to here.
      const position = this.#position;
      const events = await this.#page(seen, planId);
      for (const event of events) write(eventText(event));
      seen = Math.max(events.length === PAGE ? 0 : position, events.at(-1)?.sequence ?? 0, seen);
      if (!(await drained())) return false;
      // No await between this line and the joining: nothing is handed out in between.
      if (seen >= this.#position) return true;
    }
  }

  async #page(after: number, plan: string | undefined): Promise<OutputOf<"events.list">["events"]> {
    const of = plan === undefined ? {} : { plan };
    return (await this.#agents.run("events.list", { after, limit: PAGE, ...of })).events;
  }

  async #read(): Promise<void> {
    const { signal } = this.#stop;
    for await (const { sequence, planId, ...event } of this.#agents.events({ after: this.#position, signal })) {
      this.#position = sequence;
      this.#handOut({ ...event, sequence, planId: planId ?? null, at: new Date(event.at).toISOString() });
    }
  }

  #handOut(event: StreamedEvent): void {
    const text = eventText(event);
    for (const subscriber of this.#live) {
      if (subscriber.planId !== undefined && subscriber.planId !== event.planId) continue;
      subscriber.write(text);
      if (subscriber.waiting() > MOST_WAITING) this.#drop(subscriber, "slow");
    }
  }

  #drop(subscriber: Subscriber, why: "slow" | "stopping" | "refused"): void {
    this.#live.delete(subscriber);
    if (why === "slow") this.dropped += 1;
    subscriber.drop(why);
  }

  /** A comment that keeps proxies from closing a quiet connection, and finds those that are gone. */
  beat(): void {
    for (const subscriber of this.#live) subscriber.write(HEARTBEAT);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const subscriber of this.#live) this.#drop(subscriber, "stopping");
    await this.#reader;
  }
}

const PAGE = 500;
