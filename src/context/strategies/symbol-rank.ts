/**
 * Which files and definitions matter for a request, by a walk at random over "this file uses a name that one defines": the walk keeps
 * coming back to where the request points, and mostly follows the names the request speaks of. How often it stands on a file is the
 * file's rank, and each file's rank is handed on to the definitions its uses lead to.
 *
 * The weights are those of Aider's map, where they proved themselves. Two things differ: the walk also goes back from a definition to its users, since
 * who calls a function matters to whoever changes it, and a use counts the same whichever of several definers is looked at first.
 * The number of rounds and the order of all sums are fixed, so the same graph gives the same bits everywhere.
 */
import type { ReferenceGraph } from "../../code-index/scoped-index.ts";

export interface RankSeeds {
  /** Where the walk begins and returns to, by position in the graph's files. Empty: all files alike. */
  readonly files: ReadonlyMap<number, number>;
  /** Names the request speaks of. */
  readonly names: ReadonlySet<string>;
}

export interface RankedName {
  /** Position of the file that defines it. */
  readonly file: number;
  readonly name: string;
  readonly rank: number;
}

export interface SymbolRank {
  /** By position of the file; all together 1, or all 0 when there are no files. */
  readonly files: Float64Array;
  /** Definitions that something refers to, the highest first. */
  readonly names: readonly RankedName[];
}

const ROUNDS = 24;
const DAMPING = 0.85;
/** Of the weight from a user to a definition, this much leads back. */
const BACKWARD = 0.4;
const MENTIONED = 10;
const TELLING_NAME = 10;
const PRIVATE_NAME = 0.1;
const COMMON_NAME = 0.1;
const FROM_A_SEED = 50;

export function rankSymbols(graph: ReferenceGraph, seeds: RankSeeds): SymbolRank {
  const count = graph.files.length;
  const weights = weightsOf(graph, seeds);
  const start = startOf(count, seeds.files);
  const out = new Float64Array(count);
  for (const [position, edge] of graph.edges.entries()) {
    const weight = weights[position] ?? 0;
    add(out, edge.from, weight);
    add(out, edge.to, weight * BACKWARD);
  }
  let rank: Float64Array = start.slice();
  for (let round = 0; round < ROUNDS; round += 1) rank = step(graph, weights, out, start, rank);
  return { files: rank, names: namesByRank(graph, weights, out, rank) };
}

/** How telling each use is. */
function weightsOf(graph: ReferenceGraph, seeds: RankSeeds): Float64Array {
  const weights = new Float64Array(graph.edges.length);
  const ofName = new Map<string, number>();
  for (const [position, { from, to, name, count, definers }] of graph.edges.entries()) {
    if (from === to) continue;
    let weight = ofName.get(name);
    if (weight === undefined) ofName.set(name, (weight = weightOfName(name, seeds.names)));
    if (definers > 5) weight *= COMMON_NAME;
    if (seeds.files.has(from)) weight *= FROM_A_SEED;
    weights[position] = weight * Math.sqrt(count);
  }
  return weights;
}

function weightOfName(name: string, mentioned: ReadonlySet<string>): number {
  const isTelling = name.length >= 8 && /\p{Ll}\p{Lu}|[\p{L}\p{N}]_[\p{L}\p{N}]/u.test(name);
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

/** One round. What stands on a file that leads nowhere begins anew. */
function step(
  graph: ReferenceGraph,
  weights: Float64Array,
  out: Float64Array,
  start: Float64Array,
  rank: Float64Array,
): Float64Array {
  const next = new Float64Array(rank.length);
  let stranded = 0;
  for (const [file, mass] of rank.entries()) if (out[file] === 0) stranded += mass;
  for (const [position, { from, to }] of graph.edges.entries()) {
    const weight = weights[position] ?? 0;
    if (weight === 0) continue;
    add(next, to, (DAMPING * (rank[from] ?? 0) * weight) / (out[from] ?? 1));
    add(next, from, (DAMPING * (rank[to] ?? 0) * weight * BACKWARD) / (out[to] ?? 1));
  }
  for (const [file, share] of start.entries()) add(next, file, share * (1 - DAMPING + DAMPING * stranded));
  return next;
}

/** Hands each file's rank on to the definitions it uses, in proportion to how much it uses them. */
function namesByRank(
  graph: ReferenceGraph,
  weights: Float64Array,
  out: Float64Array,
  rank: Float64Array,
): readonly RankedName[] {
  const byFile = new Map<number, Map<string, number>>();
  for (const [position, { from, to, name }] of graph.edges.entries()) {
    const weight = weights[position] ?? 0;
    if (weight === 0) continue;
    let names = byFile.get(to);
    if (names === undefined) byFile.set(to, (names = new Map()));
    names.set(name, (names.get(name) ?? 0) + ((rank[from] ?? 0) * weight) / (out[from] ?? 1));
  }
  return Array.from(byFile, ([file, names]) => Array.from(names, ([name, value]) => ({ file, name, rank: value })))
    .flat()
    .toSorted((a, b) => b.rank - a.rank || a.file - b.file || (a.name < b.name ? -1 : 1));
}

function add(values: Float64Array, position: number, amount: number): void {
  values[position] = (values[position] ?? 0) + amount;
}
