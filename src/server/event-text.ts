/** A stored event as server-sent events write it. */
import { snakeCase } from "../app/base/wire.ts";

export interface StreamedEvent {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly planId: string | null;
  readonly at: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Its id is its place in the log, by which a client resumes. */
export function eventText({ details, ...event }: StreamedEvent): string {
  const facts = Object.entries(event).map(([key, value]) => [snakeCase(key), value] as const);
  const data = JSON.stringify({ ...Object.fromEntries(facts), details });
  return `id: ${event.sequence}\nevent: ${event.type}\ndata: ${data}\n\n`;
}
