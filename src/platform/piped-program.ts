/** A program with pipes to its three streams, in a process group of its own, without any confinement. */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { endGroup } from "./process-group.ts";

export interface PipedStart {
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

export interface PlainPipes {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  readonly ended: Promise<{ readonly code: number }>;
  kill(): void;
}

/** The code of a program that a signal ended, or that could not be started. */
const KILLED = 137;
const NOT_STARTED = 127;

export function startPipedProgram(command: readonly string[], { environment, directory }: PipedStart): PlainPipes {
  const [program = "", ...words] = command;
  const child = spawn(program, words, { cwd: directory, env: { ...environment }, detached: true });
  const ended = new Promise<{ code: number }>((resolve) => {
    child.once("exit", (code) => resolve({ code: code ?? KILLED }));
    child.once("error", () => resolve({ code: NOT_STARTED }));
  });
  return {
    input: child.stdin,
    output: child.stdout,
    errors: child.stderr,
    ended,
    kill: () => endGroup(child.pid),
  };
}
