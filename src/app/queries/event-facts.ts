/** A stored event as surfaces show it. */
import * as z from "zod";
import type { DomainEvent } from "../../domain/plan/events.ts";
import { Instant, instant, Json } from "../base/schemas.ts";
import type { JsonValue } from "../../domain/values/json.ts";

export const EventFacts = z.strictObject({
  /** Its place in commit order. */
  sequence: z.int(),
  id: z.string(),
  type: z.string(),
  planId: z.string().nullable(),
  at: Instant,
  details: z.record(z.string(), Json),
});

export function eventFacts(event: DomainEvent): z.output<typeof EventFacts> {
  const { sequence, id, type, planId, at, details } = event;
  return {
    sequence,
    id,
    type,
    planId: planId ?? null,
    at: instant(at),
    details: details as Readonly<Record<string, JsonValue>>,
  };
}
