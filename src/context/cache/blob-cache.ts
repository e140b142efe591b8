/**
 * Computed values, each in a file of its own in a directory beside the indexes. It is a cache and no more: when
 * anything is wrong with a file, its value is computed again. Several processes and threads may use it at once: a file
 * gets its name when all of it is there, so it is found whole or not at all.
 *
 * In a database of SQLite, which was opened for each of these, storing the fragments of three strategies took a fifth
 * of a context after an edit.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { makeDirectories } from "../../platform/directories.ts";

const CHECKSUM_BYTES = 4;

export class BlobCache {
  readonly #directory: string;
  readonly #most: number;

  /**
   * @param directory whose parent exists; it is made when the first value is stored.
   * @param most how many are stored; the oldest go first.
   */
  constructor(directory: string, most: number) {
    this.#directory = directory;
    this.#most = most;
  }

  /** Whether a value is stored under a key that begins so. */
  hasAny(beginning: string): boolean {
    return this.#attempt(() => readdirSync(this.#directory).some((name) => name.startsWith(beginning))) ?? false;
  }

  get(key: string): Uint8Array | undefined {
    return this.#attempt(() => unchecked(key, readFileSync(join(this.#directory, key))));
  }

  /** @param key that can be the name of a file. */
  put(key: string, bytes: Uint8Array): void {
    const unfinished = join(this.#directory, `${randomUUID()}.part`);
    this.#attempt(() => {
      if (!existsSync(dirname(this.#directory))) return;
      makeDirectories(this.#directory);
      try {
        // Private: it may hold parts of files.
        writeFileSync(unfinished, checked(key, bytes), { flag: "wx", mode: 0o600 });
        renameSync(unfinished, join(this.#directory, key));
      } finally {
        rmSync(unfinished, { force: true });
      }
      this.#removeOldest();
    });
  }

  /** The unfinished file of a killed process is removed in the same way. */
  #removeOldest(): void {
    const names = readdirSync(this.#directory);
    if (names.length <= this.#most) return;
    const files = names.map((name) => join(this.#directory, name));
    const times = new Map(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
    const latest = files.toSorted((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
    for (const file of latest.slice(this.#most)) rmSync(file, { force: true });
  }

  #attempt<T>(use: () => T): T | undefined {
    try {
      return use();
    } catch (error) {
      if (error instanceof Error && "code" in error) return undefined;
      throw error;
    }
  }
}

/** With the key: after a power loss, a name may lead to the bytes of another key. */
function checked(key: string, bytes: Uint8Array): Uint8Array {
  const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes, crc32(key)));
  return Buffer.concat([bytes, checksum]);
}

/** A copy, aligned for numbers. */
function unchecked(key: string, stored: Buffer): Uint8Array | undefined {
  if (stored.length < CHECKSUM_BYTES) return undefined;
  const bytes = new Uint8Array(stored.subarray(0, -CHECKSUM_BYTES));
  return crc32(bytes, crc32(key)) === stored.readUInt32LE(bytes.length) ? bytes : undefined;
}
