/**
 * The reference graph as columns of numbers. A large tree has millions of edges; as columns they take a few bytes each, are walked many times
 * faster than as objects, and can be kept in a file as they are.
 */
import type { IndexedFile, ReferenceGraph } from "../../code-index/scoped-index.ts";

export interface GraphColumns {
  readonly files: number;
  readonly names: readonly string[];
  /** By edge: who uses the name, and who defines it, by their positions among the files. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** By edge: the position among the names. */
  readonly name: Int32Array;
  readonly count: Int32Array;
  readonly definers: Int32Array;
  /** By edge: 1 where the user imports the file that defines the name. */
  readonly imported: Int32Array;
  /** By import: who imports, and what. */
  readonly importer: Int32Array;
  readonly importee: Int32Array;
}

export function columnsOf(
  { files, edges }: ReferenceGraph,
  importersOf: (file: IndexedFile) => readonly IndexedFile[],
): GraphColumns {
  const positions = new Map(files.map((file, position) => [keyOf(file), position]));
  const importers = files.map((file) => {
    return new Set(importersOf(file).flatMap((importer) => positions.get(keyOf(importer)) ?? []));
  });
  const names = new Map<string, number>();
  const columns = emptyColumns(edges.length);
  for (const [at, { from, to, name, count, definers }] of edges.entries()) {
    let known = names.get(name);
    if (known === undefined) names.set(name, (known = names.size));
    columns.from[at] = from;
    columns.to[at] = to;
    columns.name[at] = known;
    columns.count[at] = count;
    columns.definers[at] = definers;
    columns.imported[at] = importers[to]?.has(from) === true ? 1 : 0;
  }
  const pairs = importers.flatMap((all, importee) => Array.from(all, (importer) => ({ importer, importee })));
  return {
    files: files.length,
    names: Array.from(names.keys()),
    ...columns,
    importer: Int32Array.from(pairs, ({ importer }) => importer),
    importee: Int32Array.from(pairs, ({ importee }) => importee),
  };
}

function emptyColumns(edges: number): Record<"from" | "to" | "name" | "count" | "definers" | "imported", Int32Array> {
  const column = (): Int32Array => new Int32Array(edges);
  return { from: column(), to: column(), name: column(), count: column(), definers: column(), imported: column() };
}

export function keyOf({ resource, path }: IndexedFile): string {
  return `${resource}:${path}`;
}
