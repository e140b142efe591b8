/**
 * Shows the highest ranked places for the request (symbol-rank.ts): of each file the definitions that carry its rank.
 */
import type { IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import type { StrategyInput } from "../model/context-model.ts";
import { type Anchor, anchorsOf, namesOf } from "./anchors.ts";
import { CodeGraph } from "./code-graph.ts";
import { definitionCandidate, type Candidate } from "./fit-fragments.ts";
import { excerptsOf } from "./excerpts.ts";
import { termsOf } from "./query.ts";
import { candidateStrategy } from "./strategy-run.ts";
import { rankSymbols } from "./symbol-rank.ts";

const TEXT_HITS = 20;
const BEST_TEXT_HIT = 0.3;
const MOST_FILES = 120;
const MOST_NAMES_PER_FILE = 4;
/** Files at this place in the order are worth half of the first. */
const HALF_WORTH = 10;
/** The relevance of the further parts of a file, relative to its best part. */
const FURTHER = 0.6;
/** How much a name is wanted because the file in focus exports it. */
const OFFERED = 0.4;

export const symbolRank = candidateStrategy(function* (
  index: ScopedIndex,
  { request, scope }: StrategyInput,
): Generator<Candidate> {
  const terms = termsOf(request);
  const anchors = anchorsOf(index, request, terms);
  const names = new Map([...namesInFocus(index, anchors), ...namesOf(anchors)]);
  const graph = CodeGraph.of(index, scope);
  const seeds = new Map<number, number>();
  const seed = (file: IndexedFile, weight: number): void => {
    const position = graph.positionOf(file);
    if (position !== undefined) seeds.set(position, (seeds.get(position) ?? 0) + weight);
  };
  for (const { file, weight } of anchors) seed(file, weight);
  for (const [place, { file }] of index.searchText(terms.words, TEXT_HITS).entries()) {
    seed(file, BEST_TEXT_HIT / (1 + place / 4));
  }
  const mentioned = new Set([...terms.identifiers, ...names.keys()]);
  const rank = rankSymbols(graph.columns, { files: seeds, names: mentioned });

  const order = Array.from(rank.files.keys())
    .filter((file) => (rank.files[file] ?? 0) > 0)
    .toSorted((a, b) => (rank.files[b] ?? 0) - (rank.files[a] ?? 0) || a - b)
    .slice(0, MOST_FILES);
  const rest: Candidate[] = [];
  for (const [place, position] of order.entries()) {
    const file = graph.files[position];
    if (file === undefined) continue;
    const relevance = 1 / (1 + place / HALF_WORTH);
    const reason = `place ${place + 1} in the rank of files for this request`;
    const wanted = { names, words: terms.words, depth: request.depth };
    const [first, ...others] = excerptsOf(index, file, wanted, { relevance, reason });
    if (first !== undefined) yield first;
    const top = new Set(rank.namesAlong(graph.arriving(position)).slice(0, MOST_NAMES_PER_FILE));
    rest.push(
      ...others,
      ...index
        .definitionsIn(file)
        .filter(({ name }) => top.has(name))
        .map((definition) =>
          definitionCandidate(index, definition, "signatures_with_docs", {
            relevance: relevance * FURTHER,
            reason: `others refer to ${definition.name}; ${reason}`,
          }),
        ),
    );
  }
  // Every file once, before any file for the second time.
  yield* rest;
});

/** A request for a whole file means the names it exports. */
function namesInFocus(index: ScopedIndex, anchors: readonly Anchor[]): ReadonlyMap<string, number> {
  const whole = anchors.filter(({ definition, weight }) => definition === undefined && weight === 1);
  const offered = whole.flatMap(({ file }) => index.definitionsIn(file).filter(({ exported }) => exported));
  return new Map(offered.map(({ name }) => [name, OFFERED]));
}
