/**
 * Where an index is and how its file is opened. It can be made again from the directory at any time, so whatever is wrong with the file
 * has one remedy: it is removed and built anew. A reader that finds damage leaves a mark beside it, because the next look at the
 * directory, which compares times and sizes, would not come across the damaged page.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { makeDirectories } from "../store/directories.ts";
import { isCorrupt, storeError } from "../store/sqlite-errors.ts";
import { withFileLock } from "../store/file-lock.ts";
import { IndexDamagedError } from "./index-errors.ts";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./schema.ts";

/** The index of a directory: one, however the directory is spelled. */
export function indexFileFor(dataDir: string, root: string): string {
  const name = createHash("sha256").update(realRoot(root)).digest("hex").slice(0, 32);
  return join(dataDir, "index", `${name}.db`);
}

export function realRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch (error) {
    throw new AgentsError("not_found", `The directory ${shown(root, 200)} is not there or cannot be reached.`, {
      cause: error,
      kept: "Nothing was changed.",
    });
  }
}

export function lockFileOf(indexFile: string): string {
  return indexFile.replace(/\.db$/, ".lock");
}

/** Removes an index with everything in it. Who reads it at the moment can read on. */
export async function removeIndex(indexFile: string): Promise<void> {
  if (!existsSync(dirname(indexFile))) return;
  await withFileLock(lockFileOf(indexFile), async () => eraseIndex(indexFile));
}

/** Only under the index's lock. */
export function eraseIndex(indexFile: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${indexFile}${suffix}`, { force: true });
  // What was found in indexes, of which nobody could tell which part came from this one; it is found again.
  for (const made of ["graphs", "contexts"]) removeFilesIn(join(dirname(indexFile), made));
  rmSync(markOf(indexFile), { force: true });
}

/** The directory stays: somebody may be about to put something there. */
function removeFilesIn(directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { force: true });
}

/** For the one who holds the lock. `rebuilt` says why what was there before had to go. */
export function openForSync(indexFile: string): { database: DatabaseSync; rebuilt: string | undefined } {
  let database: DatabaseSync | undefined;
  try {
    database = connected(indexFile);
    // Looked at by the connection that stays: to close one that was there just for this takes longer than all else.
    const rebuilt = isMarkedDamaged(indexFile) ? "it was damaged" : problemOf(database);
    if (rebuilt !== undefined) {
      database.close();
      eraseIndex(indexFile);
      database = connected(indexFile);
    }
    // A power loss may take the last syncs back, but leaves the file whole; it is not worth waiting for the disk.
    // Nor is copying the log into the file after every few batches: 32 MB of it hold a sync of some thousand files. Most of what
    // is written are texts and lists of words, of which larger pages hold more at once.
    database.exec(
      "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 2048",
    );
    if (schemaOf(database) === "none") database.exec(`BEGIN; ${SCHEMA}; COMMIT`);
    return { database, rebuilt };
  } catch (error) {
    database?.close();
    throw storeError(error, indexFile);
  }
}

function connected(indexFile: string): DatabaseSync {
  makeDirectories(dirname(indexFile));
  // Made private before SQLite touches it; its log files take over the mode. Never when it is there: closing a file frees all locks
  // the process has on it, also those of readers in other threads.
  if (!existsSync(indexFile)) closeSync(openSync(indexFile, "a", 0o600));
  return new DatabaseSync(indexFile, { timeout: 5_000 });
}

/** Undefined when there is none yet. The caller closes it. */
export function openForReading(indexFile: string): DatabaseSync | undefined {
  if (!existsSync(indexFile)) return undefined;
  try {
    const database = new DatabaseSync(indexFile, { readOnly: true, timeout: 5_000 });
    if (schemaOf(database) === "ours") return database;
    database.close();
    return undefined;
  } catch (error) {
    throw damageIn(indexFile, error);
  }
}

/** What an error of reading means; damage is marked, so that the next sync builds the index anew. */
export function damageIn(indexFile: string, error: unknown): unknown {
  if (error instanceof AgentsError) return error;
  if (!isCorrupt(error)) return storeError(error, indexFile);
  markDamaged(indexFile);
  return new IndexDamagedError(indexFile, error);
}

export function markDamaged(indexFile: string): void {
  closeSync(openSync(markOf(indexFile), "a", 0o600));
}

export function isMarkedDamaged(indexFile: string): boolean {
  return existsSync(markOf(indexFile));
}

function markOf(indexFile: string): string {
  return indexFile.replace(/\.db$/, ".damaged");
}

/** Why an index cannot be used. */
function problemOf(database: DatabaseSync): string | undefined {
  try {
    return schemaOf(database) === "foreign" ? "another version had made it" : undefined;
  } catch (error) {
    if (isCorrupt(error)) return "it was damaged";
    throw error;
  }
}

function schemaOf(database: DatabaseSync): "ours" | "none" | "foreign" {
  const row = database
    .prepare(
      `SELECT application_id AS application, user_version AS version, (SELECT COUNT(*) FROM sqlite_schema) AS objects
         FROM pragma_application_id, pragma_user_version`,
    )
    .get();
  if (row?.["objects"] === 0) return "none";
  return row?.["application"] === APPLICATION_ID && row["version"] === SCHEMA_VERSION ? "ours" : "foreign";
}
