/**
 * Walks from the anchors of the request, step by step: to the users of a definition and the names it uses itself, to
 * the imports of a file and its importers. Files farther away are worth less and are shown with less detail. Without
 * anchors, the walk begins with the best hits of a text search.
 */
import { type DetailLevel, lessDetail } from "../../domain/context/detail-level.ts";
import type { IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import type { StrategyInput } from "../model/context-model.ts";
import { type Anchor, anchorsOf } from "./anchors.ts";
import { CodeGraph } from "./code-graph.ts";
import { definitionCandidate, fileCandidate, type Candidate } from "./fit-fragments.ts";
import { type GraphColumns, keyOf } from "./graph-columns.ts";
import { excerptsOf } from "./excerpts.ts";
import { type QueryTerms, termsOf } from "./query.ts";
import { candidateStrategy } from "./strategy-run.ts";
import { NOT_IMPORTED } from "./symbol-rank.ts";

const MOST_ANCHORS = 16;
const TEXT_HITS = 6;
const BEST_TEXT_HIT = 0.6;
const SURE = 0.5;
/** Files that the walk continues from after one step. */
const MOST_PER_STEP = 120;
const MOST_STEPS = 8;
/** The part of the worth that is left after one more step, by the direction of the step. */
const TO_USER = 0.8;
const TO_USED = 0.65;
const TO_IMPORTER = 0.6;
const TO_IMPORTED = 0.45;
/** A second way to the same file makes it a little more certain. */
const AGAIN = 0.15;

interface ReachedFile {
  readonly file: IndexedFile;
  /** The names by which it was reached; at the beginning, those the walk begins with. */
  readonly names: Set<string>;
  worth: number;
  reason: string;
}

/** @param position of the file in the graph. */
type Reach = (position: number, worth: number, reason: () => string, name?: string) => void;

export const breadthDepthNavigator = candidateStrategy(function* (
  index: ScopedIndex,
  { request, scope }: StrategyInput,
  { signal },
): Generator<Candidate> {
  const anchors = beginning(index, request, termsOf(request));
  yield* anchors.map((anchor) => anchorCandidate(index, anchor, request.depth));
  const steps = Math.min(request.breadth, MOST_STEPS);
  if (steps < 1 || anchors.length === 0) return;

  const graph = CodeGraph.of(index, scope);
  const seen = new Set(anchors.map(({ file }) => keyOf(file)));
  let places = placesOf(anchors);
  for (let distance = 1; distance <= steps; distance += 1) {
    signal.throwIfAborted();
    const next = neighbors(index, graph, places, distance).filter(({ file }) => !seen.has(keyOf(file)));
    for (const place of next) {
      seen.add(keyOf(place.file));
      yield reachedCandidate(index, place, distance, request.depth);
    }
    places = next;
  }
});

function beginning(index: ScopedIndex, request: StrategyInput["request"], terms: QueryTerms): readonly Anchor[] {
  const anchors = anchorsOf(index, request, terms);
  const sure = anchors.filter(({ weight }) => weight >= SURE).slice(0, MOST_ANCHORS);
  if (sure.length > 0) return sure;
  const hits = index.searchText(terms.words, TEXT_HITS).map(({ file }, place): Anchor => {
    const weight = BEST_TEXT_HIT / (1 + place / 4);
    return { file, definition: undefined, weight, reason: "contains most words of the query" };
  });
  return [...anchors.slice(0, MOST_ANCHORS - TEXT_HITS), ...hits].toSorted((a, b) => b.weight - a.weight);
}

function anchorCandidate(
  index: ScopedIndex,
  { file, definition, weight, reason }: Anchor,
  depth: DetailLevel,
): Candidate {
  const worth = { relevance: weight, reason };
  return definition === undefined
    ? fileCandidate(index, file, depth, worth)
    : definitionCandidate(index, definition, depth, worth);
}

/** Anchors by file. From a file as a whole the walk begins with everything in it. */
function placesOf(anchors: readonly Anchor[]): readonly ReachedFile[] {
  const places = new Map<string, ReachedFile>();
  const whole = new Set(anchors.filter(({ definition }) => definition === undefined).map(({ file }) => keyOf(file)));
  for (const { file, definition, weight, reason } of anchors) {
    const place = places.get(keyOf(file)) ?? { file, names: new Set(), worth: weight, reason };
    if (definition !== undefined && !whole.has(keyOf(file))) place.names.add(definition.name);
    places.set(keyOf(file), place);
  }
  return Array.from(places.values());
}

/** One step from all places at once; the best first. */
function neighbors(
  index: ScopedIndex,
  graph: CodeGraph,
  places: readonly ReachedFile[],
  distance: number,
): readonly ReachedFile[] {
  const found = new Map<number, ReachedFile>();
  const reach: Reach = (position, worth, reason, name) => {
    const place = found.get(position);
    if (place === undefined) {
      const file = graph.files[position];
      if (file === undefined) return;
      found.set(position, { file, names: new Set(name === undefined ? [] : [name]), worth, reason: reason() });
      return;
    }
    if (name !== undefined) place.names.add(name);
    if (worth > place.worth) place.reason = reason();
    const [more, less] = worth > place.worth ? [worth, place.worth] : [place.worth, worth];
    place.worth = more + (1 - more) * less * AGAIN;
  };
  for (const place of places) walkFrom(index, graph, place, distance === 1, reach);
  return Array.from(found.values())
    .toSorted((a, b) => b.worth - a.worth || (keyOf(a.file) < keyOf(b.file) ? -1 : 1))
    .slice(0, MOST_PER_STEP);
}

/** From the beginning only along the names it is about; farther on along everything. */
function walkFrom(index: ScopedIndex, graph: CodeGraph, place: ReachedFile, isBeginning: boolean, reach: Reach): void {
  const { file, names, worth } = place;
  const position = graph.positionOf(file);
  if (position === undefined) return;
  const own = isBeginning && names.size > 0 ? names : undefined;
  const used = own === undefined ? undefined : usedBy(index, file, own);
  const { columns } = graph;
  for (const edge of graph.arriving(position)) {
    const name = columns.names[columns.name[edge] ?? 0] ?? "";
    if (own?.has(name) === false) continue;
    const reason = (): string => `uses ${name} of ${file.path}`;
    reach(columns.from[edge] ?? -1, worth * TO_USER * certainty(columns, edge), reason, name);
  }
  for (const edge of graph.leaving(position)) {
    const name = columns.names[columns.name[edge] ?? 0] ?? "";
    if (used?.has(name) === false) continue;
    const reason = (): string => `defines ${name}, which ${file.path} uses`;
    reach(columns.to[edge] ?? -1, worth * TO_USED * certainty(columns, edge), reason, name);
  }
  for (const other of graph.importersOf(position)) reach(other, worth * TO_IMPORTER, () => `imports ${file.path}`);
  for (const other of graph.importsOf(position)) reach(other, worth * TO_IMPORTED, () => `${file.path} imports it`);
}

/** A name that several files define leads to each of them a little less. */
function certainty({ imported, definers }: GraphColumns, edge: number): number {
  return (imported[edge] === 1 ? 1 : NOT_IMPORTED) / Math.sqrt(definers[edge] ?? 1);
}

/** Names that definitions of these names use. */
function usedBy(index: ScopedIndex, file: IndexedFile, names: ReadonlySet<string>): ReadonlySet<string> {
  const definitions = index.definitionsIn(file);
  const used = new Set<string>();
  for (const { name, within } of index.referencesIn(file)) {
    const user = within === undefined ? undefined : definitions[within];
    if (user !== undefined && liesIn(definitions, user, names)) used.add(name);
  }
  return used;
}

/** Near: the very place that uses or defines the name that led there. Farther: an outline. */
function reachedCandidate(
  index: ScopedIndex,
  { file, names, worth, reason }: ReachedFile,
  distance: number,
  depth: DetailLevel,
): Candidate {
  const level = lessDetail(depth)[distance - 1] ?? "listing";
  if (distance === 1 && names.size > 0) {
    const wanted = { names: new Map(Array.from(names, (name) => [name, 1])), words: [], depth: level };
    for (const candidate of excerptsOf(index, file, wanted, { relevance: worth, reason })) return candidate;
  }
  return fileCandidate(index, file, distance === 1 ? "signatures" : level, { relevance: worth, reason });
}

function liesIn(
  definitions: readonly IndexedDefinition[],
  definition: IndexedDefinition,
  names: ReadonlySet<string>,
): boolean {
  if (names.has(definition.name)) return true;
  const outer = definition.container === undefined ? undefined : definitions[definition.container];
  return outer !== undefined && liesIn(definitions, outer, names);
}
