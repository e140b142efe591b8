/** `agents watch`: the inbox on the terminal, until its user leaves it. It holds nothing: plans go on without it. */
import type { InboxPlan } from "../app/queries/inbox.ts";
import type { InboxDetails } from "../app/queries/inbox-details.ts";
import { maskedError } from "../app/base/masked-error.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { invoke, type Invocation } from "./invoke.ts";
import { asAgentsError } from "./output.ts";
import { answerTo, canAsk } from "./terminal/confirm.ts";
import { coded, print } from "./terminal/gate.ts";
import { filtered, frameOf, inboxLines } from "./terminal/inbox-screen.ts";
import { Keys, type Key } from "./terminal/keys.ts";
import type { Outcome } from "./terminal/outcome.ts";
import { screenFor, type HumanFormat } from "./terminal/render.ts";
import type { Text } from "./terminal/terminal-text.ts";
import { toned, type Cell } from "./terminal/view.ts";
import { terminalAsk } from "./terminal-ask.ts";
import { hasView, VIEWS } from "./views/all-views.ts";
import { show as showInbox, WORDS } from "./views/inbox.ts";
import { COMMANDS, type Command } from "./words/command-table.ts";
import type { ParsedCall } from "./words/program.ts";
import { spellNext } from "./words/spell-next.ts";

/** The list once where no person can see a drawing. */
export async function watch({ command, words }: ParsedCall, invocation: Invocation): Promise<Outcome> {
  const { io, format } = invocation;
  const machine = format === "json" || format === "yaml";
  const once = words.options["once"] === true;
  const draws = canAsk(io.asking) && io.outTerminal.isTTY && io.env["TERM"] !== "dumb" && !invocation.watching.isPlain;
  if (!machine && !once && draws) {
    await new Watch(invocation, format).run();
    return { data: {}, view: [], messages: [], text: "" };
  }
  const outcome = await invoke(
    "inbox",
    { command: { ...command, ownOptions: [] }, words, show: showInbox },
    invocation,
  );
  if (machine || once) return outcome;
  const text = "There is no terminal to draw on, so the list is printed once.";
  return { ...outcome, messages: [...outcome.messages, { level: "info", text }] };
}

const TICK_MS = 250;
/** The store is asked once a second whether anything changed. */
const TICKS_PER_LOOK = 4;
/** A process that died changes nothing in the store: after so many looks everything is read again. */
const LOOKS_PER_READ = 10;

/** The standings for which a key does something; elsewhere it says why not. */
const FITS: Readonly<Record<string, readonly InboxPlan["standing"][]>> = {
  "plan.prompt": ["waiting for you", "working", "stopped", "ready to review", "answered", "not started"],
  "plan.apply": ["ready to review"],
  "plan.undo": ["applied"],
  "plan.cancel": ["not started", "working", "waiting for you", "stopped", "ready to review", "answered"],
  "plan.resume": ["not started", "waiting for you", "stopped"],
};

class Watch {
  readonly #invocation: Invocation;
  readonly #format: HumanFormat;
  readonly #keys: Keys;
  #plans: readonly InboxPlan[] = [];
  #details: InboxDetails | undefined;
  /** The plan whose details are wanted. */
  #close: string | undefined;
  #selected: string | undefined;
  #filter = "";
  #filtering = false;
  #message: readonly Cell[] = [];
  #counter: number | undefined;
  #ticks = 0;
  #drawn = "";

  constructor(invocation: Invocation, format: HumanFormat) {
    this.#invocation = invocation;
    this.#format = format;
    this.#keys = new Keys(invocation.io.asking.input);
  }

  async run(): Promise<void> {
    const { signal } = this.#invocation.watching;
    await this.#read();
    this.#enter();
    try {
      while (!signal.aborted) {
        this.#draw();
        const key = await this.#keys.next(TICK_MS);
        if (key === undefined) await this.#tick();
        else if (await this.#isLast(key)) return;
      }
    } finally {
      this.#invocation.io.releaseTerminal();
    }
  }

  #enter(): void {
    const { io } = this.#invocation;
    print(io.stdout, { move: "enter screen" });
    this.#drawn = "";
    this.#keys.listen();
    io.holdTerminal(() => {
      this.#keys.stop();
      print(io.stdout, { move: "leave screen" });
    });
  }

  #draw(): void {
    const { io } = this.#invocation;
    const { columns, rows } = io.stdout;
    const size = { columns: columns || 80, rows: rows || 24 };
    const state = {
      plans: this.#shown,
      selected: this.#current?.planId,
      details: this.#close === undefined ? undefined : this.#details,
      filter: this.#filter,
      filtering: this.#filtering,
      message: this.#message,
      now: Date.now(),
    };
    const frame = frameOf(inboxLines(state, size, screenFor(this.#format, io.outTerminal), WORDS));
    // A frame that stands there already is not written again, unless the terminal has another size now.
    const drawn = `${size.columns} ${size.rows} ${coded(frame)}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    print(io.stdout, frame);
  }

  async #tick(): Promise<void> {
    this.#ticks += 1;
    if (this.#ticks % TICKS_PER_LOOK !== 0) return;
    await this.#read(this.#ticks % (TICKS_PER_LOOK * LOOKS_PER_READ) === 0 ? undefined : this.#counter);
  }

  async #read(after?: number): Promise<void> {
    const { agents, io } = this.#invocation;
    const wanted = { directory: io.cwd, plan: this.#close, after };
    const output = await agents.run("inbox", wanted);
    this.#counter = output.counter;
    if (!output.changed) return;
    this.#plans = output.plans;
    this.#details = output.details ?? undefined;
  }

  get #shown(): readonly InboxPlan[] {
    return filtered(this.#plans, this.#filter);
  }

  /** The selected plan; the first one when it is not there anymore. */
  get #current(): InboxPlan | undefined {
    const shown = this.#shown;
    return shown.find(({ planId }) => planId === this.#selected) ?? shown[0];
  }

  /** Whether the key leaves the inbox. */
  async #isLast(key: Key): Promise<boolean> {
    if (key === "interrupt") return true;
    if (this.#filtering) {
      this.#typeFilter(key);
      return false;
    }
    this.#message = [];
    if (key === "q") return true;
    if (key === "escape") await this.#back();
    else if (key === "/") this.#filtering = true;
    else if (key === "down" || key === "j") this.#move(1);
    else if (key === "up" || key === "k") this.#move(-1);
    else if (key === "page down") this.#move(10);
    else if (key === "page up") this.#move(-10);
    else if (this.#current !== undefined) await this.#press(key, this.#current);
    return false;
  }

  #typeFilter(key: Key): void {
    if (key === "enter") this.#filtering = false;
    else if (key === "escape") [this.#filtering, this.#filter] = [false, ""];
    else if (key === "backspace") this.#filter = this.#filter.replace(/.$/u, "");
    else if (/^.$/u.test(key)) this.#filter += key;
  }

  async #back(): Promise<void> {
    if (this.#close === undefined) this.#filter = "";
    this.#close = undefined;
    await this.#read();
  }

  #move(by: number): void {
    const shown = this.#shown;
    const at = shown.findIndex(({ planId }) => planId === this.#current?.planId);
    this.#selected = shown[Math.max(0, Math.min(shown.length - 1, at + by))]?.planId;
    this.#close = undefined;
  }

  async #press(key: Key, plan: InboxPlan): Promise<void> {
    // The list may be in another order by then.
    this.#selected = plan.planId;
    switch (key) {
      case "enter":
        this.#close = this.#close === undefined ? plan.planId : undefined;
        return this.#read();
      case "r":
        return this.#reply(plan);
      case "d":
        return this.#operate("plan.diff", plan, () => this.#showDiff(plan));
      case "a":
        return this.#operate("plan.apply", plan, () => this.#command("plan.apply", plan.planId));
      case "u":
        return this.#operate("plan.undo", plan, () => this.#command("plan.undo", plan.planId));
      case "c":
        return this.#operate("plan.cancel", plan, () => this.#cancel(plan));
      case "x":
        return this.#sayHowToContinue(plan);
      default:
    }
  }

  /** Leaves the screen for as long as it takes: what is asked and shown stays readable above the next prompt. */
  async #operate(operation: string, plan: InboxPlan, act: () => Promise<Outcome | undefined>): Promise<void> {
    const fits = FITS[operation];
    if (fits?.includes(plan.standing) === false) {
      const verb = operation.replace("plan.", "").replace("prompt", "reply to");
      this.#message = [toned(`Plan ${plan.number} is ${plan.standing}: there is nothing to ${verb}.`, "warn")];
      return;
    }
    this.#invocation.io.releaseTerminal();
    try {
      const outcome = await act();
      this.#message = outcome === undefined ? [] : messageOf(outcome);
    } catch (error) {
      this.#message = this.#errorLines(error);
    } finally {
      this.#enter();
    }
    await this.#read();
  }

  async #reply(plan: InboxPlan): Promise<void> {
    await this.#operate("plan.prompt", plan, async () => {
      const { agents, io } = this.#invocation;
      const { details } = { details: null, ...(await agents.run("inbox", { plan: plan.planId })) };
      const question = details?.question ?? null;
      const text = question ?? `What should plan ${plan.number} know or do differently? (${plan.request})`;
      const ask = terminalAsk(io, this.#format, this.#invocation.watching.pause);
      const reply = await ask({ kind: "plan", text, alternatives: details?.alternatives ?? [] });
      if (reply.kind !== "text") return undefined;
      const outcome = await this.#command("plan.prompt", plan.planId, reply.text);
      const next = plan.standing === "working" ? [] : [nextStep("plan.resume", { plan: String(plan.number) })];
      return { ...outcome, next };
    });
  }

  async #cancel(plan: InboxPlan): Promise<Outcome | undefined> {
    const { io, watching } = this.#invocation;
    const text = `Cancel plan ${plan.number} (${plan.request})?`;
    const reply = await terminalAsk(io, this.#format, watching.pause)({ kind: "confirm", text, shown: [] });
    return reply.kind === "yes" ? this.#command("plan.cancel", plan.planId) : undefined;
  }

  async #showDiff(plan: InboxPlan): Promise<Outcome | undefined> {
    const { io } = this.#invocation;
    const outcome = await this.#command("plan.diff", plan.planId);
    if (outcome.text === undefined) return outcome;
    if (await io.page(outcome.text, { waits: true })) return undefined;
    print(io.stdout, [outcome.text, "\n"] satisfies Text);
    await answerTo("Enter goes back to the inbox > ", io.asking);
    return undefined;
  }

  /** No process works for plans in the background, so the command is said instead. */
  #sayHowToContinue(plan: InboxPlan): void {
    const { number, standing } = plan;
    const own = plan.next;
    // A strategy is agreed to by its execution.
    const agrees = own !== null && "operation" in own && own.operation === "plan.execute";
    const step = agrees ? own : nextStep("plan.resume", { plan: String(number) });
    const fits = FITS["plan.resume"]?.includes(standing) === true;
    this.#message = fits
      ? [`In another terminal: ${spellNext(step)}`]
      : [toned(`Plan ${number} is ${standing}: there is nothing to continue.`, "warn")];
  }

  /** The command as the user would have typed it. */
  async #command(name: string, ...positional: string[]): Promise<Outcome> {
    if (!hasView(name)) throw new Error(`There is no command ${name}.`);
    const { show } = await VIEWS[name]();
    return invoke(name, { command: commandOf(name), words: { positional, options: {} }, show }, this.#invocation);
  }

  #errorLines(error: unknown): Cell[] {
    const { message, kept, next } = maskedError(asAgentsError(error), this.#invocation.io.env);
    return [
      toned(`error: ${message}`, "bad"),
      ...(kept === undefined ? [] : [`kept: ${kept}`]),
      ...next.slice(0, 1).map((step) => `next: ${spellNext(step)}`),
    ];
  }
}

function messageOf({ messages, next = [] }: Outcome): Cell[] {
  const said = messages.map(({ level, text }) => toned(text, level === "info" ? "good" : "warn"));
  return [...said, ...next.slice(0, 1).map((step) => `next: ${spellNext(step)}`)];
}

function commandOf(name: string): Command {
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new Error(`There is no command ${name}.`);
  return command;
}
