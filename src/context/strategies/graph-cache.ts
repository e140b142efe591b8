/** The cache of graphs: making one takes most of the time of a question about a tree that has not changed. */
import { dirname, join } from "node:path";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { BlobCache } from "../cache/blob-cache.ts";
import type { GraphColumns } from "./graph-columns.ts";

/** To be raised when the same tree gives another graph. */
const VERSION = 5;
/** Of four graphs. */
const MOST_BLOBS = 8;
const LARGEST = 256 * 1024 * 1024;
const NUMBER = 4;

/**
 * The imports without the rest: a small part of the graph (4 %), and all that is needed to show the surroundings of one
 * file.
 */
export type ImportColumns = Pick<GraphColumns, "files" | "importer" | "importee">;

/**
 * The graph of a scope: from the cache, or made and stored there.
 *
 * @param digest of its input (`ScopedIndex.linksDigest`): edits that change no name and no import leave it as it was.
 */
export function cachedGraph(scope: IndexScope, digest: string, make: () => GraphColumns): GraphColumns {
  const graphs = cacheOf(scope);
  const key = `${VERSION}.${digest}`;
  const known = graphs?.get(key);
  const read = known === undefined ? undefined : unpacked(known, COLUMNS);
  if (read !== undefined) return read;
  const made = make();
  const bytes = packed(made, COLUMNS, made.names);
  if (bytes.length <= LARGEST) {
    graphs?.put(key, bytes);
    graphs?.put(`${key}.imports`, packed(made, IMPORTS, []));
  }
  return made;
}

export function cachedImports(scope: IndexScope, digest: string, make: () => GraphColumns): ImportColumns {
  const known = cacheOf(scope)?.get(`${VERSION}.${digest}.imports`);
  return (known && unpacked(known, IMPORTS)) ?? cachedGraph(scope, digest, make);
}

function cacheOf({ trees: [tree] }: IndexScope): BlobCache | undefined {
  return tree && new BlobCache(join(dirname(tree.index), "graphs"), MOST_BLOBS);
}

type Column = Exclude<keyof GraphColumns, "files" | "names">;
const COLUMNS = [
  "from",
  "to",
  "name",
  "count",
  "definers",
  "imported",
  "importer",
  "importee",
] as const satisfies Column[];
const IMPORTS = ["importer", "importee"] as const satisfies Column[];

/** How many files there are, how long each column is, the columns, and the names. */
function packed(graph: GraphColumns, wanted: readonly Column[], names: readonly string[]): Uint8Array {
  const columns = wanted.map((column) => graph[column]);
  const lengths = Int32Array.of(graph.files, ...columns.map(({ length }) => length));
  return Buffer.concat([bytesOf(lengths), ...columns.map(bytesOf), Buffer.from(JSON.stringify(names))]);
}

function unpacked<Wanted extends Column>(
  { buffer, byteOffset, byteLength }: Uint8Array,
  wanted: readonly Wanted[],
): (Pick<GraphColumns, "files" | "names"> & Record<Wanted, Int32Array>) | undefined {
  const head = wanted.length + 1;
  if (byteLength < head * NUMBER) return undefined;
  const [files = 0, ...lengths] = new Int32Array(buffer, byteOffset, head);
  let at = byteOffset + head * NUMBER;
  const columns = wanted.map((column, position): [Wanted, Int32Array] => {
    const numbers = new Int32Array(buffer, at, lengths[position] ?? 0);
    at += numbers.byteLength;
    return [column, numbers];
  });
  // Written by `packed`, and guarded by a checksum.
  const names = JSON.parse(Buffer.from(buffer, at, byteOffset + byteLength - at).toString()) as string[];
  return { files, names, ...(Object.fromEntries(columns) as Record<Wanted, Int32Array>) };
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
