/**
 * Which files use names that other files define. A file that defines a name itself means its own; a name that very many
 * files define says nothing about any of them, and would make files × files edges, so it is left out.
 */
import { countAt, weightAt } from "../../domain/values/number-at.ts";
import { numbersIn } from "../sync/content-writer.ts";
import { EdgeColumns } from "./edge-columns.ts";
import type { ImportMap } from "../imports/import-map.ts";
import type { TreeReader } from "../index/index-reader.ts";
import type { IndexedFile, ReferenceGraph } from "../model/scoped-index.ts";

/** Names with more definers than this are in no edge: `get`, `name`, `toString`. */
export const MOST_DEFINERS = 10;

export function referenceGraph(
  trees: readonly TreeReader[],
  importsIn: (tree: TreeReader) => ImportMap,
): ReferenceGraph {
  const files: IndexedFile[] = [];
  const names: string[] = [];
  const edges = new EdgeColumns();
  const importer: number[] = [];
  const importee: number[] = [];
  // Names are compared within a tree: that two projects use the same word does not connect them.
  for (const tree of trees) {
    const [offset, firstPair] = [files.length, importer.length];
    importsIn(tree).visit((from, to) => {
      importer.push(offset + from);
      importee.push(offset + to);
    });
    addEdges(tree, { offset, names, importer, importee, firstPair }, edges);
    for (const { file } of tree.files) files.push(file);
  }
  return edges.graph({ files, names, importer: Int32Array.from(importer), importee: Int32Array.from(importee) });
}

interface EarlierTrees {
  /** How many files of other trees there are. */
  readonly offset: number;
  /** Those of other trees; this tree's are added. */
  readonly names: string[];
  /** Imports by the file that imports, and where those of this tree begin. */
  readonly importer: readonly number[];
  readonly importee: readonly number[];
  readonly firstPair: number;
}

/**
 * Names are counted by rank: the order in which the tree, read from its first file to its last, defines them. Their
 * numbers in the index depend on the order of indexing; ranks depend on the tree alone. Everything is in flat arrays:
 * with maps and objects it took twice as long.
 */
function addEdges(tree: TreeReader, before: EarlierTrees, edges: EdgeColumns): void {
  const { offset, names, importer, importee } = before;
  const links = linksOf(tree);
  const firstName = names.length - 1;
  const { rankOf, starts, definers } = rankNames(tree, links, names);
  const ownBy = new Int32Array(starts.length).fill(-1);
  const importedBy = new Int32Array(links.length).fill(-1);
  let pair = before.firstPair;
  let found = new Float64Array(1_024);
  for (let from = 0; from < links.length; from += 1) {
    const { defines, uses } = links[from] ?? NONE;
    for (; importer[pair] === offset + from; pair += 1) importedBy[(importee[pair] ?? 0) - offset] = from;
    for (let at = 0; at < defines.length; at += 1) ownBy[countAt(rankOf, countAt(defines, at))] = from;
    if (found.length < uses.length / 2) found = new Float64Array(uses.length);
    let count = 0;
    for (let at = 0; at < uses.length; at += 2) {
      const rank = countAt(rankOf, countAt(uses, at));
      if (rank === 0 || ownBy[rank] === from) continue;
      if (countAt(starts, rank + 1) - countAt(starts, rank) > MOST_DEFINERS) continue;
      // Rank and count in one number, to be sorted by rank.
      found[count] = rank * 2 ** 32 + countAt(uses, at + 1);
      count += 1;
    }
    const sorted = found.subarray(0, count).sort();
    for (let at = 0; at < count; at += 1) {
      const both = weightAt(sorted, at);
      const rank = Math.floor(both / 2 ** 32);
      const [first, after] = [countAt(starts, rank), countAt(starts, rank + 1)];
      for (let definer = first; definer < after; definer += 1) {
        const to = countAt(definers, definer);
        const isImported = importedBy[to] === from;
        edges.add(offset + from, offset + to, firstName + rank, both % 2 ** 32, after - first, isImported);
      }
    }
  }
}

interface ContentLinks {
  readonly defines: Uint32Array;
  /** The names of `defines`, as JSON. */
  readonly defined: string;
  /** Name, count, name, count. */
  readonly uses: Uint32Array;
}

const NONE: ContentLinks = { defines: new Uint32Array(), defined: "[]", uses: new Uint32Array() };

/** For each file of the scope. */
function linksOf(tree: TreeReader): ContentLinks[] {
  const byContent = new Map<unknown, ContentLinks>();
  for (const [content, defines, defined, uses] of tree.all("SELECT content, defines, defined, uses FROM links")) {
    if (tree.filesOf(content).length === 0) continue;
    byContent.set(content, {
      defines: numbersIn(defines),
      defined: typeof defined === "string" ? defined : "[]",
      uses: numbersIn(uses),
    });
  }
  return tree.files.map(({ content }) => byContent.get(content) ?? NONE);
}

/**
 * Ranks count from 1; a name that nothing in the scope defines has 0. The files that define a name are those in
 * `definers` from where its rank starts to where the next one does.
 *
 * @param names to which they are added, by rank.
 */
function rankNames(tree: TreeReader, links: readonly ContentLinks[], names: string[]) {
  const rankOf = new Uint32Array(Number(tree.all("SELECT COALESCE(MAX(id), 0) FROM names")[0]?.[0]) + 1);
  const counts: number[] = [0];
  for (const { defines, defined } of links) {
    let texts: readonly string[] | undefined;
    for (let at = 0; at < defines.length; at += 1) {
      const id = countAt(defines, at);
      const rank = countAt(rankOf, id);
      if (rank > 0) {
        counts[rank] = (counts[rank] ?? 0) + 1;
        continue;
      }
      // Written by `ContentWriter`: an array of strings.
      texts ??= JSON.parse(defined) as string[];
      rankOf[id] = counts.push(1) - 1;
      names.push(texts[at] ?? "");
    }
  }
  const starts = new Uint32Array(counts.length + 1);
  for (let rank = 0; rank < counts.length; rank += 1) starts[rank + 1] = countAt(starts, rank) + (counts[rank] ?? 0);
  const next = starts.slice();
  const definers = new Uint32Array(starts.at(-1) ?? 0);
  for (const [file, { defines }] of links.entries()) {
    for (let at = 0; at < defines.length; at += 1) {
      const rank = countAt(rankOf, countAt(defines, at));
      const place = countAt(next, rank);
      definers[place] = file;
      next[rank] = place + 1;
    }
  }
  return { rankOf, starts, definers };
}
