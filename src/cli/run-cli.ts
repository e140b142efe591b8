/**
 * One call of `agents`: parse, run one command, print one result, tell the truth in the exit code. It knows the process
 * only through `Io`, so that a program or a test can call it as often as it likes.
 */
import type { NoticeEvent, Tell } from "../domain/run-event.ts";
import { visibleJson } from "../domain/text/text.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "../domain/settings/settings.ts";
import type { CleverAgents } from "../app/open.ts";
import type { Invocation } from "./invoke.ts";
import { print } from "./terminal/gate.ts";
import { Io, type IoParts } from "./terminal/io.ts";
import type { Message, Outcome } from "./terminal/outcome.ts";
import { writeError, writeOutcome, type Run, type Streams } from "./output.ts";
import type { TableEntry } from "../app/base/operation.ts";
import { OPERATIONS } from "../app/table/operation-table.ts";
import type { ParsedCall, Program } from "./words/program.ts";
import type { Environment } from "../domain/values/environment.ts";

/** The words of a call, understood. */
interface Understood {
  readonly command: string;
  readonly globals: ReturnType<Program["globals"]>;
  readonly call: ParsedCall;
}

/**
 * Runs one command and returns its exit code. Calls side by side do not disturb each other as long as each has a data
 * directory of its own: within one data directory they are one owner of leases, as one process is.
 */
export function runCli(argv: readonly string[], parts: IoParts): Promise<number> {
  return new CliCall(argv, parts).run();
}

export class CliCall {
  readonly #argv: readonly string[];
  readonly #io: Io;
  readonly #streams: Streams;
  readonly #startedAt = Date.now();
  readonly #begun = performance.now();
  #command = "";
  #format: OutputFormat;

  constructor(argv: readonly string[], parts: IoParts) {
    this.#argv = argv;
    const io = new Io(parts);
    this.#io = io;
    this.#streams = {
      out: (text) => print(io.stdout, text),
      page: (text) => io.page(text),
      err: (text) => print(io.stderr, text),
      // A terminal may have another width by the time the result is printed.
      get outTerminal() {
        return io.outTerminal;
      },
      get errTerminal() {
        return io.errTerminal;
      },
    };
    this.#format = wantedFormat(argv, io.env);
  }

  async run(): Promise<number> {
    try {
      const understood = await parse(this.#argv, this.#streams, this.#io);
      if (understood === undefined) return 0;
      this.#command = understood.command;
      return await this.#carryOut(understood);
    } catch (error) {
      this.#command ||= (await import("./words/program.ts")).commandPath(this.#argv);
      return this.fail(error);
    }
  }

  async #carryOut({ call, globals }: Understood): Promise<number> {
    if (call.command.name === "help") return this.#help(call);
    const { dataDir, store, configPath, verbose, plainProgress, events } = globals;
    const flag = events ? "json" : globals.format;
    const io = this.#io;
    const notices: NoticeEvent[] = [];
    const { composeCleverAgents } = await import("../app/open.ts");
    await using agents = composeCleverAgents({
      dataDir,
      store,
      configPath,
      directory: io.cwd,
      environment: io.env,
      tell: (event) => {
        if (event.type === "notice") notices.push(event);
      },
    });
    if (["acp", "mcp.serve"].includes(call.command.name)) return this.#serve(agents, call);
    this.#format = (await agents.setting("core.format", { flag })).value as OutputFormat;
    if (call.command.name === "server.start") return this.#serveHttp(agents, call);
    const { Watching } = await import("./terminal/watching.ts");
    const progress = await agents.setting("core.progress", { flag: plainProgress ? "plain" : undefined });
    const watching = new Watching(io, this.#format, {
      plain: progress.value === "plain",
      ...(events ? { hear: await eventLines(this.#streams) } : {}),
    });
    try {
      const outcome = await carryOut(call, { agents, io, format: this.#format, verbose: verbose > 0, watching });
      const messages = [...(await Promise.all(notices.map(spelled))), ...watching.messages, ...outcome.messages];
      return await writeOutcome({ ...outcome, messages }, this.#described(), this.#streams);
    } finally {
      watching.end();
    }
  }

  /** Without the application: a configuration that is broken is not in the way of a page. */
  async #help({ words }: ParsedCall): Promise<number> {
    const { help } = await import("./words/help.ts");
    const asked = words.positional.flat().map(String);
    const outcome = help(asked, this.#streams.outTerminal.columns || 80);
    return writeOutcome(outcome, this.#described(), this.#streams);
  }

  /** Standard output belongs to the protocol: neither a result nor an error is written there. */
  async #serve(agents: CleverAgents, call: ParsedCall): Promise<number> {
    this.#format = "plain";
    const { serveCommand } = await import("./serve-protocol.ts");
    await serveCommand(agents, call, this.#io);
    return 0;
  }

  /** Its url is the one line on standard output; the log is on standard error. */
  async #serveHttp(agents: CleverAgents, call: ParsedCall): Promise<number> {
    const { serverCommand } = await import("./serve-http.ts");
    await serverCommand(agents, call, this.#io);
    return 0;
  }

  /** Writes the error as the result of the call; returns the exit code. */
  fail(error: unknown): Promise<number> {
    // The error is written where it can be read later.
    this.#io.releaseTerminal();
    return writeError(error, this.#described(), this.#streams);
  }

  #described(): Run {
    return {
      command: this.#command || "agents",
      format: this.#format,
      startedAt: this.#startedAt,
      durationMs: performance.now() - this.#begun,
      events: this.#argv.includes("--events"),
      verbose: this.#argv.some((word) => word === "--verbose" || /^-v+$/.test(word)),
    };
  }
}

/** Writes each event as a line of JSON. */
async function eventLines({ out }: Streams): Promise<Tell> {
  const { wireEvent } = await import("../app/base/wire-event.ts");
  const { spellNext } = await import("./words/spell-next.ts");
  return (event) => out(`${visibleJson(JSON.stringify(wireEvent(event, spellNext)))}\n`);
}

/** A notice as a message, with the steps that help. */
async function spelled({ level, text, next = [] }: NoticeEvent): Promise<Message> {
  if (next.length === 0) return { level, text };
  const { spellNext } = await import("./words/spell-next.ts");
  return { level, text: `${text} Next: ${next.map(spellNext).join("; ")}.` };
}

async function carryOut(call: Understood["call"], invocation: Invocation): Promise<Outcome> {
  const { command, words } = call;
  if (command.name === "completion") return (await import("./words/completion.ts")).completion(words, invocation);
  if (command.name === "jobs.work") return (await import("./work-on-plans.ts")).workCommand(call, invocation);
  if (command.name === "watch") return (await import("./watch.ts")).watch(call, invocation);
  const { hasView, VIEWS } = await import("./views/all-views.ts");
  const { name } = command;
  if (!hasView(name)) throw new Error(`There is no command ${name}.`);
  const { invoke } = await import("./invoke.ts");
  const { show } = await VIEWS[name]();
  return invoke(name, { command, words, show }, invocation);
}

/** The command that the words ask for; undefined when they asked for help and got it. */
async function parse(argv: readonly string[], streams: Streams, io: Io): Promise<Understood | undefined> {
  // The one command that scripts call in loops skips the parser, which is a third of its start-up time.
  if (argv.length === 1 && ["version", "--version", "-V"].includes(argv[0] ?? "")) {
    return { command: "version", globals: { verbose: 0, plainProgress: false, events: false }, call: bare("version") };
  }
  const { buildProgram } = await import("./words/program.ts");
  const columns = streams.outTerminal.columns || 80;
  // A client of the protocol starts `agents mcp` with a pipe; a person who types it wants the help.
  const isPiped = (): boolean => io.asking.input.isTTY !== true;
  const program = buildProgram(streams.out, columns, (group) =>
    group === "mcp" && isPiped() ? "mcp serve" : undefined,
  );
  const call = program.parse(argv);
  if (call === undefined) return undefined;
  const globals = program.globals();
  if (call === "overview") return { command: "overview", globals, call: bare("overview") };
  return { command: call.command.path, globals, call };
}

/** A command without words. */
function bare(name: "version" | "overview"): ParsedCall {
  const entry: TableEntry = OPERATIONS[name];
  const command = { ...entry, name, path: name, parameters: entry.parameters ?? [], ownOptions: [] };
  return { command, words: { positional: [], options: {} } };
}

/** The format as far as it can be told from words that did not parse. */
function wantedFormat(argv: readonly string[], environment: Environment): OutputFormat {
  if (argv.includes("--events")) return "json";
  const index = argv.findIndex((word) => word === "--format" || word === "-f");
  const inline = argv.find((word) => word.startsWith("--format="))?.slice("--format=".length);
  const wanted = inline ?? (index === -1 ? environment["CLEVERAGENTS_FORMAT"] : argv[index + 1]);
  return OUTPUT_FORMATS.find((format) => format === wanted) ?? "rich";
}
