/** `agents` as a process: its own streams, environment and signals around one call of the command line. */
import { readFileSync } from "node:fs";
import { closeGate } from "./terminal/gate.ts";
import { CliCall } from "./run-cli.ts";
import { startEditor } from "./terminal/editor-program.ts";
import { startPager } from "./terminal/pager.ts";
import type { ProtocolDoors } from "./terminal/protocol-doors.ts";

/** `doors` lead to the other surfaces that commands start, and to the loop of plan workers. */
export function startProgram(doors: ProtocolDoors): void {
  // A reader that went away (`agents plan list | head -1`) is not an error.
  let outlivesReader = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (!outlivesReader) process.exit(0);
  });

  // The work goes on without a reader of its progress, and its outcome is recorded.
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

  for (const stream of [process.stdout, process.stderr]) closeGate(stream);

  const call = new CliCall(process.argv.slice(2), {
    // Opened only where the user is asked something.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    onInterrupt,
    onExit,
    doors,
    onTerminate,
    startPager,
    startEditor,
    outliveReader: () => void (outlivesReader = true),
    // A terminal can be read to its end and asked again afterwards; a stream that has ended cannot.
    readInput: () => readFileSync(0, "utf8"),
  });

  // Node itself would print the error past the gate.
  let ending = false;
  const end = async (error: unknown): Promise<void> => {
    // An error that cannot be told is not told again.
    if (ending) process.exit(1);
    ending = true;
    process.exit(await call.fail(error));
  };
  process.on("uncaughtException", (error) => void end(error));
  // Should all work end before the command has, that is not a success.
  process.exitCode = 1;
  void (async () => {
    process.exitCode = await call.run();
  })();
}

function onTerminate(listener: () => void): () => void {
  process.on("SIGTERM", listener);
  return () => void process.off("SIGTERM", listener);
}

/** The first Ctrl-C asks, a second one ends the process at once. */
function onInterrupt(listener: () => void): () => void {
  let interrupted = false;
  const onSignal = (): void => {
    if (interrupted) process.exit(130);
    interrupted = true;
    listener();
  };
  process.on("SIGINT", onSignal);
  return () => void process.off("SIGINT", onSignal);
}

const DEADLY = [
  ["SIGHUP", 129],
  ["SIGTERM", 143],
] as const;

function onExit(listener: () => void): () => void {
  const ends = DEADLY.map(([signal, code]) => [signal, () => process.exit(code)] as const);
  process.on("exit", listener);
  for (const [signal, end] of ends) process.on(signal, end);
  return () => {
    process.off("exit", listener);
    for (const [signal, end] of ends) process.off(signal, end);
  };
}
