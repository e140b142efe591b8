import type {
  AskWait,
  CandidatesEvent,
  HookEvent,
  RecordedEvent,
  RunEvent,
  ValidationEvent,
} from "../../domain/run-event.ts";
import { dollars } from "../../domain/money/money.ts";
import { duration, thousands, tokensText } from "./format.ts";
import { oneLine } from "./terminal-text.ts";

/** One event of a run as a line of a log; undefined for an event that only matters while it lasts. */
export function plainLine(event: RunEvent): string | undefined {
  const line = (word: string, who: string, ...rest: readonly string[]): string =>
    `${word.padEnd(8)} ${[who, ...rest]
      .map(oneLine)
      .filter((part) => part !== "")
      .join("  ")}`;
  switch (event.type) {
    case "decided":
      if (event.before) return undefined;
      return event.steps.map(({ step, description }) => line("decided", step, description)).join("\n");
    case "step_started":
      return line("started", event.step, event.description);
    case "step_done":
      return line("done", event.step, event.description, took(event.durationMs));
    case "step_recorded":
      return line("recorded", event.step, event.description);
    case "step_failed":
      return line("failed", event.step, took(event.durationMs));
    case "context_assembled":
      return line("context", event.step, `${thousands(event.tokens)} tokens`);
    case "ask_answered":
      return line("answered", event.step, spent(event), took(event.durationMs));
    case "ask_failed":
      return line("failed", event.step, event.error);
    case "tool_ended":
      if (event.error === undefined) return line("called", event.step, called(event), took(event.durationMs));
      return line("failed", event.step, called(event), took(event.durationMs), event.error);
    case "ask_waits":
      return line("waiting", event.step, waitText(event, event.delayMs));
    case "checklist":
      return event.items.map(({ text, state }) => line("list", event.step, `${CHECK_MARKS[state]} ${text}`)).join("\n");
    case "hook":
    case "validation":
      if (event.event === "started") return line("started", checkName(event), event.resource);
      return line(event.event, checkName(event), event.resource, took(event.durationMs));
    case "recorded":
    case "ask_started":
    case "text":
    case "thought":
    case "text_void":
    case "answer_text":
    case "answer_void":
    case "answer_waits":
    case "tool_started":
    case "sandbox":
    case "kept_files":
    case "landing":
    case "budget_warning":
    case "gateway_ready":
    case "notice":
    case "plan_made":
    case "progress":
    case "run_started":
      return undefined;
    case "candidates_started":
    case "candidate":
    case "candidate_ended":
      return candidatesLine(event);
  }
}

/** "plan.phase_changed" of another process as a line. */
export function recordedLine({ event, text }: RecordedEvent): string {
  return `${event.replaceAll(/[._]/g, " ").padEnd(20)} ${oneLine(text)}`.trimEnd();
}

function took(milliseconds: number): string {
  return `(${duration(milliseconds)})`;
}

function candidatesLine(event: CandidatesEvent): string | undefined {
  switch (event.type) {
    case "candidates_started":
      return event.candidates.map((one) => candidateLine(one.candidate, `plan ${one.plan} by ${one.actor}`)).join("\n");
    case "candidate":
      return plainLine(event.event)?.replaceAll(/^/gm, candidateLine(event.candidate, ""));
    case "candidate_ended":
      return candidateLine(event.candidate, `${event.outcome.padEnd(8)} ${oneLine(event.text)}`);
  }
}

/** Lines of several candidates come mixed: each begins with the number of its candidate. */
function candidateLine(candidate: number, text: string): string {
  return `[${candidate}] ${text}`;
}

export const CHECK_MARKS = { open: "[ ]", doing: "[>]", done: "[x]" } as const;

export function checkName(event: HookEvent | ValidationEvent): string {
  return event.type === "hook" ? event.hook : event.validation;
}

export function called({ tool, target }: { readonly tool: string; readonly target: string }): string {
  return `${tool} ${target}`.trim();
}

function spent(event: Extract<RunEvent, { type: "ask_answered" }>): string {
  const price = event.cost === undefined ? "price not known" : dollars(event.cost);
  return `${tokensText(event)}, ${price}`;
}

/** "rate limited, again in 47 s (3 of 10)" */
export function waitText({ why, next, most }: AskWait, leftMs: number): string {
  return `${why}, again in ${Math.max(0, Math.ceil(leftMs / 1_000))} s (${next} of ${most})`;
}
