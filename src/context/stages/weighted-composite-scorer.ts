/**
 * The score of a fragment is the weighted sum of four parts, each from 0 to 1:
 *
 * - relevance: the opinion of the strategies that found it, half by their number and half by the rank they gave it:
 *   numbers of different strategies do not compare, and a strategy with low numbers must not be drowned by one with
 *   high numbers;
 * - hierarchy: how many of the selected strategies agree on it and, where the question has a focus, how near to that it
 *   lies;
 * - quality: of the best strategy that found it;
 * - recency: whether this plan changed its file, the latest change first.
 */
import { dirname } from "node:path/posix";
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import type { FoundFragment, PlanKnowledge, ScoredFragment, SelectedStrategy } from "../model/context-model.ts";
import type { FragmentScorer } from "../model/stage-interfaces.ts";

export interface ScoreWeights {
  readonly relevance: number;
  readonly hierarchy: number;
  readonly quality: number;
  readonly recency: number;
}

const DEFAULT_WEIGHTS: ScoreWeights = { relevance: 0.4, hierarchy: 0.3, quality: 0.2, recency: 0.1 };

const HALF_PLACE = 10;

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
    return fragments.map((fragment) => {
      const agreement =
        strategies.length < 2 ? 0 : Math.min(1, Math.max(0, fragment.strategies.length - 1) / (strategies.length - 1));
      const breakdown = {
        relevance: (fragment.relevance + placed(fragment)) / 2,
        hierarchy: focus.length === 0 ? agreement : (agreement + closeness(fragment, focus)) / 2,
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

/** 1 for the first fragment of some strategy, ½ for its eleventh. */
function placed({ ranks }: FoundFragment): number {
  const best = Math.min(...Object.values(ranks));
  return Number.isFinite(best) ? HALF_PLACE / (HALF_PLACE + best) : 0;
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
