/**
 * The score of a fragment is the weighted sum of four parts, each from 0 to 1:
 *
 * - relevance: that of its file, and of the fragment among those of the file. Numbers of different strategies do not
 *   compare, so files are ranked by the places that the strategies give them (reciprocal ranks, added up): a file that
 *   several strategies find early is better than one that a single strategy finds first;
 * - hierarchy: where the question has a focus, how near to that it lies;
 * - quality: of the best strategy that found it;
 * - recency: whether this plan changed its file, the latest change first.
 */
import { dirname } from "node:path/posix";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { FoundFragment, PlanKnowledge, ScoredFragment, SelectedStrategy } from "../model/context-model.ts";
import { placeOf } from "../model/compare.ts";
import type { FragmentScorer } from "../model/stage-interfaces.ts";

export interface ScoreWeights {
  readonly relevance: number;
  readonly hierarchy: number;
  readonly quality: number;
  readonly recency: number;
}

const DEFAULT_WEIGHTS: ScoreWeights = { relevance: 0.7, hierarchy: 0.15, quality: 0.05, recency: 0.1 };

/** Softens the difference between the first places of a strategy. */
const RANK_OFFSET = 20;

export class WeightedCompositeScorer implements FragmentScorer {
  readonly name = "WeightedCompositeScorer";
  readonly #weights: ScoreWeights;

  constructor(weights: ScoreWeights = DEFAULT_WEIGHTS) {
    this.#weights = weights;
  }

  score(
    fragments: readonly FoundFragment[],
    question: ContextQuestion,
    strategies: readonly SelectedStrategy[],
    plan: PlanKnowledge | undefined,
  ): readonly ScoredFragment[] {
    const quality = new Map(strategies.map((strategy) => [strategy.name, strategy.quality]));
    const focus = question.focus.map((place) => place.replace(/#.*$/, ""));
    const changed = new Map(plan?.changedPaths.map((path, index, all) => [path, 1 - index / all.length]));
    const trust = new Map(strategies.map((strategy) => [strategy.name, strategy.quality * strategy.confidence]));
    const worth = fileWorth(fragments, trust);
    const share = shareOfFile(fragments);
    return fragments.map((fragment) => {
      const breakdown = {
        relevance: (worth.get(placeOf(fragment)) ?? 0) * Math.sqrt(share(fragment)),
        hierarchy: focus.length === 0 ? 0 : closeness(fragment, focus),
        quality: Math.max(0, ...fragment.strategies.map((name) => quality.get(name) ?? 0)),
        recency: changed.get(aliasPath(fragment)) ?? 0,
      };
      const score =
        breakdown.relevance * this.#weights.relevance +
        breakdown.hierarchy * this.#weights.hierarchy +
        breakdown.quality * this.#weights.quality +
        breakdown.recency * this.#weights.recency;
      return { ...fragment, score, breakdown };
    });
  }
}

/**
 * By file, 1 for the best: the places that the strategies gave it, added up.
 *
 * @param trust by strategy: how much its opinion counts.
 */
function fileWorth(
  fragments: readonly FoundFragment[],
  trust: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const worth = new Map<string, number>();
  const names = new Set(fragments.flatMap(({ ranks }) => Object.keys(ranks)));
  for (const name of Array.from(names).toSorted()) {
    const own = fragments
      .filter(({ ranks }) => ranks[name] !== undefined)
      .toSorted((a, b) => (a.ranks[name] ?? 0) - (b.ranks[name] ?? 0));
    const files = new Set(own.map(placeOf));
    for (const [place, file] of Array.from(files).entries()) {
      worth.set(file, (worth.get(file) ?? 0) + (trust.get(name) ?? 0) / (RANK_OFFSET + place));
    }
  }
  const best = Math.max(...worth.values());
  return new Map(Array.from(worth, ([file, value]) => [file, best > 0 ? value / best : 0]));
}

/** How relevant a fragment is among those of its file that the same strategy found: 1 for the best of them. */
function shareOfFile(fragments: readonly FoundFragment[]): (fragment: FoundFragment) => number {
  const keyOf = (fragment: FoundFragment): string => `${fragment.strategies[0]}\0${placeOf(fragment)}`;
  const best = new Map<string, number>();
  for (const fragment of fragments) {
    best.set(keyOf(fragment), Math.max(best.get(keyOf(fragment)) ?? 0, fragment.relevance));
  }
  return (fragment) => {
    const most = best.get(keyOf(fragment)) ?? 0;
    return most > 0 ? fragment.relevance / most : 1;
  };
}

/** 1 for a file of the focus, ½ beside one, ¼ below its directory, else 0. */
function closeness(fragment: FoundFragment, focus: readonly string[]): number {
  const { provenance } = fragment;
  if (provenance === undefined) return 0;
  const { resource, path } = provenance;
  return Math.max(
    ...focus.map((place) => {
      const focused = place.startsWith(`${resource}:`) ? place.slice(resource.length + 1) : place;
      if (focused === path) return 1;
      const directory = dirname(focused);
      if (directory === dirname(path)) return 0.5;
      return directory !== "." && path.startsWith(`${directory}/`) ? 0.25 : 0;
    }),
  );
}

function aliasPath({ provenance }: FoundFragment): string {
  return provenance === undefined ? "" : `${provenance.resource}:${provenance.path}`;
}
