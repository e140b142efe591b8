/**
 * Which files and definitions matter for a request, by a random walk over "this file uses a name that one defines": the
 * walk keeps returning to the places the request points to, and mostly follows the names in the request. How often it
 * is on a file is the file's rank, and each file's rank is passed on to the definitions its uses lead to.
 *
 * The weights are those of Aider's map, where they proved themselves. Two things differ: the walk also goes back from a
 * definition to its users, since the callers of a function matter to a change of it, and a use counts the same for any
 * order of several definers. The number of rounds and the order of all sums are fixed, so the same graph gives the same
 * bits everywhere.
 */
import type { GraphColumns } from "./graph-columns.ts";

import { integerAt, weightAt } from "../../domain/values/number-at.ts";
export interface RankSeeds {
  /** Where the walk begins and returns to, by position in the graph's files. Empty: all files alike. */
  readonly files: ReadonlyMap<number, number>;
  /** Names the request speaks of. */
  readonly names: ReadonlySet<string>;
}

export interface SymbolRank {
  /** By position of the file; all together 1, or all 0 when there are no files. */
  readonly files: Float64Array;
  /**
   * Names by how much rank these edges, by their positions, pass on to their definers; the highest first. Valid until
   * the graph is ranked again.
   */
  readonly namesAlong: (edges: Iterable<number>) => readonly string[];
}

const ROUNDS = 24;
const DAMPING = 0.85;
/** Of the weight from a user to a definition, this much leads back. */
const BACKWARD = 0.4;
const MENTIONED = 10;
const TELLING_NAME = 10;
const PRIVATE_NAME = 0.1;
const COMMON_NAME = 0.1;
/** Definers of a name that is not a common one. */
const MOST_TELLING = 5;
const FROM_A_SEED = 50;
/** A file that does not import the definer may reach a method through another file, or mean another definition. */
export const NOT_IMPORTED = 0.2;

export function rankSymbols(graph: GraphColumns, seeds: RankSeeds): SymbolRank {
  let walk = walks.get(graph);
  if (walk === undefined) walks.set(graph, (walk = new Walk(graph)));
  return walk.rank(seeds);
}

const walks = new WeakMap<GraphColumns, Walk>();

/**
 * The weights of a graph's edges. The parts that do not depend on the request are computed once; and the arrays are
 * used again for each request, because a few megabytes of new ones for each made V8 collect its whole memory after
 * every third, a tenth of all the time of a context.
 */
class Walk {
  readonly #graph: GraphColumns;
  readonly #telling: Float64Array;
  readonly #ofName: Float64Array;
  /** By position of the graph's edge: how much it is worth, and which pair of files it leads to; -1 within one file. */
  readonly #ofEdge: Float64Array;
  readonly #pairOf: Int32Array;
  /** One for each pair of files: files use several names of each other, and the walk passes all of them many times. */
  readonly #pairs: Pairs;
  /** By position of the file: the weights of all edges that lead away from it. */
  readonly #out: Float64Array;
  #requests = 0;

  constructor(graph: GraphColumns) {
    this.#graph = graph;
    this.#telling = Float64Array.from(graph.names, howTelling);
    this.#ofName = new Float64Array(graph.names.length);
    this.#ofEdge = new Float64Array(graph.from.length);
    this.#pairOf = new Int32Array(graph.from.length);
    this.#pairs = pairsOf(graph, this.#pairOf);
    this.#out = new Float64Array(graph.files);
  }

  rank(seeds: RankSeeds): SymbolRank {
    const request = ++this.#requests;
    this.#weigh(seeds);
    const start = startOf(this.#graph.files, seeds.files);
    const share = new Float64Array(start.length);
    let [rank, next] = [start.slice(), new Float64Array(start.length)];
    for (let round = 0; round < ROUNDS; round += 1) {
      const restarting = 1 - DAMPING + DAMPING * shareOut(this.#out, rank, share);
      handOn(this.#pairs, share, next.fill(0));
      restart(start, restarting, next);
      [rank, next] = [next, rank];
    }
    return {
      files: rank,
      namesAlong: (edges) => {
        if (request !== this.#requests) throw new Error("the graph has been walked again since");
        return namesByRank(this.#graph, { ofEdge: this.#ofEdge, out: this.#out }, rank, edges);
      },
    };
  }

  #weigh(seeds: RankSeeds): void {
    const { names, files } = this.#graph;
    for (let name = 0; name < names.length; name += 1) {
      this.#ofName[name] = (seeds.names.has(names[name] ?? "") ? MENTIONED : 1) * weightAt(this.#telling, name);
    }
    const isSeed = new Uint8Array(files);
    for (const file of seeds.files.keys()) isSeed[file] = 1;
    this.#pairs.weight.fill(0);
    this.#out.fill(0);
    weighEdges(this.#graph, this.#ofName, isSeed, this.#ofEdge);
    addUp(this.#graph, this.#ofEdge, this.#pairOf, this.#pairs.weight, this.#out);
  }
}

interface Pairs {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly weight: Float64Array;
}

/**
 * @param pairOf is filled with the pair of each edge. Edges usually come by user; if not, a pair is there twice, which
 *   changes nothing.
 */
function pairsOf(graph: GraphColumns, pairOf: Int32Array): Pairs {
  const from = new Int32Array(pairOf.length);
  const to = new Int32Array(pairOf.length);
  // Where in the columns the pair of the present user and each file is.
  const known = new Int32Array(graph.files).fill(-1);
  let pairs = 0;
  let first = 0;
  let user = -1;
  for (let edge = 0; edge < pairOf.length; edge += 1) {
    const definer = integerAt(graph.to, edge);
    if (graph.from[edge] !== user) {
      user = integerAt(graph.from, edge);
      first = pairs;
    }
    let pair = -1;
    if (user !== definer) {
      pair = integerAt(known, definer);
      if (pair < first) {
        pair = pairs;
        pairs += 1;
        known[definer] = pair;
        from[pair] = user;
        to[pair] = definer;
      }
    }
    pairOf[edge] = pair;
  }
  return { from: from.slice(0, pairs), to: to.slice(0, pairs), weight: new Float64Array(pairs) };
}

function weighEdges(graph: GraphColumns, ofName: Float64Array, isSeed: Uint8Array, weights: Float64Array): void {
  for (let edge = 0; edge < weights.length; edge += 1) {
    const user = integerAt(graph.from, edge);
    let weight = user === graph.to[edge] ? 0 : weightAt(ofName, integerAt(graph.name, edge));
    if (integerAt(graph.definers, edge) > MOST_TELLING) weight *= COMMON_NAME;
    if (isSeed[user] === 1) weight *= FROM_A_SEED;
    if (graph.imported[edge] === 0) weight *= NOT_IMPORTED;
    weights[edge] = weight * Math.sqrt(integerAt(graph.count, edge));
  }
}

function addUp(
  graph: GraphColumns,
  ofEdge: Float64Array,
  pairOf: Int32Array,
  weight: Float64Array,
  out: Float64Array,
): void {
  for (let edge = 0; edge < ofEdge.length; edge += 1) {
    const pair = integerAt(pairOf, edge);
    if (pair < 0) continue;
    const own = weightAt(ofEdge, edge);
    const user = integerAt(graph.from, edge);
    const definer = integerAt(graph.to, edge);
    weight[pair] = weightAt(weight, pair) + own;
    out[user] = weightAt(out, user) + own;
    out[definer] = weightAt(out, definer) + own * BACKWARD;
  }
}

/** How telling a use of the name is, independent of the request. */
function howTelling(name: string): number {
  const isTelling = name.length >= 8 && /[a-z][A-Z]|[A-Za-z\d]_[A-Za-z\d]/.test(name);
  return (isTelling ? TELLING_NAME : 1) * (name.startsWith("_") ? PRIVATE_NAME : 1);
}

function startOf(count: number, seeds: ReadonlyMap<number, number>): Float64Array {
  const start = new Float64Array(count);
  let total = 0;
  for (const position of Array.from(seeds.keys()).toSorted((a, b) => a - b)) {
    const weight = seeds.get(position) ?? 0;
    if (position >= count || !(weight > 0)) continue;
    start[position] = weight;
    total += weight;
  }
  if (total === 0) return start.fill(count === 0 ? 0 : 1 / count);
  return start.map((weight) => weight / total);
}

// One round is three loops, each a function of its own: compiled in the middle of the first one, V8 would know nothing
// of the next and start again there. The rank on a file that leads nowhere restarts at the seeds.

/** Sets the rank that each file passes on for each unit of weight; returns the rank on files that lead nowhere. */
function shareOut(out: Float64Array, rank: Float64Array, share: Float64Array): number {
  let stranded = 0;
  for (let file = 0; file < rank.length; file += 1) {
    const mass = weightAt(rank, file);
    const away = weightAt(out, file);
    share[file] = away === 0 ? 0 : (DAMPING * mass) / away;
    if (away === 0) stranded += mass;
  }
  return stranded;
}

function handOn({ from, to, weight }: Pairs, share: Float64Array, next: Float64Array): void {
  for (let edge = 0; edge < weight.length; edge += 1) {
    const user = integerAt(from, edge);
    const definer = integerAt(to, edge);
    const own = weightAt(weight, edge);
    next[definer] = weightAt(next, definer) + weightAt(share, user) * own;
    next[user] = weightAt(next, user) + weightAt(share, definer) * own * BACKWARD;
  }
}

function restart(start: Float64Array, share: number, next: Float64Array): void {
  for (let file = 0; file < next.length; file += 1) next[file] = weightAt(next, file) + weightAt(start, file) * share;
}

/** Each file passes its rank on to the definitions it uses, in proportion to how much it uses them. */
function namesByRank(
  graph: GraphColumns,
  { ofEdge, out }: { readonly ofEdge: Float64Array; readonly out: Float64Array },
  rank: Float64Array,
  edges: Iterable<number>,
): readonly string[] {
  // By number: those of one tree are all different, and so are their names.
  const ranks = new Map<number, number>();
  for (const edge of edges) {
    const user = integerAt(graph.from, edge);
    const own = weightAt(ofEdge, edge);
    if (own === 0) continue;
    const name = integerAt(graph.name, edge);
    ranks.set(name, (ranks.get(name) ?? 0) + (weightAt(rank, user) * own) / weightAt(out, user));
  }
  return Array.from(ranks, ([name, its]) => ({ name: graph.names[name] ?? "", its }))
    .toSorted((a, b) => b.its - a.its || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}
