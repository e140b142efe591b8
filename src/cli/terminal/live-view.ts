import { performance } from "node:perf_hooks";
import type { AskWait, ChecklistEvent, ModelEvent, RunEvent, StepEvent } from "../../domain/run-event.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import { called, CHECK_MARKS, checkName, waitText } from "./event-line.ts";
import { plainView, SAID_LIMIT } from "./plain-view.ts";
import { count, duration, thousands } from "./format.ts";
import { LiveTotals } from "./live-totals.ts";
import { visible } from "../../domain/text/text.ts";
import { print, type Output } from "./gate.ts";
import { painter, type Screen } from "./render.ts";
import { fit, fitEnd, oneLine, pad, width, wrapped, type Text } from "./terminal-text.ts";
import { cellText, toned, type Cell, type Tone } from "./view.ts";

/**
 * The display while a plan is carried out: on a terminal a few lines that are drawn over, with each step, what it is
 * doing, and what it has cost so far; elsewhere one line for each thing that happened, which can be read later as a
 * log.
 */
export interface LiveView {
  readonly on: (event: RunEvent) => void;
  /** Something to be said above the drawn lines. */
  readonly say: (text: string) => void;
  /** Leaves the last state on the screen and draws no more; called twice it does nothing. */
  readonly end: () => void;
}

export interface LiveParts {
  readonly stream: Output;
  readonly screen: Screen;
  /** Whether lines can be drawn over. */
  readonly terminal: boolean;
  /** The most the plan may cost, in millionths of a dollar. */
  readonly cap?: Microdollars | undefined;
  /** The cost before this command. */
  readonly spent?: Microdollars;
  readonly now?: () => number;
}

export function liveView(parts: LiveParts): LiveView {
  return parts.terminal ? new DrawnView(parts) : plainView(parts.stream);
}

/** The subjects of questions that are asked before there are steps. */
const STRATEGY = "strategy";
const FRAME_MS = 100;
/** Of an answer that is being written, so many characters may be on the screen. */
const NEWEST = 1_000;
/** Of an answer this many lines stay on the screen. */
const SAID_LINES = 8;
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
  /** Its current work. */
  doing: string;
  /** Its call is sent again at this time. */
  waits?: (AskWait & { readonly until: number }) | undefined;
  /** The model's answer so far, as much of it as is kept. */
  said: string;
  /** Its newest words, while nothing else is done. */
  saying: string;
  since: number;
  tookMs: number;
  calls: number;
  /** The list by which its model shows what it is doing. */
  list: ChecklistEvent["items"];
}

class DrawnView implements LiveView {
  readonly #parts: LiveParts;
  readonly #paint: ReturnType<typeof painter>;
  readonly #now: () => number;
  readonly #began: number;
  readonly #steps = new Map<string, LiveStep>();
  readonly #timer: NodeJS.Timeout;
  readonly #sums: LiveTotals;
  /** The columns of each drawn line: on a terminal that became narrower, one takes several rows. */
  #drawn: readonly number[] = [];
  #ended = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#paint = painter(parts.screen);
    this.#sums = new LiveTotals(parts.spent ?? 0, parts.cap);
    this.#now = parts.now ?? (() => performance.now());
    this.#began = this.#now();
    // Times keep counting when nothing happens.
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    this.#timer.unref();
  }

  readonly on = (event: RunEvent): void => {
    if (this.#ended) return;
    this.#note(event);
  };

  readonly say = (text: string): void => {
    this.#erase();
    print(this.#parts.stream, `${text}\n`);
    if (!this.#ended) this.#draw();
  };

  readonly end = (): void => {
    if (this.#ended) return;
    clearInterval(this.#timer);
    this.#draw();
    this.#ended = true;
    this.#drawn = [];
  };

  #note(event: RunEvent): void {
    switch (event.type) {
      case "decided":
      case "step_started":
      case "step_done":
      case "step_recorded":
      case "step_failed":
        this.#noteStep(event);
        break;
      case "context_assembled":
      case "ask_started":
      case "text":
      case "thought":
      case "text_void":
      case "ask_answered":
      case "ask_failed":
      case "ask_waits":
        this.#noteModel(event);
        break;
      case "tool_started":
        this.#doing(event.step, called(event));
        break;
      case "tool_ended":
        if (event.error !== undefined) this.#doing(event.step, `${event.tool} failed: ${event.error}`);
        this.#leave(event.step, [
          event.error === undefined ? toned(called(event), "dim") : toned(`${called(event)}: ${event.error}`, "bad"),
        ]);
        break;
      case "hook":
      case "validation": {
        const state = event.event === "started" ? "running" : event.event === "failed" ? "failed" : "done";
        this.#turn(`${checkName(event)} ${event.resource}`.trim(), state, event.durationMs);
        break;
      }
      case "checklist":
        this.#step(event.step).list = event.items;
        break;
      case "answer_text":
      case "answer_void":
      case "answer_waits":
      case "sandbox":
      case "kept_files":
      case "landing":
      case "budget_warning":
      case "gateway_ready":
      case "recorded":
      case "plan_made":
      case "progress":
      case "run_started":
      case "notice":
      case "candidates_started":
      case "candidate":
      case "candidate_ended":
        break;
    }
  }

  #noteStep(event: StepEvent): void {
    switch (event.type) {
      case "decided":
        // A run that continues is told again what it decided on.
        if (this.#steps.get(STRATEGY)?.state === "running") this.#turn(STRATEGY, "done", this.#now() - this.#began);
        for (const { step, description } of event.steps) {
          this.#turn(step, "waiting", 0);
          this.#step(step).text = description;
        }
        break;
      case "step_started":
        this.#turn(event.step, "running", 0);
        this.#step(event.step).text = event.description;
        break;
      case "step_done":
        this.#turn(event.step, "done", event.durationMs);
        break;
      case "step_recorded":
        this.#turn(event.step, "recorded", 0);
        this.#step(event.step).text = event.description;
        break;
      case "step_failed":
        this.#turn(event.step, "failed", event.durationMs);
        break;
    }
  }

  #noteModel(event: ModelEvent): void {
    const step = this.#step(event.step);
    switch (event.type) {
      case "context_assembled":
        this.#doing(event.step, `read ${thousands(event.tokens)} tokens of code`);
        break;
      case "ask_started":
        step.said = "";
        this.#sums.askStarted();
        this.#doing(event.step, `asking ${event.model.provider}/${event.model.model}`);
        break;
      case "text":
        step.said = (step.said + event.text).slice(0, SAID_LIMIT);
        step.saying = (step.saying + event.text).slice(-NEWEST);
        Object.assign(step, { doing: "", waits: undefined });
        break;
      case "thought":
        if (step.said === "") this.#doing(event.step, "thinking");
        break;
      case "text_void":
        step.said = "";
        step.saying = "";
        break;
      case "ask_answered":
        this.#sums.answered(event);
        step.calls += 1;
        this.#leaveWords(event.step, step);
        break;
      case "ask_waits":
        this.#doing(event.step, "");
        this.#step(event.step).waits = { ...event, until: this.#now() + event.delayMs };
        break;
      case "ask_failed":
        this.#doing(event.step, event.error);
        break;
    }
  }

  /** The words of an answer stay above the drawn lines, in the order in which things happened. */
  #leaveWords(id: string, step: LiveStep): void {
    const lines = step.said.trim().split("\n");
    Object.assign(step, { said: "", saying: "" });
    if (lines.join("") === "") return;
    const more = lines.length > SAID_LINES ? [toned(`… ${count(lines.length - SAID_LINES, "more line")}`, "dim")] : [];
    this.#leave(id, [...lines.slice(0, SAID_LINES), ...more]);
  }

  #leave(id: string, lines: readonly Cell[]): void {
    const columns = this.#columns();
    const head = `  ${id}  `;
    const room = Math.max(20, columns - 1 - width(head));
    const texts = lines.flatMap((line) =>
      wrapped(visible(cellText(line)).replaceAll("\t", "    "), room).map((text) =>
        typeof line === "string" ? text : this.#paint(text, line.tone),
      ),
    );
    this.#erase();
    const rows = texts.map((text, at) => [this.#paint(at === 0 ? head : pad("", width(head)), "dim"), text, "\n"]);
    print(this.#parts.stream, rows);
    this.#draw();
  }

  #columns(): number {
    return this.#parts.stream.columns || this.#parts.screen.columns || 80;
  }

  #turn(id: string, state: LiveStep["state"], tookMs: number): void {
    Object.assign(this.#step(id), { state, tookMs, doing: "", saying: "", since: this.#now() });
  }

  #step(id: string): LiveStep {
    const known = this.#steps.get(id);
    if (known !== undefined) return known;
    const since = this.#now();
    const made: LiveStep = {
      text: "",
      state: "running",
      doing: "",
      said: "",
      saying: "",
      since,
      tookMs: 0,
      calls: 0,
      list: [],
    };
    this.#steps.set(id, made);
    return made;
  }

  #doing(step: string, what: string): void {
    Object.assign(this.#step(step), { doing: oneLine(what).trim(), saying: "", waits: undefined });
  }

  #draw(): void {
    if (this.#ended) return;
    const lines = this.#lines();
    // One write for a frame, so that no half of one is ever seen.
    const text = lines.flatMap((line) => [line, { move: "erase line" } as const, "\n"]);
    print(this.#parts.stream, [this.#up(), ...text, { move: "erase below" }]);
    this.#drawn = lines.map(width);
  }

  #erase(): void {
    if (this.#drawn.length > 0) print(this.#parts.stream, [this.#up(), { move: "erase below" }]);
    this.#drawn = [];
  }

  #up(): Text {
    const columns = this.#columns();
    const rows = this.#drawn.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / columns)), 0);
    return rows === 0 ? "" : [{ move: "up", lines: rows }, { move: "line start" }];
  }

  #lines(): Text[] {
    const columns = this.#columns();
    // More lines than the screen has could not be drawn over; what is under way, and comes next, matters most.
    const room = Math.max(1, (this.#parts.stream.rows || 24) - 3);
    const all = [...this.#steps];
    const active = all.findIndex(([, { state }]) => state === "running" || state === "waiting");
    const first = Math.max(0, Math.min(active === -1 ? all.length : active - 1, all.length - room));
    const shown = all.slice(first, first + room);
    const hidden = all.length - shown.length;
    let spare = room - shown.length;
    return [
      ...(hidden > 0 ? [this.#paint(fit(`  … ${count(hidden, "more step")}`, columns), "dim")] : []),
      ...shown.flatMap(([id, step]) => {
        const list = this.#listLines(step, columns, spare);
        spare -= list.length;
        return [this.#stepLine(id, step, columns), ...list];
      }),
      this.#totals(columns),
    ];
  }

  /** As many points as there is room for, from the last one that is done on. */
  #listLines({ state, list }: LiveStep, columns: number, room: number): Text[] {
    if (state !== "running" || list.length === 0 || room < 1) return [];
    const open = list.findIndex((item) => item.state !== "done");
    const first = Math.max(0, Math.min(open === -1 ? list.length : open - 1, list.length - room));
    return list.slice(first, first + room).map((item) => {
      const tone = item.state === "done" ? "good" : item.state === "doing" ? "strong" : "dim";
      return this.#paint(fit(`    ${CHECK_MARKS[item.state]} ${oneLine(item.text)}`, columns - 1), tone);
    });
  }

  #stepLine(id: string, step: LiveStep, columns: number): Text {
    const running = step.state === "running";
    const time = running ? duration(this.#now() - step.since) : endOf(step);
    const calls = step.calls === 0 ? "" : `${count(step.calls, "call")}  `;
    const right = `${calls}${time}`;
    const doing = step.waits === undefined ? step.doing : waitText(step.waits, step.waits.until - this.#now());
    const head = `${MARKS[step.state]} ${id}  `;
    const room = Math.max(4, columns - 1 - width(right) - 2);
    const saying = lastLine(step.saying);
    // Of a sentence that is still being written, its end is new.
    const words = saying === "" ? (running && doing !== "" ? doing : step.text) : fitEnd(saying, room - width(head));
    const text = fit(`${head}${words}`, room);
    const gap = " ".repeat(Math.max(1, columns - 1 - width(text) - width(right)));
    return this.#paint(`${text}${gap}${right}`.trimEnd(), TONES[step.state]);
  }

  #totals(columns: number): Text {
    const text = this.#sums.text(duration(this.#now() - this.#began), columns - 3);
    return this.#paint(fit(`  ${text}`, columns - 1), "dim");
  }
}

function endOf({ state, tookMs }: LiveStep): string {
  return state === "waiting" ? "" : state === "recorded" ? "before" : duration(tookMs);
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
