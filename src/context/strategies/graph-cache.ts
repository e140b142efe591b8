/** Graphs that were worked out before: to put one together takes most of the time of a question about a tree that has not changed. */
import { dirname, join } from "node:path";
import type { IndexScope } from "../../code-index/index-scope.ts";
import { KeptBlobs } from "../kept-blobs.ts";
import type { GraphColumns } from "./graph-columns.ts";

/** To be raised when the same tree gives another graph. */
const VERSION = 3;
const MOST_GRAPHS = 4;
const LARGEST = 256 * 1024 * 1024;
const NUMBER = 4;

/**
 * The graph of a scope: from the cache, or made and kept there.
 *
 * @param digest of what it is made of (`ScopedIndex.linksDigest`): edits that change no name and no import leave it as it was.
 */
export function cachedGraph(scope: IndexScope, digest: string, make: () => GraphColumns): GraphColumns {
  const [tree] = scope.trees;
  if (tree === undefined) return make();
  const graphs = new KeptBlobs(join(dirname(tree.index), "graphs.db"), MOST_GRAPHS);
  const key = `${VERSION} ${digest}`;
  const [known] = graphs.get([key]);
  const read = known === undefined ? undefined : unpacked(known);
  if (read !== undefined) return read;
  const made = make();
  const bytes = packed(made);
  if (bytes.length <= LARGEST) graphs.put(key, bytes);
  return made;
}

type Column = Exclude<keyof GraphColumns, "files" | "names">;
const COLUMNS: readonly Column[] = ["from", "to", "name", "count", "definers", "imported", "importer", "importee"];

/** How many files there are, how long each column is, the columns, and the names. */
function packed(graph: GraphColumns): Uint8Array {
  const columns = COLUMNS.map((column) => graph[column]);
  const lengths = Int32Array.of(graph.files, ...columns.map(({ length }) => length));
  const names = Buffer.from(JSON.stringify(graph.names));
  return Buffer.concat([bytesOf(lengths), ...columns.map(bytesOf), names]);
}

function unpacked({ buffer, byteOffset, byteLength }: Uint8Array): GraphColumns | undefined {
  const head = COLUMNS.length + 1;
  if (byteLength < head * NUMBER) return undefined;
  const [files = 0, ...lengths] = new Int32Array(buffer, byteOffset, head);
  let at = byteOffset + head * NUMBER;
  const columns = COLUMNS.map((column, position): [Column, Int32Array] => {
    const numbers = new Int32Array(buffer, at, lengths[position] ?? 0);
    at += numbers.byteLength;
    return [column, numbers];
  });
  // Written by `packed`, and guarded by a checksum.
  const names = JSON.parse(Buffer.from(buffer, at, byteOffset + byteLength - at).toString()) as string[];
  return { files, names, ...(Object.fromEntries(columns) as Record<Column, Int32Array>) };
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
