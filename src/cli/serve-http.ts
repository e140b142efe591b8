/** `agents server start`: the words of the command, handed to the server, which serves until a signal. */
import type { CleverAgents } from "../app/open.ts";
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
}

const DEFAULT_PORT = 4400;
const DEFAULT_PATIENCE = 10;

export async function serverCommand(agents: CleverAgents, { command, words }: ParsedCall, io: Io): Promise<void> {
  // The parser has checked the choices.
  const given = (await inputOf(command, words, io)) as Given;
  const place = placeOf(given);
  const log = (line: string): void => void io.stderr.write(`${line}\n`);
  const { signal, stop } = interruptible(io, log);
  const terminated = new AbortController();
  const release = io.onTerminate(() => terminated.abort());
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
      signal: AbortSignal.any([signal, terminated.signal]),
      patienceMs: (given.patience ?? DEFAULT_PATIENCE) * 1000,
    });
  } finally {
    release();
    stop();
  }
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
