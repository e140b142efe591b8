/** The interface of a way to confine commands: it turns a program into one that runs confined. */
import type { FileView } from "./mounts.ts";
import type { Environment } from "../domain/values/environment.ts";

/** The program that is run in the end: an absolute path, its arguments and its environment. */
export interface ConfinedProgram {
  readonly command: readonly string[];
  readonly environment: Environment;
  /** Whether it records itself before it begins (running-command.ts). */
  readonly recorded: boolean;
}

/** How a command is started so that it is confined. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  /** For the loader: the calls it makes, and by which descriptor of ours it is executed. */
  readonly loaded?: { readonly calls: Buffer; readonly descriptor: number };
}

export interface ConfinementBackend {
  readonly kind: "bubblewrap" | "namespaces" | "seatbelt";
  /** Whether system calls are filtered too. */
  readonly filtered: boolean;
  /** Our descriptor of the loader, where it has one. */
  readonly loader?: number | undefined;
  readonly start: (program: ConfinedProgram, view: FileView) => Launch;
}

/**
 * The descriptors with which it is started. 0 to 2 are the command's own, all others are gone before it begins: 3
 * ends it when it closes, 4 holds the calls, 5 is the loader; its output on 6, and bubblewrap's about it on 7, goes
 * into its record.
 */
export const LOADER_PATH = "/proc/self/fd/5";
export const RECORD_DESCRIPTOR = 6;
export const INFO_DESCRIPTOR = 7;
