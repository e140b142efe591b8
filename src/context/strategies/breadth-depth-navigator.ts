/**
 * Walks from where the request points, step by step: to who uses a definition and what it uses itself, to what a file imports and who
 * imports it. What lies farther is worth less and is shown with less detail. Where nothing is pointed at, the best hits of a text search
 * are the beginning.
 */
import { lessDetail, type DetailLevel } from "../../code-index/detail-level.ts";
import type { IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/scoped-index.ts";
import type { StrategyInput } from "../model.ts";
import { type Anchor, anchorsOf } from "./anchors.ts";
import { definitionFind, fileFind, type Find } from "./finds.ts";
import { partsOf } from "./parts.ts";
import { type QueryTerms, termsOf } from "./query.ts";
import { finding } from "./strategy-run.ts";

const MOST_ANCHORS = 16;
const TEXT_HITS = 6;
const SURE = 0.5;
/** Files looked at on one step of the walk. */
const MOST_PER_STEP = 120;
/** A name defined in more places leads nowhere in particular. */
const MOST_DEFINERS = 3;
const MOST_BREADTH = 8;
/** What one more step leaves of the worth. */
const FALL = 0.7;
const FROM_IMPORT = 0.8;

interface Place {
  readonly file: IndexedFile;
  /** Names that led here or that the walk goes on from. */
  readonly names: Set<string>;
  worth: number;
  reason: string;
}

export const breadthDepthNavigator = finding(function* (
  index: ScopedIndex,
  { request }: StrategyInput,
  { signal },
): Generator<Find> {
  const terms = termsOf(request);
  const anchors = beginning(index, request, terms);
  yield* anchors.map((anchor) => anchorFind(index, anchor, request.depth));

  const seen = new Set(anchors.map(({ file }) => keyOf(file)));
  let step: readonly Place[] = placesOf(anchors);
  for (let distance = 1; distance <= Math.min(request.breadth, MOST_BREADTH); distance += 1) {
    const next = neighbours(index, step, signal).filter(({ file }) => !seen.has(keyOf(file)));
    for (const { file } of next) seen.add(keyOf(file));
    yield* next.flatMap((place) => Array.from(placeFinds(index, place, distance, request.depth)));
    step = next;
  }
});

function beginning(index: ScopedIndex, request: StrategyInput["request"], terms: QueryTerms): readonly Anchor[] {
  const anchors = anchorsOf(index, request, terms);
  const sure = anchors.filter(({ weight }) => weight >= SURE).slice(0, MOST_ANCHORS);
  if (sure.length > 0) return sure;
  const hits = index.searchText(terms.words, TEXT_HITS).map(({ file }, place): Anchor => {
    return { file, definition: undefined, weight: 0.6 / (1 + place / 4), reason: "holds most words of the query" };
  });
  return [...anchors.slice(0, MOST_ANCHORS - TEXT_HITS), ...hits].toSorted((a, b) => b.weight - a.weight);
}

function anchorFind(index: ScopedIndex, { file, definition, weight, reason }: Anchor, depth: DetailLevel): Find {
  const worth = { relevance: weight, reason };
  return definition === undefined
    ? fileFind(index, file, depth, worth)
    : definitionFind(index, definition, depth, worth);
}

/** Anchors by file. From a file as a whole the walk goes on from everything at its top. */
function placesOf(anchors: readonly Anchor[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const { file, definition, weight, reason } of anchors) {
    const place = places.get(keyOf(file)) ?? { file, names: new Set(), worth: weight, reason };
    if (definition !== undefined) place.names.add(definition.name);
    places.set(keyOf(file), place);
  }
  return Array.from(places.values());
}

/** One step from all places at once; the best first. */
function neighbours(index: ScopedIndex, places: readonly Place[], signal: AbortSignal): readonly Place[] {
  const found = new Map<string, Place>();
  const reach = (file: IndexedFile, worth: number, reason: string, name?: string): void => {
    const place = found.get(keyOf(file));
    if (place === undefined) {
      found.set(keyOf(file), { file, names: new Set(name === undefined ? [] : [name]), worth, reason });
      return;
    }
    if (name !== undefined) place.names.add(name);
    // Reached in several ways it is a little more certain than in the best of them.
    const [more, less] = worth > place.worth ? [worth, place.worth] : [place.worth, worth];
    if (worth > place.worth) place.reason = reason;
    place.worth = more + (1 - more) * less * 0.2;
  };
  for (const place of places) {
    signal.throwIfAborted();
    walkFrom(index, place, reach);
  }
  return Array.from(found.values())
    .toSorted((a, b) => b.worth - a.worth || (keyOf(a.file) < keyOf(b.file) ? -1 : 1))
    .slice(0, MOST_PER_STEP);
}

function walkFrom(
  index: ScopedIndex,
  { file, names, worth }: Place,
  reach: (file: IndexedFile, worth: number, reason: string, name?: string) => void,
): void {
  const definitions = index.definitionsIn(file);
  const starts = names.size > 0 ? names : new Set(topOf(definitions));
  for (const name of starts) {
    const definers = index.definitionsNamed(name).length;
    if (definers > MOST_DEFINERS) continue;
    for (const use of index.referencesTo(name)) reach(use.file, worth * FALL, `uses ${name} of ${file.path}`, name);
  }
  for (const use of index.referencesIn(file)) {
    const within = use.within === undefined ? undefined : definitions[use.within];
    if (names.size > 0 && (within === undefined || !liesIn(definitions, within, names))) continue;
    const definers = index.definitionsNamed(use.name);
    if (definers.length > MOST_DEFINERS) continue;
    for (const { file: definer } of definers) {
      reach(definer, worth * FALL * FROM_IMPORT, `defines ${use.name}, which ${file.path} uses`, use.name);
    }
  }
  for (const other of index.importersOf(file)) reach(other, worth * FALL * FROM_IMPORT, `imports ${file.path}`);
  for (const other of index.importsOf(file)) {
    reach(other, worth * FALL * FROM_IMPORT * FROM_IMPORT, `${file.path} imports it`);
  }
}

/** Near: the very places that use or define what led there. Farther: an outline. */
function* placeFinds(index: ScopedIndex, place: Place, distance: number, depth: DetailLevel): Generator<Find> {
  const { file, names, worth, reason } = place;
  const shown = levelAt(distance, depth);
  if (distance > 1 || names.size === 0) {
    yield fileFind(index, file, shown === "full" ? "signatures" : shown, { relevance: worth, reason });
    return;
  }
  const [first] = partsOf(index, file, { names, words: [], depth: shown }, { relevance: worth, reason });
  if (first !== undefined) yield first;
}

function levelAt(distance: number, depth: DetailLevel): DetailLevel {
  return lessDetail(depth)[distance - 1] ?? "listing";
}

function topOf(definitions: readonly IndexedDefinition[]): readonly string[] {
  return definitions
    .filter(({ container, kind }) => container === undefined && kind !== "heading")
    .map(({ name }) => name);
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

function keyOf({ resource, path }: IndexedFile): string {
  return `${resource}:${path}`;
}
