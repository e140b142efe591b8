/**
 * Several candidates on a terminal: the drawn view of a plan, in which each candidate is a line as a step is one
 * elsewhere. Its own steps, calls and checks show as what it is doing.
 */
import type { RunEvent, SingleRunEvent } from "../../domain/run-event.ts";
import { checkName } from "./event-line.ts";
import type { LiveView } from "./live-view.ts";

/** `names`: by number, the words on its line. */
export function candidatesView(view: LiveView, names: ReadonlyMap<number, string>): LiveView {
  const begun = performance.now();
  for (const step of names.values()) view.on({ type: "step_started", step, tool: undefined, description: "" });
  return {
    on: (event) => {
      const step = "candidate" in event && typeof event.candidate === "number" ? names.get(event.candidate) : undefined;
      if (step === undefined) return;
      if (event.type === "candidate") {
        const shown = asEventOf(step, event.event);
        if (shown !== undefined) view.on(shown);
      } else if (event.type === "candidate_ended") endOf(view, step, event, performance.now() - begun);
    },
    say: view.say,
    end: view.end,
  };
}

function endOf(
  view: LiveView,
  step: string,
  { outcome, text }: Extract<RunEvent, { type: "candidate_ended" }>,
  durationMs: number,
): void {
  const about = { step, tool: undefined, description: `${outcome}: ${text}` };
  // The text of a step is set when it begins.
  view.on({ type: "step_started", ...about });
  if (outcome === "failed") view.on({ type: "step_failed", ...about, durationMs, error: text });
  else view.on({ type: "step_done", ...about, durationMs });
}

/** The event as one of this line; undefined for one that would not be seen on it. */
function asEventOf(step: string, event: SingleRunEvent): RunEvent | undefined {
  if (event.type === "step_started") return doing(step, `${event.step}: ${event.description}`);
  if (event.type === "decided") return doing(step, `decided on ${event.steps.map((one) => one.step).join(", ")}`);
  if (event.type === "hook" || event.type === "validation") return doing(step, `${checkName(event)} ${event.event}`);
  if (event.type === "tool_started" || event.type === "tool_ended") return { ...event, step };
  if (event.type === "text" || event.type === "text_void" || event.type === "context_assembled")
    return { ...event, step };
  const asked = event.type === "ask_started" || event.type === "ask_answered";
  if (asked || event.type === "ask_waits" || event.type === "ask_failed") return { ...event, step };
  return undefined;
}

function doing(step: string, what: string): RunEvent {
  return { type: "tool_started", step, key: "", tool: what, target: "" };
}
