/**
 * Where an index is and how its file is opened. An index can be made again from the directory at any time, so every
 * problem with the file has one remedy: the file is removed and built again. A reader that finds damage leaves a mark
 * beside it, because the next sync of the directory, which compares times and sizes, would not come across the damaged
 * page.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DataDirectory } from "../../platform/data-directory.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { makeDirectories } from "../../platform/directories.ts";
import { isCorrupt, storeError } from "../../platform/sqlite-errors.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { IndexDamagedError } from "../model/index-errors.ts";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./index-schema.ts";

/** The index of a directory: one file for every spelling of the directory. */
export function indexFileFor(dataDir: string, root: string): string {
  return indexFileOf(dataDir, realRoot(root));
}

/** @param realPath of a directory that need not exist any more. */
export function indexFileOf(dataDir: string, realPath: string): string {
  const name = createHash("sha256").update(realPath).digest("hex").slice(0, 32);
  return join(new DataDirectory(dataDir).index, `${name}.db`);
}

export function realRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch (error) {
    throw new AgentsError("not_found", `The directory ${shown(root, 200)} does not exist or cannot be reached.`, {
      cause: error,
      kept: "Nothing was changed.",
    });
  }
}

export function lockFileOf(indexFile: string): string {
  return indexFile.replace(/\.db$/, ".lock");
}

/** Removes an index with everything in it. A process that is reading it can finish. */
export async function removeIndex(indexFile: string): Promise<void> {
  if (!existsSync(dirname(indexFile))) return;
  await withFileLock(lockFileOf(indexFile), async () => eraseIndex(indexFile));
}

/** Only under the index's lock. */
export function eraseIndex(indexFile: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${indexFile}${suffix}`, { force: true });
  // Results computed from indexes. Which part came from this index cannot be determined, so all are removed; they are
  // computed again.
  for (const made of ["graphs", "contexts"]) removeFilesIn(join(dirname(indexFile), made));
  rmSync(markOf(indexFile), { force: true });
}

/** The directory stays: another process may be about to write a file there. */
function removeFilesIn(directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { force: true });
}

/** For the holder of the lock. `rebuilt` says why the previous file had to be removed. */
export function openForSync(indexFile: string): { database: DatabaseSync; rebuilt: string | undefined } {
  let database: DatabaseSync | undefined;
  try {
    database = openConnection(indexFile);
    // Checked by the connection that stays: to close one that was opened just for this takes longer than all else.
    const rebuilt = isMarkedDamaged(indexFile) ? "it was damaged" : problemOf(database);
    if (rebuilt !== undefined) {
      database.close();
      eraseIndex(indexFile);
      database = openConnection(indexFile);
    }
    // A power loss may take the last syncs back, but leaves the file whole; it is not worth waiting for the disk. Nor
    // is copying the log into the file after every few batches: 32 MB of it hold a sync of some thousand files. Most of
    // the bytes written are texts and lists of words, of which larger pages hold more at once.
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

function openConnection(indexFile: string): DatabaseSync {
  makeDirectories(dirname(indexFile));
  // Made private before SQLite touches it; its log files take over the mode. Never when it exists: closing a file frees
  // all locks the process has on it, also those of readers in other threads.
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
    throw indexReadError(indexFile, error);
  }
}

/** The meaning of an error of reading; damage is marked, so that the next sync builds the index again. */
export function indexReadError(indexFile: string, error: unknown): unknown {
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
    return schemaOf(database) === "foreign" ? "it was made by another version" : undefined;
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
