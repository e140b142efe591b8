import type { CommandContext } from "./command-context.ts";
import type { Outcome } from "./outcome.ts";

/** One command: everything help, completion and parsing need to know, and the code to load when it is called. */
export interface CommandSpec {
  /** "plan use" */
  readonly path: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** As commander writes them: "<action> <project...>". */
  readonly arguments?: string;
  readonly options?: readonly OptionSpec[];
  readonly example: string;
  readonly run: (context: CommandContext, input: Input) => Promise<Outcome>;
}

export interface OptionSpec {
  /** As commander writes them: "-r, --reason <text>". */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** May be given several times; all values are kept. */
  readonly repeatable?: true;
}

/** The parsed words of one call, read by type. */
export class Input {
  readonly #arguments: readonly unknown[];
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(args: readonly unknown[], options: Readonly<Record<string, unknown>>) {
    this.#arguments = args;
    this.#options = options;
  }

  argument(index: number): string {
    return String(this.#arguments[index]);
  }

  optionalArgument(index: number): string | undefined {
    const value = this.#arguments[index];
    return typeof value === "string" ? value : undefined;
  }

  arguments(index: number): string[] {
    const value = this.#arguments[index];
    return Array.isArray(value) ? value.map(String) : [];
  }

  text(name: string): string | undefined {
    const value = this.#options[name];
    return typeof value === "string" ? value : undefined;
  }

  texts(name: string): string[] {
    const value = this.#options[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  flag(name: string): boolean {
    return this.#options[name] === true;
  }
}
