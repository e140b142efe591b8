/**
 * Things that were worked out before, in a small file beside the indexes. It is a cache and no more: whatever is wrong with the file, what
 * it holds is worked out again. Several processes and threads may use it at once.
 */
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";

const BUSY_MS = 100;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const CHECKSUM_BYTES = 4;

export class KeptBlobs {
  readonly #file: string;
  readonly #most: number;

  /** @param most how many are kept; the oldest go first. */
  constructor(file: string, most: number) {
    this.#file = file;
    this.#most = most;
  }

  /** Whether anything is kept under a key that begins so. */
  hasAny(beginning: string): boolean {
    if (!existsSync(this.#file)) return false;
    const row = this.#attempt((database) =>
      database
        .prepare("SELECT 1 FROM blobs WHERE key >= ? AND key < ? LIMIT 1")
        .get(beginning, `${beginning}\u{10ffff}`),
    );
    return row !== undefined;
  }

  get(keys: readonly string[]): readonly (Uint8Array | undefined)[] {
    const none = keys.map(() => undefined);
    if (!existsSync(this.#file)) return none;
    const found = this.#attempt((database) => {
      const select = database.prepare("SELECT blob FROM blobs WHERE key = ?");
      return keys.map((key) => unchecked(key, select.get(key)?.["blob"]));
    });
    return found ?? none;
  }

  put(key: string, bytes: Uint8Array): void {
    this.#attempt((database) => {
      database.exec("BEGIN IMMEDIATE");
      database.prepare("INSERT OR REPLACE INTO blobs (key, blob) VALUES (?, ?)").run(key, checked(key, bytes));
      database.prepare("DELETE FROM blobs WHERE id <= (SELECT MAX(id) FROM blobs) - ?").run(this.#most);
      database.exec("COMMIT");
    });
  }

  /** Closing ends what was begun; a file that is no database, or not ours, is removed. */
  #attempt<T>(use: (database: DatabaseSync) => T): T | undefined {
    try {
      // Made private before SQLite touches it: it may hold parts of files.
      if (!existsSync(this.#file)) closeSync(openSync(this.#file, "a", 0o600));
      using database = new DatabaseSync(this.#file, { timeout: BUSY_MS });
      // Without waiting for the disk: what a power loss takes or tears is noticed by its checksum, and made again.
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, blob BLOB NOT NULL) STRICT`);
      return use(database);
    } catch (error) {
      const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
      if (code === CORRUPT || code === NOT_A_DATABASE) {
        for (const suffix of ["", "-wal", "-shm"]) rmSync(this.#file + suffix, { force: true });
      }
      return undefined;
    }
  }
}

/** With the key: a torn file may lead from one key to what belongs to another. */
function checked(key: string, bytes: Uint8Array): Uint8Array {
  const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes, crc32(key)));
  return Buffer.concat([checksum, bytes]);
}

/** A copy, which begins where numbers may. */
function unchecked(key: string, value: unknown): Uint8Array | undefined {
  if (!(value instanceof Uint8Array) || value.length < CHECKSUM_BYTES) return undefined;
  const bytes = value.slice(CHECKSUM_BYTES);
  const checksum = Buffer.from(value.buffer, value.byteOffset, CHECKSUM_BYTES).readUInt32LE();
  return crc32(bytes, crc32(key)) === checksum ? bytes : undefined;
}
