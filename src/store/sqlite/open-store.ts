/**
 * Opens stores: on SQLite in memory, shared by the threads of a process, or in a file, shared by any number of
 * processes; on PostgreSQL, shared by any number of machines. A database of an older version is migrated; one of a
 * newer version, or of another program, is left as it is.
 */
import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StoreError, UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Clock } from "../../domain/names/ids.ts";
import { makeDirectories } from "../../platform/directories.ts";
import { requireOwn } from "../../platform/ownership.ts";
import { withPatience } from "../../platform/patience.ts";
import { migrate, SCHEMA_VERSION } from "../schema/migrations.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { isBusy, storeError } from "../../platform/sqlite-errors.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Store } from "../port.ts";

/** The clock and the patience of a store. */
export interface OpenStoreOptions {
  /** The database's clock in milliseconds; leases are judged by it. */
  readonly clock?: Clock;
  /** How long a lock held by another process is waited for. */
  readonly patienceMs?: number;
  /**
   * For tests: every unit of work is run, rolled back, and run again before it is committed; every read is run twice. A
   * unit or read with an effect outside its statements then shows. Left out, `CLEVERAGENTS_STORE_RERUN=1` in the
   * environment turns it on.
   */
  readonly rerun?: boolean;
}

/**
 * Opens a store: `memory:` is a new one that lives as long as one handle on it is open (its `url` opens the same one in
 * another thread), `sqlite:<file>` is a file that any number of processes share, `postgres://…` a database that any
 * number of machines share.
 *
 * ```ts
 * await using store = await openStore("memory:");
 * ```
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { clock = Date.now, patienceMs = 30_000 } = options;
  const rerun = options.rerun ?? process.env["CLEVERAGENTS_STORE_RERUN"] === "1";
  const ways = { clock, patienceMs, rerun };
  if (url.startsWith("memory:")) return openMemory(url, ways);
  if (url.startsWith("sqlite:") && url.length > "sqlite:".length) {
    return openFile(resolve(url.slice("sqlite:".length)), ways);
  }
  if (isPostgres(url)) {
    const { openPostgres } = await import("../postgres/open-postgres.ts");
    return openPostgres(url, { clock: options.clock, patienceMs, rerun });
  }
  throw new UsageError("This is not the address of a store.", {
    next: [{ text: "use memory:, sqlite:<file> or postgres://user@host:5432/database" }],
  });
}

function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/**
 * The same SQL on an in-memory database that all threads of the process share: no second implementation to be less
 * safe.
 */
async function openMemory(url: string, { clock, patienceMs, rerun }: Required<OpenStoreOptions>): Promise<Store> {
  const id = url.slice("memory:".length) || randomUUID();
  if (!/^[A-Za-z0-9-]+$/.test(id)) {
    throw new UsageError(`"${url}" is not the address of a store.`, { next: [{ text: "use memory:" }] });
  }
  const connect = (): SqliteConnection =>
    new SqliteConnection(`file:/cleveragents-${id}?vfs=memdb`, clock, { memory: true });
  return open({ url: `memory:${id}`, file: `memory:${id}`, connect, memory: true, patienceMs, rerun });
}

async function openFile(file: string, { clock, patienceMs, rerun }: Required<OpenStoreOptions>): Promise<Store> {
  const connect = (): SqliteConnection => {
    requireOwn(dirname(file), "The data directory");
    try {
      makeDirectories(dirname(file));
      makePrivate(file);
    } catch (error) {
      throw unopenableError(error, file);
    }
    return new SqliteConnection(file, clock, { memory: false });
  };
  return open({ url: `sqlite:${file}`, file, connect, memory: false, patienceMs, rerun });
}

/**
 * The file is made private before SQLite touches it; its log files take over the mode. A file that is there is not
 * opened: closing a file takes away all locks that this process has on it, also those of its other connections, and
 * then another process that closes the database would believe itself the last one and remove the log that this process
 * still uses.
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    accessSync(file, constants.W_OK);
  }
}

interface Opening {
  readonly url: string;
  readonly file: string;
  readonly connect: () => SqliteConnection;
  readonly memory: boolean;
  readonly patienceMs: number;
  readonly rerun: boolean;
}

async function open({ url, file, connect, memory, patienceMs, rerun }: Opening): Promise<Store> {
  const opened: SqliteConnection[] = [];
  try {
    const writer = await whenFree(connect, patienceMs);
    opened.push(writer);
    await whenFree(() => prepare(writer, memory, file), patienceMs);
    const reader = await whenFree(connect, patienceMs);
    opened.push(reader);
    // In memory a reader is refused while another connection writes: every statement here waits, not only the first
    // ones.
    await whenFree(() => reader.exec("PRAGMA query_only = ON"), patienceMs);
    const store = new SqliteStore({ url, file, writer, reader, memory, patienceMs, rerun });
    if ((await whenFree(() => schemaVersion(writer, file), patienceMs)) < SCHEMA_VERSION) {
      await store.transaction((tx) => migrate(tx, schemaVersion(writer, file), spellSqlite));
    }
    return store;
  } catch (error) {
    for (const connection of opened) connection.close();
    throw storeError(error, file);
  }
}

/** Refuses a newer schema before anything is changed, then makes the file ready for several processes. */
function prepare(writer: SqliteConnection, memory: boolean, file: string): void {
  const found = schemaVersion(writer, file);
  if (found > SCHEMA_VERSION) {
    throw new StoreError(
      "store_too_new",
      `The database ${file} was written by a newer version of CleverAgents (schema ${found}, this one knows ${SCHEMA_VERSION}).`,
      { kept: "It was left as it is.", next: [{ text: "update CleverAgents" }, { text: "or use another --data-dir" }] },
    );
  }
  if (!memory) {
    const mode = writer.get<{ journal_mode: string }>("PRAGMA journal_mode = WAL", []);
    if (mode?.journal_mode !== "wal") {
      throw new StoreError("store_failed", `The file system of ${file} cannot hold a database shared by processes.`, {
        kept: "Nothing was written.",
        next: [{ text: "use a --data-dir on a local disk" }],
      });
    }
  }
  writer.exec(
    "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)",
  );
}

/** 0 for a new file. A database that holds anything but our tables belongs to another program and is left alone. */
function schemaVersion(connection: SqliteConnection, file: string): number {
  // One statement, one snapshot: another process may be creating the tables at this moment.
  const found = connection.get<{ objects: number; columns: string | null }>(
    `SELECT (SELECT COUNT(*) FROM sqlite_schema) AS objects,
            (SELECT group_concat(name) FROM pragma_table_info('schema_migrations')) AS columns`,
    [],
  );
  if (found?.objects === 0) return 0;
  if (found?.columns !== "version,name,applied_at") throw foreignDatabaseError(file);
  const row = connection.get<{ version: number | null }>("SELECT MAX(version) AS version FROM schema_migrations", []);
  return row?.version ?? 0;
}

function foreignDatabaseError(file: string): StoreError {
  return new StoreError("store_corrupt", `The file ${file} is a database, but not one of CleverAgents.`, {
    kept: "It was left as it is.",
    next: [{ text: "use another --data-dir" }],
  });
}

export function spellSqlite(statement: string): string {
  const spelled = statement
    .replaceAll(/\bIDENTITY\b/g, "INTEGER PRIMARY KEY AUTOINCREMENT")
    .replaceAll(/\bBIGINT\b/g, "INTEGER")
    .replaceAll(/\bBYTES\b/g, "BLOB");
  return spelled.startsWith("CREATE TABLE") ? `${spelled} STRICT` : spelled;
}

/** Another process may be opening, migrating or writing the database at this moment. */
function whenFree<T>(attempt: () => T, patienceMs: number): Promise<T> {
  const until = performance.now() + patienceMs;
  return withPatience(attempt, { until, pause: () => Math.random() * 20, isTransient: isBusy });
}

function unopenableError(error: unknown, file: string): StoreError {
  const why = error instanceof Error ? error.message : String(error);
  const readOnly = error instanceof Error && "code" in error && error.code === "EROFS";
  return new StoreError(
    readOnly ? "store_read_only" : "store_failed",
    `The database ${file} cannot be opened: ${why}.`,
    {
      cause: error,
      kept: "Nothing was changed.",
      next: [{ text: "check the path and permissions of the data directory" }, nextStep("diagnostics")],
    },
  );
}
