/**
 * The surroundings of one call of the command line: three streams, the environment, the working directory, and a way to
 * be interrupted. Commands reach these only through this object, so that several calls can run in one process, one
 * after the other or side by side; `main.ts` alone knows the process itself.
 */
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Asking } from "./confirm.ts";
import { gated, type Output } from "./gate.ts";
import type { Terminal } from "./render.ts";
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

  /** A path as the user wrote it, made absolute. */
  path(file: string): string {
    return resolve(this.cwd, file);
  }

  async readInput(): Promise<string> {
    const { readInput, stdin } = this.#parts;
    return readInput === undefined ? text(stdin as Readable) : readInput();
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
