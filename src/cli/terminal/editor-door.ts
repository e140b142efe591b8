/** The agent of editors is a surface of its own, handed to the command line, which starts it. */
import type { Readable, Writable } from "node:stream";
import type { CleverAgents } from "../../app/open.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import type { Environment } from "../../domain/values/environment.ts";

/** The door of the other surface, as far as the command line knows it. */
export type ServeEditor = (parts: {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: (text: string) => void;
  readonly options: Readonly<Record<"profile" | "actor" | "budget", string | undefined>>;
  readonly spell: (step: NextStep) => string;
  readonly signal: AbortSignal;
}) => Promise<void>;
