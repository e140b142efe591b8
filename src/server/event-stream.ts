/** Server-sent events, written on the raw response: a thousand streams through a framework cost 60 kB each. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { UsageError } from "../domain/errors/errors.ts";
import type { EventHub, Subscriber } from "./event-hub.ts";

/** Streams until the client goes away or is dropped. */
export async function streamEvents(
  hub: EventHub,
  response: ServerResponse,
  wanted: { readonly planId: string | undefined; readonly after: number | undefined },
): Promise<void> {
  const { planId, after } = wanted;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  });
  response.write(`retry: 1000\n\n`);
  const subscriber: Subscriber = {
    planId,
    write: (text) => void response.write(text),
    waiting: () => response.writableLength,
    drop: (why) => (why === "slow" ? response.destroy() : response.end()),
    drained: () => drained(response),
  };
  const gone = once(response, "close");
  const leave = await hub.join(subscriber, after);
  await gone;
  leave();
}

async function drained(response: ServerResponse): Promise<boolean> {
  while (response.writableNeedDrain && !response.destroyed)
    await Promise.race([once(response, "drain"), once(response, "close")]);
  return !response.destroyed;
}

/** The id of the last event that the client has seen; undefined when it asks for none of the past. */
export function lastEventId(header: string | undefined, query: string | undefined): number | undefined {
  const given = header ?? query;
  if (given === undefined || given === "") return undefined;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new UsageError("Last-Event-ID must be the id of an event, a whole number.", {
    kept: "Nothing was changed.",
    next: [{ text: "send the id of the last event that you have seen, or 0 for all of them" }],
  });
}
