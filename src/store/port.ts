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
 * - **A statement that fails ends its unit**, also when the unit catches the error: nothing of the unit is written, its
 *   further statements fail the same way, and it is rejected: with the error that it throws, or else with that of the
 *   statement. The same holds for reads.
 * - **Units of one lane run in the order in which they were asked for**, one after another, as far as they were asked
 *   for through the same handle. A unit that names no lane is in the handle's own; units of different lanes may run
 *   side by side. Units about one plan are in the lane of that plan (`inLane`).
 * - **Reads see committed rows only**, all of one moment.
 * - **Events are numbered in an order that all readers agree on**, with gaps. Below the SQL function `events_end()` no
 *   event will ever be added: a subscriber that reads only there, and remembers the highest number it saw, never skips
 *   an event that commits late.
 * - **Statements are written once**, with `?` placeholders and portable types: text without half surrogate pairs and
 *   NUL, integers below 2^53, bytes, null. Texts are compared and sorted by their code points, byte by byte in UTF-8,
 *   not by a language's rules: hashes and seals depend on that order. `COUNT` and `SUM` of integers come back as
 *   numbers. The SQL function `now_ms()` is the database's clock: leases are judged by it, never by a caller's. The
 *   word `FENCED` at the end of a query means that the rows it found stay as they are until the unit has ended.
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
  /** See `Store.unitsOverlap`. */
  readonly unitsOverlap: boolean;
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

export interface UnitOptions {
  /** Units of one lane run in the order in which they were asked for. */
  readonly lane?: string;
}

/** A store; see the contract above. */
export interface Store {
  /** Opens the same store elsewhere: in another thread, and mostly in another process too. May hold a password. */
  readonly url: string;
  /** Where the data is, for people: a file, or an address without its password. */
  readonly place: string;
  /** Whether units may run at the same time: work on the rows of many plans then belongs into a unit of its own. */
  readonly unitsOverlap: boolean;
  readonly contents: ContentPort;
  /** Runs `unit` atomically. Rejected: nothing of it was written. Resolved: all of it is durable. */
  transaction<T>(unit: (tx: Tx) => Promise<T>, options?: UnitOptions): Promise<T>;
  /** Runs `query` on one consistent snapshot of committed rows. */
  read<T>(query: (reader: Reader) => Promise<T>): Promise<T>;
  /**
   * A number that is another one after every commit of every process, and may be another one without a commit; cheap
   * enough to poll.
   */
  changeCounter(): Promise<number>;
  /**
   * Calls `listener` after each commit made through this handle, and maybe after those of others. Returns a function
   * that ends that.
   */
  onCommit(listener: () => void): () => void;
  /** Looks whether the database is intact, as far as that is quick: what there is to say about it. */
  check(): Promise<string>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
