/**
 * Graphs that were worked out before, in a small file beside the indexes: to put one together takes most of the time of a question about a
 * tree that has not changed. It is a cache and no more: whatever is wrong with the file, the graph is worked out again.
 * Several processes and threads may use it at once.
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { IndexScope } from "../../code-index/index-scope.ts";
import type { GraphColumns } from "./graph-columns.ts";

/** To be raised when the same tree gives another graph. */
const VERSION = 2;
const MOST_GRAPHS = 4;
const LARGEST = 256 * 1024 * 1024;
const BUSY_MS = 100;
const NUMBER = 4;

/**
 * The graph of a scope: from the cache, or made and kept there.
 *
 * @param digest of what it is made of (`ScopedIndex.linksDigest`): edits that change no name and no import leave it as it was.
 */
export function cachedGraph(scope: IndexScope, digest: string, make: () => GraphColumns): GraphColumns {
  const [tree] = scope.trees;
  if (tree === undefined) return make();
  const file = join(dirname(tree.index), "graphs.db");
  const key = `${VERSION} ${digest}`;
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

type Column = Exclude<keyof GraphColumns, "files" | "names">;
const COLUMNS: readonly Column[] = ["from", "to", "name", "count", "definers", "imported", "importer", "importee"];

/** A checksum of all that follows; how many files there are, how long each column is, the columns, and the names. */
function packed(graph: GraphColumns): Uint8Array {
  const columns = COLUMNS.map((column) => graph[column]);
  const lengths = Int32Array.of(graph.files, ...columns.map(({ length }) => length));
  const names = Buffer.from(JSON.stringify(graph.names));
  const body = Buffer.concat([bytesOf(lengths), ...columns.map(bytesOf), names]);
  return Buffer.concat([bytesOf(Int32Array.of(crc32(body))), body]);
}

function unpacked(value: unknown): GraphColumns | undefined {
  const head = COLUMNS.length + 2;
  if (!(value instanceof Uint8Array) || value.length < head * NUMBER) return undefined;
  // A copy, which begins where numbers may.
  const { buffer } = value.slice();
  const [checksum = 0, files = 0, ...lengths] = new Int32Array(buffer, 0, head);
  if (crc32(new Uint8Array(buffer, NUMBER)) >> 0 !== checksum) return undefined;
  let at = head * NUMBER;
  const columns = COLUMNS.map((column, position): [Column, Int32Array] => {
    const numbers = new Int32Array(buffer, at, lengths[position] ?? 0);
    at += numbers.byteLength;
    return [column, numbers];
  });
  // Written by `packed`, and guarded by the checksum.
  const names = JSON.parse(Buffer.from(buffer, at).toString()) as string[];
  return { files, names, ...(Object.fromEntries(columns) as Record<Column, Int32Array>) };
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
