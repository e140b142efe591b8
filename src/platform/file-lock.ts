import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../domain/errors/errors.ts";
import { makeDirectories } from "./directories.ts";
import { withPatience } from "./patience.ts";
import { isBusy } from "./sqlite-errors.ts";

/**
 * A lock between processes: an exclusive transaction on a small file. The kernel keeps it while the owner is merely
 * stopped and frees it within milliseconds when the owner is killed, so there are no stale lock files and no guessing
 * by age (measured: 64 µs to take, against 1,074 µs for a lock file with time stamps).
 */
export async function withFileLock<T>(
  file: string,
  section: () => Promise<T>,
  options: { patienceMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const until = performance.now() + (options.patienceMs ?? 30_000);
  const database = openLock(file);
  try {
    await take(database, file, until, options.signal);
    return await section();
  } finally {
    database.close();
  }
}

function openLock(file: string): DatabaseSync {
  try {
    makeDirectories(dirname(file));
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw new StoreError("store_failed", `The lock ${file} cannot be taken: ${String(error)}.`, {
      cause: error,
      kept: "Nothing was changed.",
      next: [{ text: "check the permissions of its directory" }],
    });
  }
}

async function take(database: DatabaseSync, file: string, until: number, signal?: AbortSignal): Promise<void> {
  try {
    await withPatience(() => database.exec("BEGIN EXCLUSIVE"), {
      until,
      pause: () => 1 + Math.random() * 20,
      isTransient: isBusy,
      signal,
    });
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new StoreError("store_busy", `Another process holds ${file}.`, {
      kept: "Nothing was changed.",
      next: [{ text: "try again" }],
    });
  }
}
