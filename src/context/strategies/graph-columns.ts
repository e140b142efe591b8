/**
 * The reference graph with imports, as columns of numbers. A large tree has millions of edges; as columns they take a few bytes each, are
 * walked many times faster than as objects, and can be kept in a file as they are.
 */
import type { IndexedFile, ReferenceGraph } from "../../code-index/scoped-index.ts";

export interface GraphColumns extends Pick<ReferenceGraph, "names" | "from" | "to" | "name" | "count" | "definers"> {
  readonly files: number;
  /** By edge: 1 where the user imports the file that defines the name. */
  readonly imported: Int32Array;
  /** By import: who imports, and what. */
  readonly importer: Int32Array;
  readonly importee: Int32Array;
}

export function columnsOf(
  { files, names, from, to, name, count, definers }: ReferenceGraph,
  importersOf: (file: IndexedFile) => readonly IndexedFile[],
): GraphColumns {
  const positions = new Map(files.map((file, position) => [keyOf(file), position]));
  const importers = files.map((file) => {
    return new Set(importersOf(file).flatMap((importer) => positions.get(keyOf(importer)) ?? []));
  });
  const imported = new Int32Array(from.length);
  for (let edge = 0; edge < imported.length; edge += 1) {
    if (importers[to[edge] ?? 0]?.has(from[edge] ?? 0) === true) imported[edge] = 1;
  }
  const pairs = importers.flatMap((all, importee) => Array.from(all, (importer) => ({ importer, importee })));
  return {
    files: files.length,
    names,
    from,
    to,
    name,
    count,
    definers,
    imported,
    importer: Int32Array.from(pairs, ({ importer }) => importer),
    importee: Int32Array.from(pairs, ({ importee }) => importee),
  };
}

export function keyOf({ resource, path }: IndexedFile): string {
  return `${resource}:${path}`;
}
