/**
 * Which files use names that other files define. A file that defines a name itself means its own; a name that very many files define says
 * nothing about any of them, and would make files × files edges, so it is left out.
 */
import { numbersIn } from "./content-writer.ts";
import { textOf, type TreeReader } from "./index-reader.ts";
import type { GraphEdge, IndexedFile, ReferenceGraph } from "./scoped-index.ts";

/** Names with more definers than this are in no edge: `get`, `name`, `toString`. */
export const MOST_DEFINERS = 10;

interface Links {
  readonly from: number;
  readonly defined: ReadonlySet<number>;
  readonly uses: Uint32Array;
}

export function referenceGraph(trees: readonly TreeReader[]): ReferenceGraph {
  const files: IndexedFile[] = [];
  const edges: GraphEdge[] = [];
  for (const tree of trees) {
    edgesOf(tree, files.length, edges);
    for (const { file } of tree.files) files.push(file);
  }
  return { files, edges };
}

/** Names are compared within a tree: that two projects use the same word for something does not connect them. */
function edgesOf(tree: TreeReader, offset: number, edges: GraphEdge[]): void {
  const linksByContent = new Map(
    tree.all("SELECT content, defines, defined, uses FROM links").map((row) => [Number(row[0]), row]),
  );
  const definers = new Map<number, { readonly name: string; readonly files: number[]; readonly rank: number }>();
  const links: Links[] = [];
  for (const [at, file] of tree.files.entries()) {
    const [, defines, defined, uses] = linksByContent.get(file.content) ?? [];
    const ids = numbersIn(defines);
    const names = textOf(defined).split("\n");
    for (const [position, id] of ids.entries()) {
      const known = definers.get(id);
      if (known === undefined) definers.set(id, { name: names[position] ?? "", files: [at], rank: definers.size });
      else known.files.push(at);
    }
    links.push({ from: at, defined: new Set(ids), uses: numbersIn(uses) });
  }
  for (const { from, defined, uses } of links) {
    const found: { rank: number; name: string; files: readonly number[]; count: number }[] = [];
    for (let at = 0; at < uses.length; at += 2) {
      const id = uses[at] ?? 0;
      const definer = definers.get(id);
      if (definer === undefined || definer.files.length > MOST_DEFINERS || defined.has(id)) continue;
      found.push({ rank: definer.rank, name: definer.name, files: definer.files, count: uses[at + 1] ?? 0 });
    }
    // Numbers of names depend on what was indexed first; the order in which the tree defines them does not.
    found.sort((a, b) => a.rank - b.rank);
    for (const { name, files, count } of found) {
      for (const to of files) {
        edges.push({ from: offset + from, to: offset + to, name, count, definers: files.length });
      }
    }
  }
}
