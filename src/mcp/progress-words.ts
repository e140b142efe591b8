/** The things that a person who waits wants to hear of during a run, one line for each. */
import type { RunEvent } from "../domain/run-event.ts";

/** Undefined for news that are too small to be told. */
export function progressLine(event: RunEvent): string | undefined {
  if (event.type === "step_started") return `step ${event.step}: ${event.description}`;
  if (event.type === "step_failed") return `step ${event.step} failed: ${event.error}`;
  if (event.type === "ask_started") return `asking ${event.model.provider}/${event.model.model}`;
  if (event.type === "tool_started") return `calling ${event.tool}`;
  return event.type === "progress" ? event.doing : undefined;
}
