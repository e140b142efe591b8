/** One connection of node:sqlite with its prepared statements, and the handle on it that a unit of work gets. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { StoreError, UnitOfWorkError } from "../../domain/errors/errors.ts";
import type { Clock } from "../../domain/names/ids.ts";
import { requireStorable } from "../parameters.ts";
import type { Reader, SqlValue, Tx } from "../port.ts";

/** Two processes writing one WAL can corrupt it in older versions. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/** A failed lock is waited for this long inside SQLite (blocking the thread); longer waits are asynchronous. */
const BUSY_TIMEOUT_MS = 20;

/**
 * One connection with its prepared statements. Walls off what node:sqlite lets through: a Date or any other object as
 * first parameter is taken as a bag of named ones and NULL is stored silently.
 */
export class SqliteConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(location: string, clock: Clock, options: { memory: boolean }) {
    this.#database = new DatabaseSync(location, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    try {
      assertVersion(this.#database);
      this.#database.function("now_ms", () => BigInt(Math.trunc(clock())));
      // With one writer at a time no event is committed late.
      this.#database.function("events_end", () => Number.MAX_SAFE_INTEGER);
      if (!options.memory) this.#database.exec("PRAGMA synchronous = FULL");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  exec(sql: string): void {
    this.#prepare(sql).run();
  }

  get<Row>(sql: string, parameters: readonly SqlValue[]): Row | undefined {
    return this.#prepare(sql).get(...checked(parameters)) as Row | undefined;
  }

  all<Row>(sql: string, parameters: readonly SqlValue[]): Row[] {
    return this.#prepare(sql).all(...checked(parameters)) as Row[];
  }

  run(sql: string, parameters: readonly SqlValue[]): number {
    return Number(this.#prepare(sql).run(...checked(parameters)).changes);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      // The writer's lock keeps every row as it is.
      statement = this.#database.prepare(sql.replace(/\bFENCED\b/, ""));
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * The handle a unit of work gets. It dies with the unit, so that a forgotten promise cannot write into another unit.
 */
export class SqliteTx implements Reader, Tx {
  readonly #connection: SqliteConnection;
  readonly #onError: (error: unknown) => unknown;
  readonly unitsOverlap = false;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(connection: SqliteConnection, onError: (error: unknown) => unknown) {
    this.#connection = connection;
    this.#onError = onError;
  }

  /** The first failure of a statement, which ends the unit, caught or not. */
  end(): { readonly error: unknown } | undefined {
    this.#ended = true;
    return this.#failure;
  }

  async get<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#do(() => this.#connection.get<Row>(sql, parameters));
  }

  async all<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.#do(() => this.#connection.all<Row>(sql, parameters));
  }

  async run(sql: string, ...parameters: readonly SqlValue[]): Promise<number> {
    return this.#do(() => this.#connection.run(sql, parameters));
  }

  #do<T>(statement: () => T): T {
    if (this.#ended) throw new UnitOfWorkError("A statement was issued after its unit of work had ended.");
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      return statement();
    } catch (error) {
      this.#failure = { error: this.#onError(error) };
      throw this.#failure.error;
    }
  }
}

function checked(parameters: readonly SqlValue[]): SQLInputValue[] {
  requireStorable(parameters);
  return parameters as SQLInputValue[];
}

function assertVersion(database: DatabaseSync): void {
  const { version } = database.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  assertSqliteVersion(version);
}

/** Refuses SQLite versions that can corrupt a write-ahead log under two writers. */
export function assertSqliteVersion(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) return;
    if (part < oldest) {
      throw new StoreError(
        "store_failed",
        `SQLite ${version} can damage a database that two processes write; ${OLDEST_SQLITE.join(".")} or newer is needed.`,
        { kept: "Nothing was opened.", next: [{ text: "use Node 24.15 or newer" }] },
      );
    }
  }
}
