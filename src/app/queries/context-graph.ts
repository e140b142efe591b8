import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import type { IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { compareDetail, DETAIL_LEVELS } from "../../domain/context/detail-level.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { AssembledContext, ScoredFragment } from "../../context/model/context-model.ts";
import { inFocus } from "../../context/strategies/anchors.ts";
import { CodeGraph } from "../../context/strategies/code-graph.ts";
import * as z from "zod";
import { depthNumber } from "./context-facts.ts";

/**
 * The surroundings of the thing that the context is centered on: what it contains, imports and is imported by, and how
 * much of each went in.
 */
interface ContextGraph {
  readonly root: string;
  readonly shown: Shown | undefined;
  readonly edges: readonly {
    readonly relation: Relation;
    readonly target: string;
    readonly shown: Shown | undefined;
  }[];
}

type Relation = "contains" | "imports" | "imported_by";

/** The fragments of one file that went into the context. */
interface Shown {
  readonly level: ScoredFragment["level"];
  readonly tokens: number;
}

const MOST_EDGES = 200;

/** Undefined when nothing went in and nothing is in focus. */
function contextGraph(
  scope: IndexScope,
  request: ContextQuestion,
  { fragments }: AssembledContext,
): ContextGraph | undefined {
  using index = openScopedIndex(scope);
  const root = rootOf(index, request, fragments);
  if (root === undefined) return undefined;
  // The edges that the strategies walked, which are already in memory; following the imports of all files would take
  // longer than everything else.
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
  request: ContextQuestion,
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

export const GraphFacts = z.strictObject({
  root: z.string(),
  rootDepth: z.int().nullable(),
  rootDepthName: z.enum(DETAIL_LEVELS).nullable(),
  rootTokens: z.int(),
  edges: z.array(
    z.strictObject({
      relation: z.enum(["contains", "imports", "imported_by"]),
      target: z.string(),
      depth: z.int().nullable(),
      depthName: z.enum(DETAIL_LEVELS).nullable(),
      tokens: z.int(),
    }),
  ),
});

/** Null when nothing went in and nothing is in focus. */
export function graphFacts(
  scope: IndexScope,
  question: ContextQuestion,
  assembled: AssembledContext,
): z.output<typeof GraphFacts> | null {
  const graph = contextGraph(scope, question, assembled);
  if (graph === undefined) return null;
  const depth = (shown: Shown | undefined): number | null => (shown === undefined ? null : depthNumber(shown.level));
  return {
    root: graph.root,
    rootDepth: depth(graph.shown),
    rootDepthName: graph.shown?.level ?? null,
    rootTokens: graph.shown?.tokens ?? 0,
    edges: graph.edges.map(({ relation, target, shown }) => ({
      relation,
      target,
      depth: depth(shown),
      depthName: shown?.level ?? null,
      tokens: shown?.tokens ?? 0,
    })),
  };
}
