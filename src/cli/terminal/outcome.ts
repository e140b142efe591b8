import type { Text } from "./terminal-text.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { View } from "./view.ts";

/** The result of a command: data for machines, a view for people, and how it went. */
export interface Outcome {
  /** Keys in snake_case; stable. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly view: View;
  readonly messages: readonly Message[];
  /** Commands that continue from here, for people. */
  readonly next?: readonly NextStep[];
  /** `warn` still exits 0. */
  readonly status?: "ok" | "warn" | "error";
  /** Printed instead of view and messages, in the human formats: a completion script, a diff, an answer. */
  readonly text?: Text;
  /** The text may be long: on a terminal it is read in the user's pager. */
  readonly isLong?: boolean;
  /** Of a program that was run; otherwise the status decides. */
  readonly exitCode?: number;
}

export interface Message {
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

export function info(text: string): Message[] {
  return [{ level: "info", text }];
}
