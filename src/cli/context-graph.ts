import type { IndexScope } from "../code-index/index-scope.ts";
import { openScopedIndex } from "../code-index/open-scoped-index.ts";
import type { IndexedFile, ScopedIndex } from "../code-index/scoped-index.ts";
import { compareDetail } from "../code-index/detail-level.ts";
import type { AssembledContext, ContextRequest, ScoredFragment } from "../context/model.ts";
import { inFocus } from "../context/strategies/anchors.ts";
import { CodeGraph } from "../context/strategies/code-graph.ts";
import { depthNumber } from "./context-request.ts";
import { levelText, number } from "./context-view.ts";
import { toned, type Cell, type Element } from "./view.ts";

/** The surroundings of what the context is centred on: what it contains, imports and is imported by, and how much of each went in. */
export interface ContextGraph {
  readonly root: string;
  readonly shown: Shown | undefined;
  readonly edges: readonly {
    readonly relation: Relation;
    readonly target: string;
    readonly shown: Shown | undefined;
  }[];
}

type Relation = "contains" | "imports" | "imported_by";

/** What went in of one thing. */
interface Shown {
  readonly level: ScoredFragment["level"];
  readonly tokens: number;
}

const MOST_EDGES = 200;
const ROWS = 12;

/** Undefined when nothing went in and nothing is in focus. */
export function contextGraph(
  scope: IndexScope,
  request: ContextRequest,
  { fragments }: AssembledContext,
): ContextGraph | undefined {
  using index = openScopedIndex(scope);
  const root = rootOf(index, request, fragments);
  if (root === undefined) return undefined;
  // What the strategies walked on, which is at hand; to follow the imports of all files would take longer than all the rest.
  const graph = CodeGraph.of(index, scope);
  const position = graph.positionOf(root) ?? -1;
  const ofFile = (file: IndexedFile): Shown | undefined =>
    together(fragments.filter(({ provenance }) => isOf(file, provenance)));
  const contained = index
    .definitionsIn(root)
    .filter(({ container }) => container === undefined)
    .map(({ name, startLine }) => ({
      relation: "contains" as const,
      target: `${fileName(root)}#${name}`,
      shown: together(fragments.filter(({ entity }) => entity === `${fileName(root)}#${name}@${startLine}`)),
    }));
  const related = (relation: Relation, positions: Int32Array): ContextGraph["edges"] =>
    Array.from(positions, (at) => graph.files[at])
      .filter((file) => file !== undefined)
      .map((file) => ({ relation, target: fileName(file), shown: ofFile(file) }));
  const edges = [
    ...related("imports", graph.importsOf(position)),
    ...related("imported_by", graph.importersOf(position)),
    ...contained,
  ];
  return { root: fileName(root), shown: ofFile(root), edges: edges.slice(0, MOST_EDGES) };
}

function rootOf(
  index: ScopedIndex,
  request: ContextRequest,
  fragments: readonly ScoredFragment[],
): IndexedFile | undefined {
  const [anchor] = request.focus.flatMap((entry) => inFocus(index, entry));
  if (anchor !== undefined) return anchor.file;
  const [best] = fragments.filter(({ provenance }) => provenance !== undefined).toSorted((a, b) => b.score - a.score);
  return best?.provenance === undefined ? undefined : index.file(best.provenance.resource, best.provenance.path);
}

function isOf(file: IndexedFile, provenance: ScoredFragment["provenance"]): boolean {
  return provenance?.resource === file.resource && provenance.path === file.path;
}

function together(fragments: readonly ScoredFragment[]): Shown | undefined {
  const [first] = fragments.toSorted((a, b) => compareDetail(b.level, a.level));
  return first && { level: first.level, tokens: fragments.reduce((sum, { tokens }) => sum + tokens, 0) };
}

function fileName({ resource, path }: IndexedFile): string {
  return `${resource}:${path}`;
}

export function graphData(graph: ContextGraph | undefined): Record<string, unknown> | null {
  if (graph === undefined) return null;
  const depth = (shown: Shown | undefined): number | null => (shown === undefined ? null : depthNumber(shown.level));
  return {
    root: graph.root,
    root_depth: depth(graph.shown),
    root_depth_name: graph.shown?.level ?? null,
    root_tokens: graph.shown?.tokens ?? 0,
    edges: graph.edges.map(({ relation, target, shown }) => ({
      relation,
      target,
      depth: depth(shown),
      depth_name: shown?.level ?? null,
      tokens: shown?.tokens ?? 0,
    })),
  };
}

/** What went in first; the rest as far as there is room. */
export function graphTable(graph: ContextGraph | undefined, nameOf: (entity: string) => string): Element[] {
  if (graph === undefined) return [];
  const edges = graph.edges.toSorted((a, b) => Number(a.shown === undefined) - Number(b.shown === undefined));
  const rows = edges.slice(0, ROWS).map(({ relation, target, shown }): Cell[] => {
    const cells = [relation.replaceAll("_", " "), nameOf(target), shown === undefined ? "-" : levelText(shown.level)];
    return [...cells, shown === undefined ? "-" : number(shown.tokens)].map((text) =>
      shown === undefined ? toned(text, "dim") : text,
    );
  });
  const some = rows.length < edges.length ? `: the first ${rows.length} of ${edges.length}` : "";
  return [
    {
      kind: "table",
      title: `Around ${nameOf(graph.root)}${some}`,
      columns: [{ keep: "Relation" }, "What", { keep: "Depth" }, { keep: "Tokens" }],
      rows,
      empty: "",
    },
  ];
}
