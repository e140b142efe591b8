/**
 * Finds by words alone: in texts, in names of definitions, in paths. It knows nothing of the structure of code, and so
 * always works, also when every other strategy fails.
 *
 * The three searches score in ways that cannot be compared, so only the places in their lists count (reciprocal ranks).
 */
import type { IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { stem } from "../../code-index/words/words.ts";
import type { StrategyInput } from "../model/context-model.ts";
import { anchorsOf, namesOf } from "./anchors.ts";
import type { Candidate } from "./fit-fragments.ts";
import { excerptsOf } from "./excerpts.ts";
import { type QueryTerms, termsOf, wordsIn } from "./query.ts";
import { candidateStrategy } from "./strategy-run.ts";

const MOST_FILES = 80;
const MOST_BY_NAME = 80;
/** Softens the difference between the first places of a list. */
const RANK_OFFSET = 10;

interface ScoredFile {
  readonly file: IndexedFile;
  score: number;
  readonly why: string[];
}

export const simpleKeyword = candidateStrategy(function* (
  index: ScopedIndex,
  { request }: StrategyInput,
): Generator<Candidate> {
  const terms = termsOf(request);
  const anchors = anchorsOf(index, { ...request, focus: [] }, terms);
  const names = namesOf(anchors);
  const files = filesFor(index, terms, anchors);
  const best = files[0]?.score ?? 1;
  const rest: Candidate[] = [];
  for (const { file, score, why } of files) {
    const worth = { relevance: score / best, reason: why.join(", ") };
    const [first, ...others] = excerptsOf(index, file, { names, words: terms.words, depth: request.depth }, worth);
    rest.push(...others);
    if (first !== undefined) yield first;
  }
  // Every file once, before any file for the second time.
  yield* rest;
});

/** The best first. */
function filesFor(
  index: ScopedIndex,
  terms: QueryTerms,
  anchors: readonly { readonly file: IndexedFile; readonly reason: string; readonly weight: number }[],
): readonly ScoredFile[] {
  const scored = new Map<string, ScoredFile>();
  const add = (file: IndexedFile, score: number, why: string): void => {
    const key = `${file.resource}:${file.path}`;
    const known = scored.get(key) ?? { file, score: 0, why: [] };
    known.score += score;
    if (!known.why.includes(why) && known.why.length < 3) known.why.push(why);
    scored.set(key, known);
  };
  for (const { file, reason, weight } of anchors) add(file, (2 * weight) / RANK_OFFSET, reason);
  for (const [place, { file }] of index.searchText(terms.words, MOST_FILES).entries()) {
    add(file, 1 / (RANK_OFFSET + place), "contains words of the query");
  }
  for (const [place, { file, name }] of byName(index, terms).entries()) {
    add(file, 1 / (RANK_OFFSET + place), `defines ${name}`);
  }
  for (const [place, file] of byPath(index, terms).entries()) {
    add(file, 1 / (RANK_OFFSET + place), "its path contains words of the query");
  }
  return Array.from(scored.values())
    .toSorted((a, b) => b.score - a.score || compareFiles(a.file, b.file))
    .slice(0, MOST_FILES);
}

/** One definition for each file: the one whose name has most of the words, and few others. */
function byName(index: ScopedIndex, terms: QueryTerms): readonly { file: IndexedFile; name: string; share: number }[] {
  const said = new Set(terms.words.map((word) => stem(word)));
  const best = new Map<string, { file: IndexedFile; name: string; share: number }>();
  for (const { file, name } of index.searchDefinitions(terms.words, MOST_BY_NAME)) {
    const own = wordsIn(name).map((word) => stem(word));
    const hits = own.filter((word) => said.has(word)).length;
    const share = (hits * hits) / Math.max(1, own.length);
    const key = `${file.resource}:${file.path}`;
    if (share > (best.get(key)?.share ?? 0)) best.set(key, { file, name, share });
  }
  return Array.from(best.values())
    .toSorted((a, b) => b.share - a.share || compareFiles(a.file, b.file))
    .slice(0, MOST_FILES);
}

function byPath(index: ScopedIndex, terms: QueryTerms): readonly IndexedFile[] {
  const hits = new Map<string, { file: IndexedFile; words: number }>();
  for (const word of terms.words.filter(({ length }) => length > 3)) {
    for (const file of index.searchPaths(stem(word), MOST_BY_NAME)) {
      const key = `${file.resource}:${file.path}`;
      hits.set(key, { file, words: (hits.get(key)?.words ?? 0) + 1 });
    }
  }
  return Array.from(hits.values())
    .toSorted((a, b) => b.words - a.words || a.file.path.length - b.file.path.length || compareFiles(a.file, b.file))
    .slice(0, MOST_FILES)
    .map(({ file }) => file);
}

function compareFiles(a: IndexedFile, b: IndexedFile): number {
  const [one, other] = [`${a.resource}:${a.path}`, `${b.resource}:${b.path}`];
  return one < other ? -1 : one > other ? 1 : 0;
}
