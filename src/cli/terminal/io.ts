/**
 * The surroundings of one call of the command line: three streams, the environment, the working directory, and a way to
 * be interrupted. Commands reach these only through this object, so that several calls can run in one process, one
 * after the other or side by side; `main.ts` alone knows the process itself.
 */
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Asking } from "./confirm.ts";
import type { ProtocolDoors } from "./protocol-doors.ts";
import { coded, exactOutput, gated, type Output } from "./gate.ts";
import { pagerOf } from "./pager.ts";
import type { Terminal } from "./render.ts";
import type { Text } from "./terminal-text.ts";
import type { Environment } from "../../domain/values/environment.ts";

export interface IoParts {
  readonly stdin: Asking["input"];
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  /** Relative paths are meant from here. */
  readonly cwd: string;
  /** Stops the work where it can be continued later. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Calls the listener for an interrupt (Ctrl-C) until the returned function is called; `signal` when it is not given.
   */
  readonly onInterrupt?: ((listener: () => void) => () => void) | undefined;
  /** The surfaces that other commands start, such as `agents acp`, and the loop of plan workers. */
  readonly doors?: ProtocolDoors | undefined;
  /** Calls the listener when the process is asked to end (SIGTERM), until the returned function is called. */
  readonly onTerminate?: ((listener: () => void) => () => void) | undefined;
  /**
   * Calls the listener before the process ends, also by SIGTERM or SIGHUP, until the returned function is called; never
   * when it is not given.
   */
  readonly onExit?: ((listener: () => void) => () => void) | undefined;
  /** From now on a reader that went away does not end the process: its work ends where it can go on. */
  readonly outliveReader?: (() => void) | undefined;
  /** Shows a text in a pager until the user leaves it; false when it cannot be started. */
  readonly startPager?: ((command: string, text: string, environment: Environment) => Promise<boolean>) | undefined;
  /** Opens a file in an editor until the user leaves it; false when it cannot be started, or ended with an error. */
  readonly startEditor?: ((command: string, file: string, environment: Environment) => Promise<boolean>) | undefined;
  /** Everything on standard input; read from `stdin` when it is not given. */
  readonly readInput?: (() => string) | undefined;
}

export class Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  readonly cwd: string;
  /** Where the user can be asked something. */
  readonly asking: Asking;
  readonly #parts: IoParts;
  #release: (() => void) | undefined;

  constructor(parts: IoParts) {
    this.#parts = parts;
    this.stdout = gated(parts.stdout);
    this.stderr = gated(parts.stderr);
    this.env = parts.env;
    this.cwd = parts.cwd;
    this.asking = {
      // Taken only when it is needed: to open the standard input of a process costs time, and changes how its pipe can
      // be read.
      get input() {
        return parts.stdin;
      },
      output: this.stderr,
    };
  }

  get outTerminal(): Terminal {
    return this.#terminal(this.stdout);
  }

  get errTerminal(): Terminal {
    return this.#terminal(this.stderr);
  }

  #terminal({ isTTY, columns }: Output): Terminal {
    return { isTTY: isTTY === true, columns, environment: this.env };
  }

  /**
   * Shows a text in the user's pager, as git would; false where there is no terminal, no pager, or none is wanted: then
   * nothing was shown. The pager gets a text that has passed the gate. `waits`: less does not end by itself where all
   * fits on the screen.
   */
  async page(text: Text, { waits = false } = {}): Promise<boolean> {
    const { startPager } = this.#parts;
    const command = pagerOf(this.env);
    if (startPager === undefined || command === undefined || !this.outTerminal.isTTY) return false;
    const environment = waits ? { ...this.env, LESS: `${this.env["LESS"] ?? "R"} -+F` } : this.env;
    return startPager(command, coded(text), environment);
  }

  /** The user's editor, as git chooses it where its own settings say nothing. */
  async edit(file: string): Promise<boolean> {
    const { startEditor } = this.#parts;
    const command = this.env["VISUAL"] ?? this.env["EDITOR"] ?? "vi";
    return startEditor !== undefined && startEditor(command, file, this.env);
  }

  /** A view takes the whole terminal: `restore` is called once, when it is given back or before the process ends. */
  holdTerminal(restore: () => void): void {
    let stop: (() => void) | undefined;
    const release = (): void => {
      if (this.#release !== release) return;
      this.#release = undefined;
      stop?.();
      restore();
    };
    this.#release = release;
    stop = this.#parts.onExit?.(release);
  }

  /** Gives it back; without a view that holds it, nothing happens. */
  releaseTerminal(): void {
    this.#release?.();
  }

  /** A path as the user wrote it, made absolute. */
  path(file: string): string {
    return resolve(this.cwd, file);
  }

  async readInput(): Promise<string> {
    const { readInput, stdin } = this.#parts;
    return readInput === undefined ? text(stdin as Readable) : readInput();
  }

  /** Hands the two streams of the process to another surface, until its client closes its end. */
  async serve(
    open: (doors: ProtocolDoors, streams: { readonly input: Readable; readonly output: Writable }) => Promise<void>,
  ): Promise<void> {
    const { doors, outliveReader, stdin } = this.#parts;
    if (doors === undefined) throw new Error("the servers of protocols are not part of this program");
    outliveReader?.();
    await open(doors, { input: stdin as Readable, output: exactOutput(this.stdout) });
  }

  /** Carries queued plans out; how many came to an end. */
  async workOnPlans(parts: Parameters<ProtocolDoors["work"]>[0]): Promise<number> {
    const { doors } = this.#parts;
    if (doors === undefined) throw new Error("plan workers are not part of this program");
    return doors.work(parts);
  }

  /** Serves until the signal. */
  async serveHttp(parts: Parameters<ProtocolDoors["http"]>[0]): Promise<void> {
    await this.serve((doors) => doors.http(parts));
  }

  /** Until the returned function is called, a request to end calls the listener; without one of its own, none does. */
  onTerminate(listener: () => void): () => void {
    return this.#parts.onTerminate?.(listener) ?? (() => undefined);
  }

  /** Until the returned function is called, an interrupt calls the listener. */
  onInterrupt(listener: () => void): () => void {
    const { onInterrupt, signal } = this.#parts;
    if (onInterrupt !== undefined) return onInterrupt(listener);
    if (signal === undefined) return () => undefined;
    if (signal.aborted) listener();
    else signal.addEventListener("abort", listener, { once: true });
    return () => signal.removeEventListener("abort", listener);
  }
}
