/**
 * The one port to durable state. A unit of work gets a `Tx`, does nothing but its own statements, and is acknowledged only once
 * it is durable; reads outside a unit see committed rows only. Statements are written once, with `?` placeholders and portable
 * types (text, integers below 2^53, bytes, null), so that every driver runs the same SQL. The SQL function `now_ms()` is the
 * database's clock: leases are judged by it, never by a caller's.
 */
export type SqlValue = string | number | null | Uint8Array;

export interface Reader {
  get<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row[]>;
}

export interface Tx extends Reader {
  /** Runs a writing statement; the number of rows it changed. */
  run(sql: string, ...parameters: readonly SqlValue[]): Promise<number>;
}

export interface Store {
  /** Opens the same store elsewhere: in another thread, and for a file in another process too. */
  readonly url: string;
  /** Where contents too large for a row are kept as files; undefined when everything is in the database. */
  readonly contentDirectory: string | undefined;
  /** Runs `unit` atomically. Rejected: nothing of it was written. Resolved: all of it is durable. */
  transaction<T>(unit: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs `query` on one consistent snapshot of committed rows. */
  read<T>(query: (reader: Reader) => Promise<T>): Promise<T>;
  /** A number that changes whenever anybody commits something; cheap enough to poll. */
  changeCounter(): Promise<number>;
  /** Calls `listener` after each commit made through this handle. Returns how to stop. */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
