/**
 * The reference graph prepared for walking: from each file along its edges and against them, and for each edge how
 * certain it is. A file that imports another means its names; that distinguishes a `store.open()` that means our store
 * from one that happens to have the same name, without knowing any types.
 */
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import type { IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { cachedGraph, cachedImports, type ImportColumns } from "./graph-cache.ts";
import { columnsOf, type GraphColumns, keyOf } from "./graph-columns.ts";

export class CodeGraph {
  readonly files: readonly IndexedFile[];
  readonly #index: ScopedIndex;
  readonly #scope: IndexScope;
  readonly #digest: string;
  readonly #positions: ReadonlyMap<string, number>;

  /** The graph of an index is made once for all callers. */
  static of(index: ScopedIndex, scope: IndexScope): CodeGraph {
    const known = graphs.get(index) ?? new CodeGraph(index, scope);
    graphs.set(index, known);
    return known;
  }

  private constructor(index: ScopedIndex, scope: IndexScope) {
    this.#index = index;
    this.#scope = scope;
    this.#digest = index.linksDigest();
    this.files = index.files();
    this.#positions = new Map(this.files.map((file, position) => [keyOf(file), position]));
  }

  get columns(): GraphColumns {
    return this.#graph().columns;
  }

  positionOf(file: IndexedFile): number | undefined {
    return this.#positions.get(keyOf(file));
  }

  /** Positions of the edges by which a file uses others. */
  leaving(file: number): Int32Array {
    return this.#graph().leaving(file);
  }

  /** Positions of the edges by which others use a file. */
  arriving(file: number): Int32Array {
    return this.#graph().arriving(file);
  }

  /** Positions of the files whose imports lead to a file. */
  importersOf(file: number): Int32Array {
    return this.#imports().importersOf(file);
  }

  /** Positions of the files a file's imports lead to. */
  importsOf(file: number): Int32Array {
    return this.#imports().importsOf(file);
  }

  #graph(): WalkableGraph {
    if (latestGraph?.digest !== this.#digest) {
      const columns = cachedGraph(this.#scope, this.#digest, () => this.#make());
      latestGraph = { digest: this.#digest, graph: new WalkableGraph(columns) };
    }
    return latestGraph.graph;
  }

  #imports(): WalkableImports {
    if (latestImports?.digest !== this.#digest) {
      const isThere = latestGraph?.digest === this.#digest;
      const columns = isThere ? this.columns : cachedImports(this.#scope, this.#digest, () => this.#make());
      latestImports = { digest: this.#digest, imports: new WalkableImports(columns) };
    }
    return latestImports.imports;
  }

  #make(): GraphColumns {
    return columnsOf(this.#index.graph());
  }
}

const graphs = new WeakMap<ScopedIndex, CodeGraph>();

/** The last ones of this thread: most edits change neither names nor imports. */
let latestGraph: { readonly digest: string; readonly graph: WalkableGraph } | undefined;
let latestImports: { readonly digest: string; readonly imports: WalkableImports } | undefined;

/** Each direction is prepared when it is first walked. */
class WalkableGraph {
  readonly columns: GraphColumns;
  #leaving: Adjacency | undefined;
  #arriving: Adjacency | undefined;

  constructor(columns: GraphColumns) {
    this.columns = columns;
  }

  leaving(file: number): Int32Array {
    return (this.#leaving ??= new Adjacency(this.columns.files, this.columns.from)).of(file);
  }

  arriving(file: number): Int32Array {
    return (this.#arriving ??= new Adjacency(this.columns.files, this.columns.to)).of(file);
  }
}

class WalkableImports {
  readonly #columns: ImportColumns;
  readonly #importing: Adjacency;
  readonly #imported: Adjacency;

  constructor(columns: ImportColumns) {
    this.#columns = columns;
    this.#importing = new Adjacency(columns.files, columns.importer);
    this.#imported = new Adjacency(columns.files, columns.importee);
  }

  importersOf(file: number): Int32Array {
    return this.#imported.of(file).map((pair) => this.#columns.importer[pair] ?? -1);
  }

  importsOf(file: number): Int32Array {
    return this.#importing.of(file).map((pair) => this.#columns.importee[pair] ?? -1);
  }
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

/** @param next where the next edge of each file goes; is advanced. */
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
