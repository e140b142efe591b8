/**
 * The files by which other commands of the same user find the running server of a data directory: its place, and a
 * token for this user. They mean something only while the server holds its kernel lock, which a killed one cannot keep:
 * files that it left behind are known to be stale, without a guess by process ids.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { ConflictError, StoreError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { DataDirectory } from "../../platform/data-directory.ts";
import { withFileLock } from "../../platform/file-lock.ts";

export interface ServerPlace {
  readonly pid: number;
  /** Where it listens; for a socket its path after "unix:". */
  readonly url: string;
  readonly startedAt: number;
}

/** A status command looks at the lock for a moment; a server that starts waits for that much longer. */
const PATIENCE_MS = 3_000;

/**
 * Runs `serve` as the only server of the data directory. One is enough: it serves everyone who has a token, and two
 * would write each other's files. `announce` writes these, and their removal comes with the end.
 */
export async function asOnlyServer(
  dataDir: string,
  serve: (announce: (place: ServerPlace, token: string) => void) => Promise<void>,
): Promise<void> {
  const files = new DataDirectory(dataDir);
  const announce = (place: ServerPlace, token: string): void => {
    writePrivate(files.serverToken, token);
    writePrivate(files.server, JSON.stringify(place));
  };
  const section = async (): Promise<void> => {
    try {
      await serve(announce);
    } finally {
      for (const file of [files.server, files.serverToken]) rmSync(file, { force: true });
    }
  };
  try {
    await withFileLock(files.serverLock, section, { patienceMs: PATIENCE_MS });
  } catch (error) {
    if (error instanceof StoreError && error.code === "store_busy") throw servedAlreadyError(dataDir);
    throw error;
  }
}

/** The running server of the data directory; undefined when none runs, also where one was killed. */
export async function runningServer(dataDir: string): Promise<ServerPlace | undefined> {
  const files = new DataDirectory(dataDir);
  try {
    await withFileLock(files.serverLock, async () => undefined, { patienceMs: 0 });
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "store_busy")) throw error;
    return readPlace(files.server);
  }
}

/** Undefined in the moment in which a server begins or ends. */
function readPlace(file: string): ServerPlace | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as ServerPlace;
  } catch {
    return undefined;
  }
}

/** Made again, so that neither the mode nor the target of a file that was there counts. */
function writePrivate(file: string, text: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
}

function servedAlreadyError(dataDir: string): ConflictError {
  return new ConflictError(
    `A server is running for ${dataDir} already.`,
    { expected: "no server", actual: "a running server" },
    { kept: "It goes on; nothing was started.", next: [nextStep("server.status")] },
  );
}
