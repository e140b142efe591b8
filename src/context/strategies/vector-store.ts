/**
 * Computed vectors, in a file beside the indexes. They belong to contents, like everything in the index: the same bytes
 * under another path or in a sandbox are never sent again. The file can be deleted at any time; then the vectors are
 * requested again.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { makeDirectories } from "../../platform/directories.ts";
import type { EmbeddingEndpoint } from "../model/context-model.ts";

export interface StoredVector {
  readonly startLine: number;
  readonly endLine: number;
  readonly vector: Float32Array;
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS vectors (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  content TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model, content, start_line)
) STRICT;
CREATE TABLE IF NOT EXISTS bills (
  bill TEXT PRIMARY KEY,
  tokens INTEGER NOT NULL
) STRICT;`;

/** The oldest go first: with 1,536 dimensions about 1.2 GB. */
const MOST_VECTORS = 200_000;
const BUSY_MS = 2_000;

export class VectorStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #model: string;
  readonly #select: StatementSync;
  readonly #find: StatementSync;

  private constructor(database: DatabaseSync, model: string) {
    this.#database = database;
    this.#model = model;
    this.#find = database.prepare("SELECT 1 FROM vectors WHERE model = ? AND content = ? LIMIT 1");
    this.#select = database.prepare(
      "SELECT start_line, end_line, vector FROM vectors WHERE model = ? AND content = ? ORDER BY start_line",
    );
  }

  /** Beside an index. The same model name may mean another model at another endpoint, so vectors are stored by both. */
  static beside(index: string, { url, model }: EmbeddingEndpoint): VectorStore {
    const file = join(dirname(index), "vectors.db");
    makeDirectories(dirname(file));
    const database = new DatabaseSync(file, { timeout: BUSY_MS });
    try {
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${SCHEMA}`);
      return new VectorStore(database, `${url} ${model}`);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  has(content: string): boolean {
    return this.#find.get(this.#model, content) !== undefined;
  }

  /** Of a content; empty when they were never computed. */
  get(content: string): readonly StoredVector[] {
    return this.#select.all(this.#model, content).map((row) => {
      const bytes = row["vector"];
      if (!(bytes instanceof Uint8Array))
        throw new Error("the file of vectors is damaged; delete it, then it is made again");
      // A copy: the bytes of a row need not be aligned for numbers.
      const vector = new Float32Array(bytes.slice().buffer);
      return { startLine: Number(row["start_line"]), endLine: Number(row["end_line"]), vector };
    });
  }

  /** All vectors of some contents, at once. */
  put(contents: ReadonlyMap<string, readonly StoredVector[]>): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const insert = this.#database.prepare(
        "INSERT OR IGNORE INTO vectors (model, content, start_line, end_line, vector) VALUES (?, ?, ?, ?, ?)",
      );
      for (const [content, vectors] of contents) {
        for (const { startLine, endLine, vector } of vectors) {
          insert.run(this.#model, content, startLine, endLine, new Uint8Array(vector.buffer));
        }
      }
      this.#database.prepare("DELETE FROM vectors WHERE id <= (SELECT MAX(id) FROM vectors) - ?").run(MOST_VECTORS);
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Records tokens that are about to be sent, or takes back those that were not needed. */
  charge(bill: string | undefined, tokens: number): void {
    if (bill === undefined) return;
    this.#database
      .prepare("INSERT INTO bills (bill, tokens) VALUES (?, ?) ON CONFLICT (bill) DO UPDATE SET tokens = tokens + ?")
      .run(bill, tokens, tokens);
  }

  /** Returns the recorded tokens and deletes the record. */
  takeBill(bill: string): number {
    const row = this.#database.prepare("DELETE FROM bills WHERE bill = ? RETURNING tokens").get(bill);
    return Number(row?.["tokens"] ?? 0);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** How many tokens were sent under a bill; asked once. */
export function tokensBilled(scope: IndexScope, bill: string): number {
  const [tree] = scope.trees;
  if (tree === undefined) return 0;
  using vectors = VectorStore.beside(tree.index, { url: "", model: "" });
  return vectors.takeBill(bill);
}

/** The key of a query's own vector, so that the same question gives the same answer without another call. */
export function queryKey(query: string): string {
  return `query ${createHash("sha256").update(query).digest("hex")}`;
}
