/**
 * Stage 7: from the ranked fragments to those that are shown. Pieces that follow one another need one heading; the
 * tokens that this saves are packed again, as long as the result is within the budget.
 */
import type { ScopedIndex } from "../../code-index/model/scoped-index.ts";
import { cooperativeMap } from "../../platform/cooperative-map.ts";
import type { Exclusion, ScoredFragment } from "../model/context-model.ts";
import { renderFragment } from "../model/render-context.ts";
import type { PackingHelp } from "../model/stage-interfaces.ts";
import { packingProblem } from "../stages/stage-contracts.ts";
import type { StageRunner } from "../stages/stage-runner.ts";
import { joinPieces } from "./join-pieces.ts";
import { lessDetailedFragment } from "./less-detail.ts";
import type { SecretMasking } from "./secret-masking.ts";

/** How often saved tokens are packed again, and how many of them are worth it. */
const MOST_REPACKINGS = 6;
const LEAST_SAVED = 40;

export interface PackingState {
  readonly stages: StageRunner;
  /** The tokens for fragments: all but those of the preamble. */
  readonly packable: number;
  readonly count: (text: string) => number;
  readonly cost: (fragment: ScoredFragment) => number;
  readonly masking: SecretMasking;
  readonly opened: { readonly index: ScopedIndex };
  /** Every stage adds the fragments that it left out. */
  readonly excluded: Exclusion[];
}

export async function packFragments(
  ranked: readonly ScoredFragment[],
  { stages, packable, count, cost, masking, opened, excluded }: PackingState,
): Promise<readonly ScoredFragment[]> {
  await cooperativeMap(ranked, cost);
  const renderings: ScoredFragment[] = [];
  const help: PackingHelp = {
    cost,
    lessDetailed: (fragment, level) => {
      const lessDetailed = lessDetailedFragment(fragment, level, opened.index, { count, masking });
      if (lessDetailed !== undefined) renderings.push(lessDetailed);
      return lessDetailed;
    },
  };
  let tokens = packable;
  const packed = await stages.run({
    stage: "pack",
    in: ranked.length,
    out: ({ fragments }) => fragments.length,
    run: (component) => {
      let best = component.pack(ranked, packable, help);
      let most = packable;
      for (let again = 0; again < MOST_REPACKINGS; again += 1) {
        const saved = Math.min(most, packable - sumOf(joinPieces(best.fragments), cost));
        if (saved < LEAST_SAVED || !best.excluded.some(({ reason }) => reason === "budget")) break;
        const more = component.pack(ranked, tokens + saved, help);
        if (sumOf(joinPieces(more.fragments), cost) <= packable) [best, tokens] = [more, tokens + saved];
        else most = Math.floor(saved / 2);
      }
      return best;
    },
    problem: (result) => packingProblem(result, [...ranked, ...renderings], tokens, cost),
  });
  excluded.push(...packed.excluded);
  return joinPieces(packed.fragments);
}

function sumOf(fragments: readonly ScoredFragment[], cost: (fragment: ScoredFragment) => number): number {
  return fragments.reduce((sum, fragment) => sum + cost(fragment), 0);
}

/** With its heading; each fragment is rendered once. */
export function costOf(count: (text: string) => number): (fragment: ScoredFragment) => number {
  const costs = new WeakMap<ScoredFragment, number>();
  return (fragment) => {
    let cost = costs.get(fragment);
    if (cost === undefined) {
      cost = count(renderFragment(fragment));
      costs.set(fragment, cost);
    }
    return cost;
  };
}
