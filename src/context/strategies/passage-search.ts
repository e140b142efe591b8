/**
 * Shows the definitions that the request names, whole, and then the passages of about forty lines that fit its words
 * best, in full. Files are ranked by their best passage; the worth of a passage falls with the place of its file and
 * with its distance from the best passage of the file. So a few files are shown in large passages before many are shown
 * in crumbs.
 */
import type { PassageHit, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { StrategyInput } from "../model/context-model.ts";
import { anchorsOf } from "./anchors.ts";
import { definitionCandidate, linesCandidate, type Candidate } from "./fit-fragments.ts";
import { keyOf } from "./graph-columns.ts";
import { type QueryTerms, termsOf } from "./query.ts";
import { candidateStrategy } from "./strategy-run.ts";
import { pairingName } from "./test-pairs.ts";

/** Files at this place in the order are worth half of the first. */
const HALF_WORTH = 20;
/** Files whose tests, or whose tested files, are worth something because of them. */
const MOST_PAIRED = 15;
/** The score of a test whose tested file is found by words, or the other way round, relative to the found file. */
const PAIRED = 0.6;
/** Of definitions that are shown whole because the request names them: how many, and of how many lines. */
const MOST_NAMED = 6;
const LONGEST_BODY = 150;

export const passageSearch = candidateStrategy(function* (
  index: ScopedIndex,
  { request }: StrategyInput,
): Generator<Candidate> {
  const terms = termsOf(request);
  yield* namedBodies(index, request, terms);
  const passages = rankedPassages(index.searchPassages(terms.words));
  for (const { file, startLine, endLine, worth, reason } of passages) {
    yield linesCandidate(index, file, startLine, endLine, { relevance: worth, reason });
  }
});

/** The definitions that the request names for certain, whole. */
function namedBodies(index: ScopedIndex, request: ContextQuestion, terms: QueryTerms): readonly Candidate[] {
  return anchorsOf(index, request, terms)
    .flatMap(({ definition, weight, reason }) => (definition === undefined || weight < 1 ? [] : { definition, reason }))
    .filter(({ definition }) => definition.endLine - definition.startLine < LONGEST_BODY)
    .slice(0, MOST_NAMED)
    .map(({ definition, reason }) => definitionCandidate(index, definition, request.depth, { relevance: 1, reason }));
}

interface WorthyPassage {
  readonly file: PassageHit["file"];
  readonly startLine: number;
  readonly endLine: number;
  /** From 0 to 1. */
  readonly worth: number;
  readonly reason: string;
}

/** The best first. */
function rankedPassages(hits: readonly PassageHit[]): readonly WorthyPassage[] {
  const ranked = byScore(hits.map((hit) => ({ hit, score: bestOf(hit), reason: "its words are those of the query" })));
  const passages = byScore(withPairs(ranked)).flatMap(({ hit, reason }, place) => {
    const best = bestOf(hit);
    const worth = HALF_WORTH / (HALF_WORTH + place);
    return hit.passages.map(({ startLine, endLine, score }) => ({
      file: hit.file,
      startLine,
      endLine,
      worth: worth * Math.sqrt(best === 0 ? 1 : score / best),
      reason,
    }));
  });
  return passages.toSorted((a, b) => b.worth - a.worth);
}

interface RankedHit {
  readonly hit: PassageHit;
  readonly score: number;
  readonly reason: string;
}

/** A change of a file is mostly a change of its tests too; their words need not be those of the query. */
function withPairs(ranked: readonly RankedHit[]): readonly RankedHit[] {
  const leaders = new Map<string, RankedHit>();
  for (const found of ranked.slice(0, MOST_PAIRED)) {
    const name = pairingName(found.hit.file.path);
    if (!leaders.has(name)) leaders.set(name, found);
  }
  return ranked.map((found) => {
    const leader = leaders.get(pairingName(found.hit.file.path));
    if (leader === undefined || leader.score * PAIRED <= found.score) return found;
    return { ...found, score: leader.score * PAIRED, reason: `belongs to ${leader.hit.file.path}` };
  });
}

function bestOf({ passages }: PassageHit): number {
  return Math.max(0, ...passages.map(({ score }) => score));
}

function byScore(hits: readonly RankedHit[]): readonly RankedHit[] {
  return hits.toSorted((a, b) => b.score - a.score || (keyOf(a.hit.file) < keyOf(b.hit.file) ? -1 : 1));
}
