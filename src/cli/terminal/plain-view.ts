/** The display where no line can be drawn over: a log, also for readers of screens. */
import type { RunEvent } from "../../domain/run-event.ts";
import { plainLine } from "./event-line.ts";
import { print, type Output } from "./gate.ts";
import type { LiveView } from "./live-view.ts";
import { visible } from "../../domain/text/text.ts";
import { oneLine, wrapped } from "./terminal-text.ts";

/** Of an answer this much is kept. */
export const SAID_LIMIT = 4_000;

/** One line for each thing that happened. */
export function plainView(stream: Output): LiveView {
  const words = new SaidWords();
  const failures = new HeldFailures();
  return {
    on: (event) => {
      const said = words.on(event);
      const lines = [
        ...failures.before(event),
        ...(said === undefined ? [] : [`says     ${said}`]),
        ...(failures.holds(event) ? [] : (plainLine(event)?.split("\n") ?? [])),
      ];
      for (const line of lines) print(stream, `${broken(line, stream)}\n`);
    },
    say: (text) => print(stream, `${text}\n`),
    end: () => undefined,
  };
}

/** On a terminal the words of a line stay whole; in a file each thing that happened is one line. */
function broken(line: string, { isTTY, columns }: Output): string {
  if (isTTY !== true) return line;
  return wrapped(visible(line), columns || 80, 9)
    .map((part) => part.trimEnd())
    .join("\n");
}

/**
 * A question to a model that failed for good is the error with which the run ends, and is told there, once. So its line
 * waits: it is printed when its step goes on all the same, and never when the step fails of it.
 */
class HeldFailures {
  readonly #held = new Map<string, string>();

  holds(event: RunEvent): boolean {
    const [step, inner] = stepOf(event);
    if (inner.type !== "ask_failed") return false;
    this.#held.set(step, plainLine(event) ?? "");
    return true;
  }

  /** The lines that belong before this event. */
  before(event: RunEvent): string[] {
    const [step, inner] = stepOf(event);
    const held = this.#held.get(step);
    if (held === undefined) return [];
    this.#held.delete(step);
    return inner.type === "step_failed" ? [] : [held];
  }
}

/** The step of an event, with the number of its candidate where there is one; empty for an event of no step. */
function stepOf(event: RunEvent): [step: string, inner: RunEvent] {
  const inner = event.type === "candidate" ? event.event : event;
  if (!("step" in inner)) return ["", inner];
  return [event.type === "candidate" ? `[${event.candidate}] ${inner.step}` : inner.step, inner];
}

/** The pieces of answers; an answer that has ended is one line of a log. */
class SaidWords {
  readonly #said = new Map<string, string>();

  on(event: RunEvent): string | undefined {
    const [step, inner] = stepOf(event);
    const known = this.#said.get(step) ?? "";
    if (inner.type === "text") this.#said.set(step, (known + inner.text).slice(0, SAID_LIMIT));
    if (inner.type === "text_void" || inner.type === "ask_started") this.#said.delete(step);
    if (inner.type !== "ask_answered" || known.trim() === "") return undefined;
    this.#said.delete(step);
    return `${step}  ${oneLine(known.trim())}`;
  }
}
