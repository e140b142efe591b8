/**
 * Graphs that were worked out before, in a small file beside the indexes: to put one together takes most of the time of a question about a
 * tree that has not changed. It is a cache and no more: whatever is wrong with the file, the graph is worked out again.
 * Several processes and threads may use it at once.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { IndexScope } from "../../code-index/index-scope.ts";
import { COLUMNS, emptyColumns, type GraphColumns } from "./graph-columns.ts";

/** To be raised when the same tree gives another graph. */
const VERSION = 1;
const MOST_GRAPHS = 4;
const LARGEST = 256 * 1024 * 1024;
const BUSY_MS = 100;
const NUMBER = 4;

/** The graph of a scope: from the cache, or made and kept there. */
export function cachedGraph(scope: IndexScope, make: () => GraphColumns): GraphColumns {
  const [tree] = scope.trees;
  if (tree === undefined) return make();
  const file = join(dirname(tree.index), "graphs.db");
  const key = createHash("sha256")
    .update(JSON.stringify([VERSION, scope.trees]))
    .digest("hex");
  const known = attempt(file, (database) => {
    const row = database.prepare("SELECT graph FROM graphs WHERE key = ?").get(key);
    return row === undefined ? undefined : unpacked(row["graph"]);
  });
  if (known !== undefined) return known;
  const made = make();
  const bytes = packed(made);
  if (bytes.length <= LARGEST) {
    attempt(file, (database) => {
      database.exec("BEGIN IMMEDIATE");
      database.prepare("INSERT OR REPLACE INTO graphs (key, graph) VALUES (?, ?)").run(key, bytes);
      database.prepare("DELETE FROM graphs WHERE id <= (SELECT MAX(id) FROM graphs) - ?").run(MOST_GRAPHS);
      database.exec("COMMIT");
    });
  }
  return made;
}

/** Closing ends what was begun; a file that is no database, or not ours, is removed. */
function attempt<T>(file: string, use: (database: DatabaseSync) => T): T | undefined {
  try {
    using database = new DatabaseSync(file, { timeout: BUSY_MS });
    // Without a sync at each commit: what a power loss takes is made again.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS graphs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, graph BLOB NOT NULL) STRICT`);
    return use(database);
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    if (code === CORRUPT || code === NOT_A_DATABASE) {
      for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
    }
    return undefined;
  }
}

const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** A checksum of all that follows, the numbers of edges and files, the columns, and the names. */
function packed(graph: GraphColumns): Uint8Array {
  const columns = COLUMNS.map((column) => bytesOf(graph[column]));
  const names = Buffer.from(JSON.stringify(graph.names));
  const body = Buffer.concat([bytesOf(Int32Array.of(graph.from.length, graph.files)), ...columns, names]);
  return Buffer.concat([bytesOf(Int32Array.of(crc32(body))), body]);
}

function unpacked(value: unknown): GraphColumns | undefined {
  if (!(value instanceof Uint8Array) || value.length < 3 * NUMBER) return undefined;
  // A copy, which begins where numbers may.
  const bytes = value.slice();
  const [checksum = 0, edges = 0, files = 0] = new Int32Array(bytes.buffer, 0, 3);
  if (crc32(bytes.subarray(NUMBER)) >> 0 !== checksum) return undefined;
  const columns = emptyColumns(0);
  for (const [at, column] of COLUMNS.entries()) {
    columns[column] = new Int32Array(bytes.buffer, (3 + at * edges) * NUMBER, edges);
  }
  const names = Buffer.from(bytes.buffer, (3 + COLUMNS.length * edges) * NUMBER).toString();
  // Written by `packed`, and guarded by the checksum.
  return { files, names: JSON.parse(names) as string[], ...columns };
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
