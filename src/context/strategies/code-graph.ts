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
  readonly #certainty: Float64Array;
  readonly #leaving: Adjacency;
  readonly #arriving: Adjacency;

  constructor(index: ScopedIndex) {
    const { files, edges } = index.graph();
    this.files = files;
    this.edges = edges;
    this.#positions = new Map(files.map((file, position) => [keyOf(file), position]));
    const imports = files.map((file) => {
      const known = new Set<number>();
      for (const imported of index.importsOf(file)) known.add(this.#positions.get(keyOf(imported)) ?? -1);
      return known;
    });
    this.#certainty = Float64Array.from(edges, ({ from, to }) => (imports[from]?.has(to) === true ? 1 : NOT_IMPORTED));
    this.#leaving = new Adjacency(files.length, edges, ({ from }) => from);
    this.#arriving = new Adjacency(files.length, edges, ({ to }) => to);
  }

  positionOf(file: IndexedFile): number | undefined {
    return this.#positions.get(keyOf(file));
  }

  /** From 0 to 1: how likely the name that is used is the one defined there. */
  certaintyOf(edge: number): number {
    return this.#certainty[edge] ?? 0;
  }

  /** Positions of the edges by which a file uses others. */
  leaving(file: number): Int32Array {
    return this.#leaving.of(file);
  }

  /** Positions of the edges by which others use a file. */
  arriving(file: number): Int32Array {
    return this.#arriving.of(file);
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
