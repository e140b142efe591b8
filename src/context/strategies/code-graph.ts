/**
 * The reference graph made ready for walking: from each file along its edges and against them, and for each edge whether the file that
 * uses the name also imports the one that defines it. That tells `store.open()` that means our store from the one that happens to have the
 * same name, without knowing any types.
 */
import type { GraphEdge, IndexedFile, ReferenceGraph, ScopedIndex } from "../../code-index/scoped-index.ts";

/** Of an edge between files that do not import each other: it may be a method reached through something else, or another thing. */
const NOT_IMPORTED = 0.2;

export class CodeGraph implements ReferenceGraph {
  readonly files: readonly IndexedFile[];
  readonly edges: readonly GraphEdge[];
  readonly #positions: ReadonlyMap<string, number>;
  readonly #index: ScopedIndex;
  readonly #importers = new Map<number, ReadonlySet<number>>();
  #leaving: Adjacency | undefined;
  #arriving: Adjacency | undefined;

  constructor(index: ScopedIndex) {
    const { files, edges } = index.graph();
    this.#index = index;
    this.files = files;
    this.edges = edges;
    this.#positions = new Map(files.map((file, position) => [keyOf(file), position]));
  }

  positionOf(file: IndexedFile): number | undefined {
    return this.#positions.get(keyOf(file));
  }

  /** From 0 to 1: how likely the name that is used is the one defined there. */
  certaintyOf(edge: number): number {
    const { from, to } = this.edges[edge] ?? { from: -1, to: -1 };
    return this.#importersOf(to).has(from) ? 1 : NOT_IMPORTED;
  }

  /** Positions of the edges by which a file uses others. */
  leaving(file: number): Int32Array {
    this.#leaving ??= new Adjacency(this.files.length, this.edges, ({ from }) => from);
    return this.#leaving.of(file);
  }

  /** Positions of the edges by which others use a file. */
  arriving(file: number): Int32Array {
    this.#arriving ??= new Adjacency(this.files.length, this.edges, ({ to }) => to);
    return this.#arriving.of(file);
  }

  #importersOf(position: number): ReadonlySet<number> {
    const known = this.#importers.get(position);
    if (known !== undefined) return known;
    const file = this.files[position];
    const importers = new Set<number>();
    for (const importer of file === undefined ? [] : this.#index.importersOf(file)) {
      importers.add(this.positionOf(importer) ?? -1);
    }
    this.#importers.set(position, importers);
    return importers;
  }
}

/** Edges grouped by a file, without an array for each. */
class Adjacency {
  readonly #starts: Int32Array;
  readonly #edges: Int32Array;

  constructor(files: number, edges: readonly GraphEdge[], fileOf: (edge: GraphEdge) => number) {
    this.#starts = new Int32Array(files + 1);
    for (const edge of edges) this.#starts[fileOf(edge) + 1] = (this.#starts[fileOf(edge) + 1] ?? 0) + 1;
    for (let file = 0; file < files; file += 1) {
      this.#starts[file + 1] = (this.#starts[file + 1] ?? 0) + (this.#starts[file] ?? 0);
    }
    this.#edges = new Int32Array(edges.length);
    const next = this.#starts.slice();
    for (const [position, edge] of edges.entries()) {
      const file = fileOf(edge);
      this.#edges[next[file] ?? 0] = position;
      next[file] = (next[file] ?? 0) + 1;
    }
  }

  of(file: number): Int32Array {
    return this.#edges.subarray(this.#starts[file], this.#starts[file + 1]);
  }
}

export function keyOf({ resource, path }: IndexedFile): string {
  return `${resource}:${path}`;
}
