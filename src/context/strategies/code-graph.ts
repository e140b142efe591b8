/**
 * The reference graph made ready for walking: from each file along its edges and against them, and for each edge how certain it is. A file
 * that imports another means its names; that tells `store.open()` that means our store from the one that happens to have the
 * same name, without knowing any types.
 */
import type { IndexScope } from "../../code-index/index-scope.ts";
import type { IndexedFile, ScopedIndex } from "../../code-index/scoped-index.ts";
import { cachedGraph } from "./graph-cache.ts";
import { columnsOf, type GraphColumns, keyOf } from "./graph-columns.ts";

export class CodeGraph {
  readonly files: readonly IndexedFile[];
  readonly columns: GraphColumns;
  readonly #positions: ReadonlyMap<string, number>;
  #leaving: Adjacency | undefined;
  #arriving: Adjacency | undefined;
  #importing: Adjacency | undefined;
  #imported: Adjacency | undefined;

  /** That of an index is made once, however many ask. */
  static of(index: ScopedIndex, scope: IndexScope): CodeGraph {
    const known = graphs.get(index) ?? new CodeGraph(index, scope);
    graphs.set(index, known);
    return known;
  }

  private constructor(index: ScopedIndex, scope: IndexScope) {
    this.columns = columnsFor(index, scope);
    this.files = index.files();
    this.#positions = new Map(this.files.map((file, position) => [keyOf(file), position]));
  }

  positionOf(file: IndexedFile): number | undefined {
    return this.#positions.get(keyOf(file));
  }

  /** Positions of the edges by which a file uses others. */
  leaving(file: number): Int32Array {
    this.#leaving ??= new Adjacency(this.columns.files, this.columns.from);
    return this.#leaving.of(file);
  }

  /** Positions of the edges by which others use a file. */
  arriving(file: number): Int32Array {
    this.#arriving ??= new Adjacency(this.columns.files, this.columns.to);
    return this.#arriving.of(file);
  }

  /** Files whose imports lead to a file. */
  importersOf(file: number): readonly IndexedFile[] {
    this.#imported ??= new Adjacency(this.columns.files, this.columns.importee);
    return this.#filesAt(this.#imported.of(file), this.columns.importer);
  }

  /** Files a file's imports lead to. */
  importsOf(file: number): readonly IndexedFile[] {
    this.#importing ??= new Adjacency(this.columns.files, this.columns.importer);
    return this.#filesAt(this.#importing.of(file), this.columns.importee);
  }

  #filesAt(pairs: Int32Array, ends: Int32Array): readonly IndexedFile[] {
    return Array.from(pairs, (pair) => this.files[ends[pair] ?? -1]).filter((file) => file !== undefined);
  }
}

const graphs = new WeakMap<ScopedIndex, CodeGraph>();

/** The last one of this thread: most edits change neither names nor imports. */
let latest: { readonly digest: string; readonly columns: GraphColumns } | undefined;

function columnsFor(index: ScopedIndex, scope: IndexScope): GraphColumns {
  const digest = index.linksDigest();
  if (latest?.digest !== digest) {
    const make = (): GraphColumns => columnsOf(index.graph(), (file) => index.importersOf(file));
    latest = { digest, columns: cachedGraph(scope, digest, make) };
  }
  return latest.columns;
}

/** Edges grouped by a file, without an array for each. */
class Adjacency {
  readonly #starts: Int32Array;
  readonly #edges: Int32Array;

  constructor(files: number, ends: Int32Array) {
    this.#starts = summedUp(countsOf(files, ends));
    this.#edges = grouped(ends, this.#starts.slice());
  }

  of(file: number): Int32Array {
    return this.#edges.subarray(this.#starts[file], this.#starts[file + 1]);
  }
}

/** How many edges each file has, one place further on: summed up, that is where those of the file begin. */
function countsOf(files: number, ends: Int32Array): Int32Array {
  const counts = new Int32Array(files + 1);
  for (const file of ends) counts[file + 1] = (counts[file + 1] ?? 0) + 1;
  return counts;
}

function summedUp(counts: Int32Array): Int32Array {
  let sum = 0;
  return counts.map((count) => (sum += count));
}

/** @param next where the next edge of each file goes; is moved on. */
function grouped(ends: Int32Array, next: Int32Array): Int32Array {
  const edges = new Int32Array(ends.length);
  for (let edge = 0; edge < ends.length; edge += 1) {
    const file = ends[edge] ?? 0;
    const at = next[file] ?? 0;
    edges[at] = edge;
    next[file] = at + 1;
  }
  return edges;
}
