/**
 * A program that has this process's terminal: the same three streams, and the signals that this process gets. It ends
 * with this process, unless that is killed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { NotFoundError } from "../domain/errors/errors.ts";

const PASSED_ON = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Its exit code, as a shell says it: 128 and the signal's number for a program that a signal ended. */
export async function runInForeground(
  command: readonly [string, ...string[]],
  parts: {
    readonly environment: Readonly<Record<string, string>>;
    readonly directory: string;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const [program, ...words] = command;
  // Before the program starts: a signal that came in between would end this process and leave the program running.
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  const child = spawn(program, words, { stdio: "inherit", env: { ...parts.environment }, cwd: parts.directory });
  await once(child, "spawn").catch((error: unknown) => {
    for (const passed of PASSED_ON) process.off(passed, passOn);
    throw new NotFoundError("program", program, { kept: "Nothing was sent.", cause: error });
  });
  const leave = (): void => void child.kill("SIGTERM");
  // A terminal gives Ctrl-C to all programs in its foreground, and so to this one already.
  const interrupt = (): void => void (process.stdin.isTTY || child.kill("SIGINT"));
  process.on("exit", leave);
  parts.signal.addEventListener("abort", interrupt, { once: true });
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } finally {
    parts.signal.removeEventListener("abort", interrupt);
    process.off("exit", leave);
    for (const passed of PASSED_ON) process.off(passed, passOn);
  }
}
