/** Keeps related fragments together: files by the best score in them, inside a file from top to bottom. */
import { compareScore, compareText, placeOf } from "../model/compare.ts";
import type { ScoredFragment } from "../model/context-model.ts";
import type { FragmentOrderer } from "../model/stage-interfaces.ts";

export class RelevanceCoherenceOrderer implements FragmentOrderer {
  readonly name = "RelevanceCoherenceOrderer";

  order(fragments: readonly ScoredFragment[]): readonly ScoredFragment[] {
    const groups = Map.groupBy(fragments.toSorted(compareScore), placeOf);
    // The first of a group is its best, and a map keeps the order of insertion.
    return Array.from(groups.values(), (group) => group.toSorted(byPosition)).flat();
  }
}

function byPosition(a: ScoredFragment, b: ScoredFragment): number {
  return (
    (a.provenance?.startLine ?? 0) - (b.provenance?.startLine ?? 0) ||
    (b.provenance?.endLine ?? 0) - (a.provenance?.endLine ?? 0) ||
    compareText(a.entity, b.entity) ||
    compareText(a.content, b.content)
  );
}
