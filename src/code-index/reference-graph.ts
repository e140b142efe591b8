/**
 * Which files use names that other files define. A file that defines a name itself means its own; a name that very many files define says
 * nothing about any of them, and would make files × files edges, so it is left out.
 */
import { numbersIn } from "./content-writer.ts";
import type { TreeReader } from "./index-reader.ts";
import { EdgeColumns } from "./edge-columns.ts";
import type { IndexedFile, ReferenceGraph } from "./scoped-index.ts";

/** Names with more definers than this are in no edge: `get`, `name`, `toString`. */
export const MOST_DEFINERS = 10;

export function referenceGraph(trees: readonly TreeReader[]): ReferenceGraph {
  const files: IndexedFile[] = [];
  const edges = new EdgeColumns();
  // Names are compared within a tree: that two projects use the same word for something does not connect them.
  for (const tree of trees) {
    addEdges(tree, files.length, edges);
    for (const { file } of tree.files) files.push(file);
  }
  return edges.graph(files);
}

/**
 * Names are counted by rank: the order in which the tree, read from its first file to its last, defines them. Their numbers in the index
 * depend on what was indexed first; ranks depend on the tree alone. Everything is in flat arrays: with maps and objects it took twice as long.
 */
function addEdges(tree: TreeReader, offset: number, edges: EdgeColumns): void {
  const links = linksOf(tree);
  const { names, rankOf, definers } = rankNames(tree, links);
  const ownBy = new Int32Array(names.length + 1).fill(-1);
  const firstName = edges.addNames(names);
  let found = new Float64Array(1_024);
  for (const [from, { defines, uses }] of links.entries()) {
    for (const id of defines) ownBy[rankOf[id] ?? 0] = from;
    if (found.length < uses.length / 2) found = new Float64Array(uses.length);
    let count = 0;
    for (let at = 0; at < uses.length; at += 2) {
      const rank = rankOf[uses[at] ?? 0] ?? 0;
      if (rank === 0 || ownBy[rank] === from || (definers[rank]?.length ?? 0) > MOST_DEFINERS) continue;
      // Rank and count in one number, to be sorted by rank.
      found[count] = rank * 2 ** 32 + (uses[at + 1] ?? 0);
      count += 1;
    }
    for (const both of found.subarray(0, count).sort()) {
      const rank = Math.floor(both / 2 ** 32);
      const targets = definers[rank] ?? [];
      for (const to of targets) {
        edges.add(offset + from, offset + to, firstName + rank - 1, both % 2 ** 32, targets.length);
      }
    }
  }
}

interface Links {
  readonly defines: Uint32Array;
  /** The names of `defines`, as JSON. */
  readonly defined: string;
  /** Name, count, name, count. */
  readonly uses: Uint32Array;
}

/** For each file of the scope. */
function linksOf(tree: TreeReader): Links[] {
  const byContent = new Map<unknown, Links>();
  for (const [content, defines, defined, uses] of tree.all("SELECT content, defines, defined, uses FROM links")) {
    if (tree.filesOf(content).length === 0) continue;
    byContent.set(content, {
      defines: numbersIn(defines),
      defined: typeof defined === "string" ? defined : "[]",
      uses: numbersIn(uses),
    });
  }
  const none = { defines: new Uint32Array(), defined: "[]", uses: new Uint32Array() };
  return tree.files.map(({ content }) => byContent.get(content) ?? none);
}

/** Ranks count from 1; a name that nothing in the scope defines has 0. `definers` has the files by rank. */
function rankNames(tree: TreeReader, links: readonly Links[]) {
  const rankOf = new Uint32Array(Number(tree.all("SELECT COALESCE(MAX(id), 0) FROM names")[0]?.[0]) + 1);
  const names: string[] = [];
  const definers: number[][] = [[]];
  for (const [file, { defines, defined }] of links.entries()) {
    let texts: readonly string[] | undefined;
    for (const [at, id] of defines.entries()) {
      const rank = rankOf[id] ?? 0;
      if (rank === 0) {
        // Written by `ContentWriter`: an array of strings.
        texts ??= JSON.parse(defined) as string[];
        rankOf[id] = names.push(texts[at] ?? "");
        definers.push([file]);
      } else {
        definers[rank]?.push(file);
      }
    }
  }
  return { names, rankOf, definers };
}
