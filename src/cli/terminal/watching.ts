/**
 * The display while an operation runs: the live view of a plan, an answer as it arrives, a line for each thing that is
 * done, notices at once. An answer is the result, so it goes to standard output, piece by piece only on a terminal.
 * Where a machine reads nothing is drawn, and warnings become messages of the envelope.
 */
import type { RunEvent } from "../../domain/run-event.ts";
import { dollars } from "../../domain/money/money.ts";
import type { OutputFormat } from "../../domain/settings/settings.ts";
import { progressOf, type Progress } from "./file-progress.ts";
import { print } from "./gate.ts";
import { interruptible } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { candidatesView } from "./candidates-view.ts";
import { plainLine, recordedLine, waitText } from "./event-line.ts";
import { liveView, type LiveView } from "./live-view.ts";
import type { Message } from "./outcome.ts";
import { screenFor } from "./render.ts";
import { Pieces, wrapped } from "./terminal-text.ts";

interface WatchingParts {
  /** Lines instead of a drawn view. */
  readonly plain: boolean;
  /** Hears every event as it happens, in every format. */
  readonly hear: (event: RunEvent) => void;
}

export class Watching {
  /** For the envelope: what a machine must be told. */
  readonly messages: Message[] = [];
  readonly signal: AbortSignal;
  readonly #io: Io;
  readonly #format: OutputFormat;
  readonly #how: Partial<WatchingParts>;
  readonly #stop: () => void;
  #live: LiveView | undefined;
  /** The plan that the live view shows. */
  #shown = "";
  #answer: Pieces | undefined;
  /** The line about models that was said last. */
  #models = "";
  #stopCounting: () => void = () => undefined;
  readonly #counted = new Map<string, Progress>();

  constructor(io: Io, format: OutputFormat, how: Partial<WatchingParts> = {}) {
    this.#io = io;
    this.#format = format;
    this.#how = how;
    const { signal, stop } = interruptible(io, (text) => this.#say(text));
    this.signal = signal;
    this.#stop = stop;
  }

  /** Lines instead of a drawn view. */
  get isPlain(): boolean {
    return this.#how.plain === true;
  }

  get #machine(): boolean {
    return this.#format === "json" || this.#format === "yaml";
  }

  /** Whether a line can be drawn over. */
  get #drawsOver(): boolean {
    return this.#io.errTerminal.isTTY && this.#io.env["TERM"] !== "dumb" && this.#how.plain !== true;
  }

  readonly tell = (event: RunEvent): void => {
    this.#how.hear?.(event);
    if (event.type === "candidate" && event.event.type === "budget_warning") return this.tell(event.event);
    if (event.type === "notice") return this.#notice({ level: event.level, text: event.text });
    if (event.type === "gateway_ready") return this.#ready(event);
    if (event.type === "budget_warning") return this.#notice({ level: "warning", text: budgetText(event) });
    if (this.#machine) return;
    if (event.type === "answer_text") return this.#answered(event.text);
    if (event.type === "answer_void") return this.#void();
    if (event.type === "answer_waits") return this.#say(waitText(event, event.delayMs));
    if (event.type === "progress") return this.#progress(event);
    if (event.type === "plan_made") return this.#say(planMade(event));
    if (event.type === "recorded") return this.#say(recordedLine(event));
    if (event.type === "landing") return this.#say(`${event.event === "merging" ? "merging" : "applying"} …`);
    if (event.type === "candidates_started") return this.#beginCandidates(event);
    if (event.type === "run_started") this.#begin(event);
    if (this.#live === undefined && event.type === "validation" && event.event === "started") {
      return this.#say(`validating ${event.validation} on the merged ${event.resource} …`);
    }
    this.#live?.on(event);
  };

  /** Leaves the last state on the screen; before a question, and at the end. */
  readonly pause = (): void => {
    this.#endAnswer();
    this.#live?.end();
    this.#live = undefined;
    this.#stopCounting();
    this.#stopCounting = () => undefined;
    for (const counted of this.#counted.values()) counted.end();
    this.#counted.clear();
  };

  end(): void {
    this.pause();
    this.#stop();
  }

  #begin({ plan, models, spent, cap }: Extract<RunEvent, { type: "run_started" }>): void {
    const text = models.length === 0 ? "" : modelText(models, cap);
    // A run that asks its user in between begins again.
    if (text !== "" && text !== this.#models) this.#say(text);
    this.#models = text;
    // A run that did not ask begins again while its strategy is still drawn; two views would draw over each other.
    if (this.#live !== undefined && this.#shown === plan) return;
    this.#live?.end();
    this.#shown = plan;
    const { stderr, errTerminal } = this.#io;
    const screen = screenFor(this.#format as Exclude<OutputFormat, "json" | "yaml">, errTerminal);
    const terminal = this.#drawsOver;
    this.#live = liveView({ stream: stderr, screen, terminal, spent, cap });
  }

  /** On a terminal one line for each candidate; elsewhere each line says whose it is. */
  #beginCandidates(event: Extract<RunEvent, { type: "candidates_started" }>): void {
    const { candidates, spent, cap } = event;
    for (const line of (plainLine(event) ?? "").split("\n")) this.#say(line);
    const limit = cap === undefined ? "no limit of cost (--budget)" : `at most ${dollars(cap)} for all of them`;
    this.#say(`${candidates.length} candidates: ${limit}`);
    const { stderr, errTerminal } = this.#io;
    const screen = screenFor(this.#format as Exclude<OutputFormat, "json" | "yaml">, errTerminal);
    const terminal = this.#drawsOver;
    const parts = { stream: stderr, screen, terminal, spent, cap };
    const names = new Map(candidates.map(({ candidate, actor }) => [candidate, `${candidate} ${actor}`]));
    this.#live = terminal ? candidatesView(liveView(parts), names) : liveView(parts);
  }

  /** Where files are counted, one line for each thing that is done. */
  #progress({ doing, done, total }: Extract<RunEvent, { type: "progress" }>): void {
    if (done === undefined || total === undefined) return this.#count(doing);
    const counted =
      this.#counted.get(doing) ?? progressOf(doing, { stream: this.#io.stderr, terminal: this.#drawsOver });
    this.#counted.set(doing, counted);
    counted.update(done, total);
  }

  #answered(text: string): void {
    const { stdout, outTerminal } = this.#io;
    if (!outTerminal.isTTY) return;
    this.#answer ??= new Pieces((piece) => void stdout.write(piece));
    this.#answer.push(text);
  }

  #void(): void {
    if (this.#answer !== undefined) this.#say("the connection broke; the answer begins again");
  }

  #endAnswer(): void {
    if (this.#answer === undefined) return;
    this.#answer.end();
    this.#answer = undefined;
    this.#io.stdout.write("\n");
  }

  /** On a terminal, says after a second that something is still being done. */
  #count(doing: string): void {
    if (!this.#drawsOver) return;
    const { stderr } = this.#io;
    this.#stopCounting();
    const begun = Date.now();
    const timer = setInterval(() => {
      print(stderr, [{ move: "line start" }, `${doing} … ${Math.round((Date.now() - begun) / 1000)} s `]);
    }, 1000);
    this.#stopCounting = () => {
      clearInterval(timer);
      if (Date.now() - begun >= 1000) print(stderr, [{ move: "line start" }, { move: "erase line" }]);
    };
  }

  #notice(message: Message): void {
    if (!this.#machine) this.#say(message.level === "warning" ? `warning: ${message.text}` : message.text);
    else if (message.level === "warning") this.messages.push(message);
  }

  /** To be pasted into another terminal, also where the result is for a machine. */
  #ready({ variables }: Extract<RunEvent, { type: "gateway_ready" }>): void {
    for (const [name, value] of Object.entries(variables)) this.#say(`export ${name}=${value}`);
    this.#say("The gateway serves until Ctrl-C.");
  }

  #say(text: string): void {
    this.#endAnswer();
    const { errTerminal, stderr } = this.#io;
    const lines = errTerminal.isTTY ? wrapped(text, errTerminal.columns || 80, 2).join("\n") : text;
    if (this.#live !== undefined) this.#live.say(lines);
    else stderr.write(`${lines}\n`);
  }
}

function planMade({ plan, project, made }: Extract<RunEvent, { type: "plan_made" }>): string {
  return `plan ${plan} of ${project}${made.length === 0 ? "" : ` (new: ${made.join(", ")})`}`;
}

/** Whom a run asks and what that may cost, said before the first call. */
function modelText(models: readonly string[], cap: number | undefined): string {
  const limit = cap === undefined ? "no limit of cost (--budget, or budget.per-plan)" : `at most ${dollars(cap)}`;
  return `${models.length === 1 ? "model" : "models"} ${models.join(", ")}: ${limit}`;
}

function budgetText({ scope, spent, cap }: Extract<RunEvent, { type: "budget_warning" }>): string {
  const whose = {
    day: "Today's budget (UTC)",
    gateway: "The budget of this run",
    group: "The budget of all candidates",
    plan: "The plan's budget",
  }[scope];
  return `${whose} is nearly used up: ${dollars(spent)} of ${dollars(cap)}.`;
}
