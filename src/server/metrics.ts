/** Numbers of the server in Prometheus' text form. */
import type { CleverAgents } from "../app/open.ts";
import type { EventHub } from "./event-hub.ts";
import type { OngoingWork } from "./ongoing-work.ts";

const BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120];

export class RequestCounts {
  readonly #counts = new Map<string, number>();
  readonly #buckets: number[] = BUCKETS_SECONDS.map(() => 0);
  #seconds = 0;
  #requests = 0;

  add(method: string, status: number, seconds: number): void {
    // Any text may be a method: the others are one row together.
    const known = ["GET", "POST"].includes(method) ? method : "other";
    const key = `method="${known}",status="${status}"`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#requests += 1;
    this.#seconds += seconds;
    for (const [index, most] of BUCKETS_SECONDS.entries())
      if (seconds <= most) this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
  }

  lines(): string[] {
    const name = "cleveragents_http_request_seconds";
    return [
      ...head("cleveragents_http_requests_total", "counter", "Requests that were answered."),
      ...[...this.#counts].map(([labels, count]) => `cleveragents_http_requests_total{${labels}} ${count}`),
      ...head(name, "histogram", "How long requests took."),
      ...BUCKETS_SECONDS.map((most, index) => `${name}_bucket{le="${most}"} ${this.#buckets[index]}`),
      `${name}_bucket{le="+Inf"} ${this.#requests}`,
      `${name}_sum ${this.#seconds}`,
      `${name}_count ${this.#requests}`,
    ];
  }
}

export async function metricsText(parts: {
  readonly agents: CleverAgents;
  readonly counts: RequestCounts;
  readonly hub: EventHub;
  readonly work: OngoingWork;
}): Promise<string> {
  const { agents, counts, hub, work } = parts;
  const { total: _, shown: __, ...states } = (await agents.run("plan.list", { limit: 1 })).summary;
  const lag = (await hub.newest()) - hub.position;
  const lines = [
    ...counts.lines(),
    ...head("cleveragents_plans", "gauge", "Plans by state."),
    ...Object.entries(states).map(([state, count]) => `cleveragents_plans{state="${state}"} ${count}`),
    ...gauge("cleveragents_operations_running", "Operations that run now.", work.running),
    ...gauge("cleveragents_event_subscribers", "Streams of events that are open.", hub.subscribers),
    ...head("cleveragents_event_subscribers_dropped_total", "counter", "Streams that were too slow."),
    `cleveragents_event_subscribers_dropped_total ${hub.dropped}`,
    ...gauge("cleveragents_event_lag", "Events that are stored and not handed out yet.", Math.max(0, lag)),
  ];
  return `${lines.join("\n")}\n`;
}

function gauge(name: string, help: string, value: number): string[] {
  return [...head(name, "gauge", help), `${name} ${value}`];
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
