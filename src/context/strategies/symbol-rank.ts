/**
 * Which files and definitions matter for a request, by a walk at random over "this file uses a name that one defines": the walk keeps
 * coming back to where the request points, and mostly follows the names the request speaks of. How often it stands on a file is the
 * file's rank, and each file's rank is handed on to the definitions its uses lead to.
 *
 * The weights are those of Aider's map, where they proved themselves. Two things differ: the walk also goes back from a definition to its users, since
 * who calls a function matters to whoever changes it, and a use counts the same whichever of several definers is looked at first.
 * The number of rounds and the order of all sums are fixed, so the same graph gives the same bits everywhere.
 */
import type { GraphColumns } from "./graph-columns.ts";

export interface RankSeeds {
  /** Where the walk begins and returns to, by position in the graph's files. Empty: all files alike. */
  readonly files: ReadonlyMap<number, number>;
  /** Names the request speaks of. */
  readonly names: ReadonlySet<string>;
}

export interface SymbolRank {
  /** By position of the file; all together 1, or all 0 when there are no files. */
  readonly files: Float64Array;
  /** Names by how much rank these edges, by their positions, hand on to what they lead to; the highest first. */
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
/** A file that does not import the definer may reach a method through something else, or mean another thing. */
export const NOT_IMPORTED = 0.2;

export function rankSymbols(graph: GraphColumns, seeds: RankSeeds): SymbolRank {
  const walk = walkOn(graph, seeds);
  const start = startOf(graph.files, seeds.files);
  let rank: Float64Array = start.slice();
  for (let round = 0; round < ROUNDS; round += 1) rank = step(walk, start, rank);
  return { files: rank, namesAlong: (edges) => namesByRank(graph, walk, rank, edges) };
}

/** One edge for each pair of files: files use several names of each other, and the walk goes over all edges many times. */
interface Walk {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly weight: Float64Array;
  /** By position of the file: the weights of all that leads away from it. */
  readonly out: Float64Array;
  /** By position of the graph's edge. */
  readonly ofEdge: Float64Array;
}

function walkOn(graph: GraphColumns, seeds: RankSeeds): Walk {
  const ofEdge = weightsOf(graph, seeds);
  const out = new Float64Array(graph.files);
  const from = new Int32Array(ofEdge.length);
  const to = new Int32Array(ofEdge.length);
  const weight = new Float64Array(ofEdge.length);
  // Where in the columns the pair of the present user and each file is. Edges come by user, but it need not be so: then a pair
  // is there twice, which changes nothing.
  const pairOf = new Int32Array(graph.files).fill(-1);
  let pairs = 0;
  let first = 0;
  let user = -1;
  for (let edge = 0; edge < ofEdge.length; edge += 1) {
    const own = ofEdge[edge] ?? 0;
    if (own === 0) continue;
    const definer = graph.to[edge] ?? 0;
    if (graph.from[edge] !== user) {
      user = graph.from[edge] ?? 0;
      first = pairs;
    }
    let pair = pairOf[definer] ?? -1;
    if (pair < first) {
      pair = pairs;
      pairs += 1;
      pairOf[definer] = pair;
      from[pair] = user;
      to[pair] = definer;
    }
    weight[pair] = (weight[pair] ?? 0) + own;
    out[user] = (out[user] ?? 0) + own;
    out[definer] = (out[definer] ?? 0) + own * BACKWARD;
  }
  return { from: from.subarray(0, pairs), to: to.subarray(0, pairs), weight: weight.subarray(0, pairs), out, ofEdge };
}

function weightsOf(graph: GraphColumns, seeds: RankSeeds): Float64Array {
  const ofName = Float64Array.from(graph.names, (name) => weightOfName(name, seeds.names));
  const isSeed = new Uint8Array(graph.files);
  for (const file of seeds.files.keys()) isSeed[file] = 1;
  const weights = new Float64Array(graph.from.length);
  for (let edge = 0; edge < weights.length; edge += 1) {
    const user = graph.from[edge] ?? 0;
    if (user === graph.to[edge]) continue;
    let weight = ofName[graph.name[edge] ?? 0] ?? 0;
    if ((graph.definers[edge] ?? 0) > MOST_TELLING) weight *= COMMON_NAME;
    if (isSeed[user] === 1) weight *= FROM_A_SEED;
    if (graph.imported[edge] === 0) weight *= NOT_IMPORTED;
    weights[edge] = weight * Math.sqrt(graph.count[edge] ?? 0);
  }
  return weights;
}

/** How telling a use of the name is. */
function weightOfName(name: string, mentioned: ReadonlySet<string>): number {
  const isTelling = name.length >= 8 && /[a-z][A-Z]|[A-Za-z\d]_[A-Za-z\d]/.test(name);
  return (
    (mentioned.has(name) ? MENTIONED : 1) * (isTelling ? TELLING_NAME : 1) * (name.startsWith("_") ? PRIVATE_NAME : 1)
  );
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

/**
 * One round. What stands on a file that leads nowhere begins anew. Each loop is a function of its own: compiled in the middle of the
 * first one, V8 would know nothing of the next and begin again there.
 */
function step(walk: Walk, start: Float64Array, rank: Float64Array): Float64Array {
  const share = new Float64Array(rank.length);
  const stranded = shareOut(walk.out, rank, share);
  const next = handOn(walk, share);
  const anew = 1 - DAMPING + DAMPING * stranded;
  return next.map((mass, file) => mass + (start[file] ?? 0) * anew);
}

/** Sets what each file hands on for each unit of weight; returns what stands on files that lead nowhere. */
function shareOut(out: Float64Array, rank: Float64Array, share: Float64Array): number {
  let stranded = 0;
  for (let file = 0; file < rank.length; file += 1) {
    const mass = rank[file] ?? 0;
    const away = out[file] ?? 0;
    if (away === 0) stranded += mass;
    else share[file] = (DAMPING * mass) / away;
  }
  return stranded;
}

function handOn({ from, to, weight }: Walk, share: Float64Array): Float64Array {
  const next = new Float64Array(share.length);
  for (let edge = 0; edge < weight.length; edge += 1) {
    const user = from[edge] ?? 0;
    const definer = to[edge] ?? 0;
    const own = weight[edge] ?? 0;
    next[definer] = (next[definer] ?? 0) + (share[user] ?? 0) * own;
    next[user] = (next[user] ?? 0) + (share[definer] ?? 0) * own * BACKWARD;
  }
  return next;
}

/** Each file hands its rank on to the definitions it uses, in proportion to how much it uses them. */
function namesByRank(
  graph: GraphColumns,
  { ofEdge, out }: Walk,
  rank: Float64Array,
  edges: Iterable<number>,
): readonly string[] {
  const names = new Map<string, number>();
  for (const edge of edges) {
    const user = graph.from[edge] ?? 0;
    const own = ofEdge[edge] ?? 0;
    if (own === 0) continue;
    const name = graph.names[graph.name[edge] ?? 0] ?? "";
    names.set(name, (names.get(name) ?? 0) + ((rank[user] ?? 0) * own) / (out[user] ?? 1));
  }
  return Array.from(names)
    .toSorted(([a, rankA], [b, rankB]) => rankB - rankA || (a < b ? -1 : 1))
    .map(([name]) => name);
}
