/**
 * The reference graph with imports, as columns of numbers. A large tree has millions of edges; as columns they take a
 * few bytes each, are walked many times faster than as objects, and can be stored in a file as they are.
 */
import type { IndexedFile, ReferenceGraph } from "../../code-index/model/scoped-index.ts";

export interface GraphColumns extends Omit<ReferenceGraph, "files" | "edges"> {
  readonly files: number;
}

/** Field by field: `edges` are made at the first access. */
export function columnsOf(graph: ReferenceGraph): GraphColumns {
  const { files, names, from, to, name, count, definers, imported, importer, importee } = graph;
  return { files: files.length, names, from, to, name, count, definers, imported, importer, importee };
}

export function keyOf({ resource, path }: IndexedFile): string {
  return `${resource}:${path}`;
}
