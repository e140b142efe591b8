/** The display where no line can be drawn over: a log, also for readers of screens. */
import type { RunEvent } from "../../domain/run-event.ts";
import { plainLine } from "./event-line.ts";
import { print, type Output } from "./gate.ts";
import type { LiveView } from "./live-view.ts";
import { oneLine } from "./terminal-text.ts";

/** Of an answer this much is kept. */
export const SAID_LIMIT = 4_000;

/** One line for each thing that happened. */
export function plainView(stream: Output): LiveView {
  const words = new SaidWords();
  return {
    on: (event) => {
      const said = words.on(event);
      if (said !== undefined) print(stream, `says     ${said}\n`);
      const line = plainLine(event);
      if (line !== undefined) print(stream, `${line}\n`);
    },
    say: (text) => print(stream, `${text}\n`),
    end: () => undefined,
  };
}

/** The pieces of answers; an answer that has ended is one line of a log. */
class SaidWords {
  readonly #said = new Map<string, string>();

  on(event: RunEvent): string | undefined {
    const inner = event.type === "candidate" ? event.event : event;
    if (!("step" in inner)) return undefined;
    const step = event.type === "candidate" ? `[${event.candidate}] ${inner.step}` : inner.step;
    const known = this.#said.get(step) ?? "";
    if (inner.type === "text") this.#said.set(step, (known + inner.text).slice(0, SAID_LIMIT));
    if (inner.type === "text_void" || inner.type === "ask_started") this.#said.delete(step);
    if (inner.type !== "ask_answered" || known.trim() === "") return undefined;
    this.#said.delete(step);
    return `${step}  ${oneLine(known.trim())}`;
  }
}
