/** A view draws the output of one operation for people, and says how it went. */
import type { InputOf, OperationName, OutputOf } from "../../app/table/operation-table.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { Io } from "./io.ts";
import type { Message } from "./outcome.ts";
import type { Screen } from "./render.ts";
import type { Text } from "./terminal-text.ts";
import type { View } from "./view.ts";

interface Showing<Name extends OperationName> {
  readonly input: InputOf<Name>;
  /** A machine reads: only messages and status count. */
  readonly machine: boolean;
  /** The options that only the command line has. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly screen: Screen;
  readonly io: Io;
  readonly verbose: boolean;
}

export interface Picture {
  readonly view: View;
  readonly messages: readonly Message[];
  /** The commands the user can run next; the output's own steps unless given. */
  readonly next?: readonly NextStep[];
  /** `warn` still exits 0. */
  readonly status?: "ok" | "warn" | "error";
  /** Printed instead of view and messages, in the human formats: a diff, an answer. */
  readonly text?: Text;
  /** The text may be long: on a terminal it is read in the user's pager. */
  readonly isLong?: boolean;
  /** Of a program that was run; otherwise the status decides. */
  readonly exitCode?: number;
}

export type Show<Name extends OperationName> = (
  output: OutputOf<Name>,
  about: Showing<Name>,
) => Picture | Promise<Picture>;
