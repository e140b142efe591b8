import { performance } from "node:perf_hooks";
import type { RunEvent } from "../plans/run-events.ts";
import { dollars, duration, thousands } from "./format.ts";
import { painter, type Screen } from "./render.ts";
import { fit, oneLine, width } from "./terminal-text.ts";
import type { Tone } from "./view.ts";

/**
 * What a person sees while a plan is carried out: on a terminal a few lines that are drawn over, with each step, what it is doing, and what
 * it has cost so far; elsewhere one line for each thing that happened, which can be read later as a log.
 */
export interface LiveView {
  readonly on: (event: RunEvent) => void;
  /** Something to be said above the drawn lines. */
  readonly say: (text: string) => void;
  /** Leaves the last state on the screen and draws no more; called twice it does nothing. */
  readonly end: () => void;
}

export interface LiveParts {
  readonly stream: Out;
  readonly screen: Screen;
  /** Whether lines can be drawn over. */
  readonly terminal: boolean;
  /** The most the plan may cost, in millionths of a dollar. */
  readonly cap?: number | undefined;
  readonly now?: () => number;
}

interface Out {
  readonly columns?: number;
  readonly rows?: number;
  readonly write: (text: string) => unknown;
}

export function liveView(parts: LiveParts): LiveView {
  return parts.terminal ? new DrawnView(parts) : plainView(parts);
}

function plainView({ stream }: LiveParts): LiveView {
  return {
    on: (event) => {
      const line = plainLine(event);
      if (line !== undefined) stream.write(`${line}\n`);
    },
    say: (text) => void stream.write(`${text}\n`),
    end: () => undefined,
  };
}

/** Undefined for what only matters while it lasts. */
function plainLine(event: RunEvent): string | undefined {
  const line = (word: string, who: string, ...rest: readonly string[]): string =>
    `${word.padEnd(8)} ${[who, ...rest.map(oneLine)].filter((part) => part !== "").join("  ")}`;
  switch (event.kind) {
    case "step": {
      const took = event.event === "started" || event.event === "recorded" ? "" : `(${duration(event.durationMs)})`;
      return line(event.event, event.step, event.text, took);
    }
    case "context":
      return line("context", event.step, `${thousands(event.tokens)} tokens`);
    case "answered":
      return line("answered", event.step, spent(event), `(${duration(event.durationMs)})`);
    case "tool-ended": {
      const word = event.error === undefined ? "called" : "failed";
      const why = event.error === undefined ? "" : event.error;
      return line(word, event.step, `${event.tool} ${event.target}`.trim(), `(${duration(event.durationMs)})`, why);
    }
    case "check":
      return event.event === "started"
        ? line("started", event.name, event.resource)
        : line(event.event, event.name, event.resource, `(${duration(event.durationMs)})`);
    case "asking":
    case "text":
    case "tool-started":
      return undefined;
  }
}

function spent({ inputTokens, outputTokens, cost }: Extract<RunEvent, { kind: "answered" }>): string {
  const price = cost === undefined ? "price not known" : dollars(cost);
  return `${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out, ${price}`;
}

const FRAME_MS = 100;
const MARKS = { waiting: "·", running: "▸", done: "✓", recorded: "✓", failed: "✗" } as const;
const TONES = {
  waiting: "dim",
  running: "strong",
  done: "good",
  recorded: "dim",
  failed: "bad",
} as const satisfies Record<keyof typeof MARKS, Tone>;

interface LiveStep {
  text: string;
  state: keyof typeof MARKS;
  /** What it is doing at the moment. */
  doing: string;
  since: number;
  tookMs: number;
  calls: number;
}

class DrawnView implements LiveView {
  readonly #parts: LiveParts;
  readonly #paint: ReturnType<typeof painter>;
  readonly #now: () => number;
  readonly #began: number;
  readonly #steps = new Map<string, LiveStep>();
  readonly #timer: NodeJS.Timeout;
  #tokensIn = 0;
  #tokensOut = 0;
  #cost = 0;
  #priceKnown = true;
  #asked = false;
  #drawn = 0;
  #ended = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#paint = painter(parts.screen);
    this.#now = parts.now ?? (() => performance.now());
    this.#began = this.#now();
    // Times go on also when nothing happens.
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    this.#timer.unref();
  }

  readonly on = (event: RunEvent): void => {
    if (this.#ended) return;
    this.#note(event);
  };

  readonly say = (text: string): void => {
    this.#erase();
    this.#parts.stream.write(`${text}\n`);
    if (!this.#ended) this.#draw();
  };

  readonly end = (): void => {
    if (this.#ended) return;
    clearInterval(this.#timer);
    this.#draw();
    this.#ended = true;
    this.#drawn = 0;
  };

  #note(event: RunEvent): void {
    switch (event.kind) {
      case "step": {
        const step = this.#step(event.step);
        step.text = event.text;
        step.state = event.event === "started" ? "running" : event.event;
        step.doing = "";
        step.since = this.#now();
        step.tookMs = event.durationMs;
        break;
      }
      case "context":
        this.#doing(event.step, `read ${thousands(event.tokens)} tokens of code`);
        break;
      case "asking":
        this.#doing(event.step, `asking ${event.model}`);
        break;
      case "text":
        this.#doing(event.step, lastLine(event.soFar));
        break;
      case "answered":
        this.#asked = true;
        this.#tokensIn += event.inputTokens;
        this.#tokensOut += event.outputTokens;
        if (event.cost === undefined) this.#priceKnown = false;
        else this.#cost += event.cost;
        this.#step(event.step).calls += 1;
        break;
      case "tool-started":
        this.#doing(event.step, `${event.tool} ${event.target}`);
        break;
      case "tool-ended":
        this.#doing(event.step, event.error === undefined ? "" : `${event.tool} failed: ${event.error}`);
        break;
      case "check": {
        const step = this.#step(`${event.name} ${event.resource}`.trim());
        const ended = event.event === "failed" ? "failed" : "done";
        step.state = event.event === "started" ? "running" : ended;
        step.since = this.#now();
        step.tookMs = event.durationMs;
        break;
      }
    }
  }

  #step(id: string): LiveStep {
    const known = this.#steps.get(id);
    if (known !== undefined) return known;
    const made: LiveStep = { text: "", state: "running", doing: "", since: this.#now(), tookMs: 0, calls: 0 };
    this.#steps.set(id, made);
    return made;
  }

  #doing(step: string, what: string): void {
    this.#step(step).doing = oneLine(what).trim();
  }

  #draw(): void {
    if (this.#ended) return;
    const lines = this.#lines();
    // One write for a frame, so that no half of one is ever seen.
    const up = this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A\r`;
    const text = lines.map((line) => `${line}\u001b[K\n`).join("");
    this.#parts.stream.write(`${up}${text}\u001b[J`);
    this.#drawn = lines.length;
  }

  #erase(): void {
    if (this.#drawn > 0) this.#parts.stream.write(`\u001b[${this.#drawn}A\r\u001b[J`);
    this.#drawn = 0;
  }

  #lines(): string[] {
    const columns = this.#parts.stream.columns ?? this.#parts.screen.columns ?? 80;
    // More lines than the screen has could not be drawn over; the steps under way matter most.
    const room = Math.max(1, (this.#parts.stream.rows ?? 24) - 3);
    const all = [...this.#steps];
    const active = all.filter(([, { state }]) => state === "running");
    const quiet = all.filter(([, { state }]) => state !== "running").slice(-Math.max(0, room - active.length));
    const shown = new Set([...quiet, ...active.slice(0, room)].map(([id]) => id));
    const hidden = all.length - shown.size;
    return [
      ...(hidden > 0 ? [this.#paint(fit(`  … ${hidden} more steps`, columns), "dim")] : []),
      ...all.filter(([id]) => shown.has(id)).map(([id, step]) => this.#stepLine(id, step, columns)),
      this.#totals(columns),
    ];
  }

  #stepLine(id: string, step: LiveStep, columns: number): string {
    const running = step.state === "running";
    const time = step.state === "recorded" ? "before" : duration(running ? this.#now() - step.since : step.tookMs);
    const calls = step.calls === 0 ? "" : `${step.calls}×  `;
    const right = `${calls}${time}`;
    const left = `${MARKS[step.state]} ${id}  ${running && step.doing !== "" ? step.doing : step.text}`;
    const room = Math.max(4, columns - 1 - width(right) - 2);
    const text = fit(left, room);
    return this.#paint(
      `${text}${" ".repeat(Math.max(1, columns - 1 - width(text) - width(right)))}${right}`,
      TONES[step.state],
    );
  }

  #totals(columns: number): string {
    const { cap } = this.#parts;
    const parts = [duration(this.#now() - this.#began)];
    if (this.#asked) {
      parts.push(`${thousands(this.#tokensIn)} tokens in, ${thousands(this.#tokensOut)} out`);
      const cost = this.#priceKnown ? dollars(this.#cost) : `${dollars(this.#cost)} and more`;
      parts.push(cap === undefined ? cost : `${cost} of ${dollars(cap)} ${bar(this.#cost / cap)}`);
    }
    return this.#paint(fit(`  ${parts.join(" · ")}`, columns - 1), "dim");
  }
}

const BAR = 10;

function bar(share: number): string {
  const full = Math.min(BAR, Math.max(0, Number.isFinite(share) ? Math.ceil(share * BAR) : BAR));
  return "█".repeat(full) + "░".repeat(BAR - full);
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
