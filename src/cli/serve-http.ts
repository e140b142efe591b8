/** `agents server start`: the words of the command, handed to the server, which serves until a signal. */
import type { CleverAgents } from "../app/open.ts";
import type { RunEvent } from "../domain/run-event.ts";
import { UsageError } from "../domain/errors/errors.ts";
import { interruptible } from "./terminal/interrupt.ts";
import type { Io } from "./terminal/io.ts";
import type { ServeHttp } from "./terminal/server-door.ts";
import { inputOf } from "./words/input-words.ts";
import type { ParsedCall } from "./words/program.ts";

interface Given {
  readonly host?: string;
  readonly port?: number;
  readonly socket?: string;
  readonly allowHosts?: readonly string[];
  readonly logFormat?: "plain" | "json";
  readonly logLevel?: "debug" | "info" | "warning" | "error";
  readonly patience?: number;
  readonly workers?: number;
}

const DEFAULT_PORT = 4400;
const DEFAULT_PATIENCE = 10;
const DEFAULT_WORKERS = 2;

export async function serverCommand(agents: CleverAgents, { command, words }: ParsedCall, io: Io): Promise<void> {
  // The parser has checked the choices.
  const given = (await inputOf(command, words, io)) as Given;
  const place = placeOf(given);
  const log = (line: string): void => void io.stderr.write(`${line}\n`);
  const { signal, stop } = interruptible(io, log);
  const terminated = new AbortController();
  const release = io.onTerminate(() => terminated.abort());
  const until = AbortSignal.any([signal, terminated.signal]);
  const { workers = DEFAULT_WORKERS } = given;
  try {
    await io.serveHttp({
      agents,
      environment: io.env,
      place,
      allowedHosts: given.allowHosts ?? [],
      logFormat: given.logFormat ?? "plain",
      logLevel: given.logLevel ?? "info",
      log,
      ready: (url) => void io.stdout.write(`${url}\n`),
      beside: (say) => workBeside(agents, io, { workers, signal: until, say }),
      signal: until,
      patienceMs: (given.patience ?? DEFAULT_PATIENCE) * 1000,
    });
  } finally {
    release();
    stop();
  }
}

/** Carries queued plans out in the server's process, for as long as it serves. */
async function workBeside(
  { paths: { dataDir, config: configPath } }: CleverAgents,
  io: Io,
  parts: {
    readonly workers: number;
    readonly signal: AbortSignal;
    readonly say: (level: "info" | "warning", text: string) => void;
  },
): Promise<void> {
  const { workers, signal, say } = parts;
  if (workers === 0) return;
  const open = { dataDir, configPath, directory: io.cwd, environment: io.env };
  const tell = (event: RunEvent): void => {
    if (event.type === "notice") say(event.level, event.text);
  };
  await io.workOnPlans({ open, workers, perProject: undefined, untilEmpty: false, signal, tell });
}

function placeOf({ host, port, socket }: Given): Parameters<ServeHttp>[0]["place"] {
  if (socket === undefined) {
    if ((port ?? 0) > 65_535) throw placeError("A port is a number from 0 to 65535.");
    return { kind: "port", host: host ?? "127.0.0.1", port: port ?? DEFAULT_PORT };
  }
  if (host !== undefined || port !== undefined)
    throw placeError("A socket has neither host nor port: give --socket, or --host and --port.");
  return { kind: "socket", path: socket };
}

function placeError(message: string): UsageError {
  return new UsageError(message, { kept: "Nothing was started." });
}
