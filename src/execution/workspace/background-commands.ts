/**
 * The commands of one sandbox that go on while their step does something else. Their changes are found later, by
 * comparing, and belong to the call that started them. So that this is certain, there is one writer at a time: while a
 * command that may change files runs in the background, other commands see the files read-only, and a file tool stops
 * it for a moment, has its changes recorded first, and then makes its own (docs/decisions, 67).
 */
import { planStepOf } from "../../changes/step-records.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { Snapshot } from "./file-listing.ts";

/** A program that runs, as its starter hands it over. */
export interface BackgroundProgram {
  readonly ended: Promise<{ readonly code: number; readonly durationMs: number }>;
  taken(): { readonly text: string; readonly cut: boolean };
  explain(output: string): string | undefined;
  refusals(): string | undefined;
  kill(): void;
  pause(): Promise<() => void>;
}

export class BackgroundCommand {
  /** The name of the call that started it: no other command of the plan has it. */
  readonly id: string;
  readonly command: string;
  readonly program: BackgroundProgram;
  readonly started: number = performance.now();
  /** Settles when it has ended, however. */
  readonly ended: Promise<void>;
  #end: { readonly code: number } | { readonly failed: string } | undefined;
  /** Why it was ended before it ended itself. */
  stopped: string | undefined;

  constructor(parts: Pick<BackgroundCommand, "id" | "command" | "program">) {
    this.id = parts.id;
    this.command = parts.command;
    this.program = parts.program;
    this.ended = parts.program.ended.then(
      ({ code }) => void (this.#end = { code }),
      (error: unknown) => void (this.#end = { failed: error instanceof Error ? error.message : String(error) }),
    );
  }

  /** Undefined while it runs. */
  get end(): { readonly code: number } | { readonly failed: string } | undefined {
    return this.#end;
  }

  async stop(why: string): Promise<void> {
    if (this.#end === undefined) this.stopped = why;
    this.program.kill();
    await this.ended;
  }
}

/** The command that may change files, and the files as far as they are recorded. */
interface Writer {
  readonly command: BackgroundCommand;
  seen: Snapshot;
}

/** The codes of changes that cannot be recorded, and were put back. */
const REFUSED: ReadonlySet<string> = new Set(["tool_failed", "contained"]);

/** Reads and records the files; called only by one that has the sandbox to itself. */
interface Comparison {
  look(): Promise<Snapshot>;
  /** Records what changed since `before` as the command's, and returns the files as they are now. */
  record(foundBy: string, command: BackgroundCommand, before: Snapshot): Promise<Snapshot>;
}

export class BackgroundCommands {
  readonly #comparison: Comparison;
  readonly #commands = new Map<string, BackgroundCommand>();
  #writer: Writer | undefined;

  constructor(comparison: Comparison) {
    this.#comparison = comparison;
  }

  /** The command whose changes are not all known yet. */
  get writer(): BackgroundCommand | undefined {
    return this.#writer?.command;
  }

  get(id: string): BackgroundCommand | undefined {
    return this.#commands.get(id);
  }

  /** Starts a command; as one that may change files only when no other one may. */
  async start(readOnly: boolean, begin: () => Promise<BackgroundCommand>): Promise<BackgroundCommand> {
    const seen = readOnly ? undefined : await this.#comparison.look();
    const command = await begin();
    this.#commands.set(command.id, command);
    if (seen !== undefined) this.#writer = { command, seen };
    return command;
  }

  /** Has the changes so far recorded, then runs `section` while nothing in the background moves. */
  async quietly<T>(foundBy: string, section: () => Promise<T>): Promise<T> {
    const writer = this.#writer;
    if (writer === undefined) return section();
    const goOn = writer.command.end === undefined ? await writer.command.program.pause() : () => undefined;
    try {
      await this.#settle(foundBy, writer);
      try {
        return await section();
      } finally {
        if (this.#writer !== undefined) writer.seen = await this.#comparison.look();
      }
    } finally {
      goOn();
    }
  }

  async #settle(foundBy: string, writer: Writer): Promise<void> {
    const { command } = writer;
    const over = command.end !== undefined;
    try {
      writer.seen = await this.#comparison.record(foundBy, command, writer.seen);
    } catch (error) {
      if (!(error instanceof AgentsError && REFUSED.has(error.code))) throw error;
      // The files are as they were: what cannot be recorded cannot stay, and the command would do it again.
      await command.stop(error.message);
      this.#writer = undefined;
      return;
    }
    if (over) this.#writer = undefined;
  }

  /** Ends those that the step started, so that their last changes can be recorded. */
  async endOf(step: string): Promise<void> {
    await this.#endAll((command) => planStepOf(command.id) === step);
  }

  /** Ends all of them; changes that are not recorded by now will not be. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endAll(() => true);
    this.#writer = undefined;
  }

  async #endAll(which: (command: BackgroundCommand) => boolean): Promise<void> {
    await Promise.all([...this.#commands.values()].filter(which).map((command) => command.stop("its step ended")));
  }
}
