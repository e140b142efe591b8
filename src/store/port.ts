/**
 * The one port to durable state, and its contract. Every driver keeps all of it, and nothing outside a driver may rely
 * on more, for example on there being only one writer at a time.
 *
 * - **Units and reads are serializable**: each has the effect it would have had alone, in some order that agrees with
 *   real time. A unit that reads a row and then writes another one (count, then insert; a lease, then a result) needs
 *   no lock of its own.
 * - **Units and reads may be run again from their start**: a driver whose database ends a transaction because of a
 *   conflict calls the function a second time. So the function has no effect but its own statements: it returns what
 *   the caller needs and assigns nothing outside. Ids and clock readings taken inside may be taken twice. (The tests
 *   can run every unit and every read twice: `OpenStoreOptions.rerun`.)
 * - **A unit is atomic and durable.** Rejected: nothing of it was written. Resolved: all of it is on disk. It waits
 *   for nothing but its own statements; a unit that awaits anything else is rolled back with a `UnitOfWorkError`.
 * - **A statement that fails and is caught undoes only itself**; the unit continues. One that is not caught undoes its
 *   unit.
 * - **Reads see committed rows only**, all of one moment.
 * - **Events are numbered in commit order**: an event with a lower number is visible whenever one with a higher number
 *   is, so a subscriber that remembers the highest number it saw never skips an event that commits late.
 * - **Statements are written once**, with `?` placeholders and portable types: text without half surrogate pairs,
 *   integers below 2^53, bytes, null. Texts are compared and sorted by their code points, byte by byte in UTF-8, not
 *   by a language's rules: hashes and seals depend on that order. `COUNT` and `SUM` of integers come back as numbers.
 *   The SQL function `now_ms()` is the database's clock: leases are judged by it, never by a caller's.
 * - **Contents** (the bytes of files) go through the content port: a caller does not know whether they are in rows or
 *   in files.
 */
export type SqlValue = string | number | null | Uint8Array;

/** Reads committed rows of one moment. */
export interface Reader {
  get<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row[]>;
}

/** A unit of work: it reads and writes, and is committed or rolled back as a whole. */
export interface Tx extends Reader {
  /** Runs a writing statement; the number of rows it changed. */
  run(sql: string, ...parameters: readonly SqlValue[]): Promise<number>;
}

/**
 * Where the bytes of contents are kept: in rows of the database, or outside of it (in files, later in an object store).
 * A content is addressed by its SHA-256, so writing it again, by any number of processes, changes nothing.
 */
export interface ContentPort {
  /**
   * Called before the unit that adds the content's row. Resolves to true when the bytes belong into that row, and to
   * false once they are durable outside the database: a row never points at nothing, and bytes without a row are only
   * garbage.
   */
  place(hash: string, bytes: Uint8Array): Promise<boolean>;
  /** The bytes that are outside the database; undefined when they are not there. */
  fetch(hash: string): Promise<Uint8Array | undefined>;
}

/** A store; see the contract above. */
export interface Store {
  /** Opens the same store elsewhere: in another thread, and for a file in another process too. */
  readonly url: string;
  readonly contents: ContentPort;
  /** Runs `unit` atomically. Rejected: nothing of it was written. Resolved: all of it is durable. */
  transaction<T>(unit: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs `query` on one consistent snapshot of committed rows. */
  read<T>(query: (reader: Reader) => Promise<T>): Promise<T>;
  /** A number that changes with every commit of every process; cheap enough to poll. */
  changeCounter(): Promise<number>;
  /** Calls `listener` after each commit made through this handle. Returns a function that ends that. */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
