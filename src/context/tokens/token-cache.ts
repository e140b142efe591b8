/**
 * A cache of token counts, in a small file beside the indexes, so that a command which shows the same text again need
 * not load a tokenizer. It is a cache and no more: when anything is wrong with the file, counting continues without it.
 * Several processes and threads may use it at once.
 */
import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { SizedLru } from "../../platform/lru.ts";
import { makeDirectories } from "../../platform/directories.ts";
import type { TokenizerName } from "../model/context-model.ts";

/** The oldest counts go first; about 10 MB. */
const MAX_COUNTS = 100_000;
/** Of the counts that one process keeps in memory, in characters of the counted texts. */
const MAX_KNOWN = 4 * 1024 * 1024;
/** To be raised when the same text is counted differently. */
const VERSION = 1;
const NOT_A_DATABASE = [11, 26];

interface OpenCounts {
  readonly database: DatabaseSync;
  readonly select: StatementSync;
}

export class TokenCache implements Disposable {
  readonly #file: string;
  readonly #maxCounts: number;
  /** By the texts themselves: making a key of each takes longer than a lookup. */
  readonly #known = new Map<TokenizerName, SizedLru<number>>();
  #fresh = new Map<string, number>();
  /** Null when it cannot be used. */
  #opened: OpenCounts | null | undefined;

  constructor(file: string, options: { readonly maxCounts?: number } = {}) {
    this.#file = file;
    this.#maxCounts = options.maxCounts ?? MAX_COUNTS;
  }

  /** In the directory of the indexes. */
  static in(directory: string): TokenCache {
    return new TokenCache(join(directory, "tokens.db"));
  }

  count(tokenizer: TokenizerName, text: string, compute: (text: string) => number): number {
    let known = this.#known.get(tokenizer);
    if (known === undefined) this.#known.set(tokenizer, (known = new SizedLru(MAX_KNOWN)));
    return known.get(text, () => ({ value: this.#counted(tokenizer, text, compute), size: text.length }));
  }

  #counted(tokenizer: TokenizerName, text: string, compute: (text: string) => number): number {
    const key = hash("sha256", `${tokenizer} ${VERSION}\n${text}`, "base64");
    const stored = this.#stored(key, text);
    if (stored !== undefined) return stored;
    const count = compute(text);
    this.#fresh.set(key, count);
    return count;
  }

  /** Writes the counts made since the last call. */
  flush(): void {
    const fresh = this.#fresh;
    if (fresh.size === 0) return;
    this.#fresh = new Map();
    this.#attempt(({ database }) => {
      database.exec("BEGIN IMMEDIATE");
      try {
        const insert = database.prepare("INSERT OR IGNORE INTO counts (key, count) VALUES (?, ?)");
        for (const [key, count] of fresh) insert.run(key, count);
        database.prepare("DELETE FROM counts WHERE id <= (SELECT MAX(id) FROM counts) - ?").run(this.#maxCounts);
        database.exec("COMMIT");
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  [Symbol.dispose](): void {
    this.flush();
    this.#opened?.database.close();
    this.#opened = null;
  }

  /** An impossible count is ignored. */
  #stored(key: string, text: string): number | undefined {
    const row = this.#attempt(({ select }) => select.get(key));
    const count = row?.["count"];
    return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 && count <= text.length * 3
      ? count
      : undefined;
  }

  #attempt<T>(use: (opened: OpenCounts) => T): T | undefined {
    try {
      if (this.#opened === undefined) this.#opened = open(this.#file);
      return this.#opened === null ? undefined : use(this.#opened);
    } catch (error) {
      // A busy file is worth another attempt; anything else is not.
      if (codeOf(error) === 5) return undefined;
      this.#opened?.database.close();
      this.#opened = null;
      if (NOT_A_DATABASE.includes(codeOf(error))) remove(this.#file);
      return undefined;
    }
  }
}

function open(file: string): OpenCounts {
  makeDirectories(dirname(file));
  const database = new DatabaseSync(file, { timeout: 100 });
  try {
    // Without a sync at each commit: counts lost in a power loss are made again.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    database.exec(
      "CREATE TABLE IF NOT EXISTS counts (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, count INTEGER NOT NULL)",
    );
    return { database, select: database.prepare("SELECT count FROM counts WHERE key = ?") };
  } catch (error) {
    database.close();
    throw error;
  }
}

function remove(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}

function codeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
}
