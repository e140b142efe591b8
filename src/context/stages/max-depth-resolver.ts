/**
 * One entity at several levels of detail: the most detailed one that can fit by itself is kept, for all strategies that
 * found it at any level.
 */
import { compareDetail } from "../../domain/context/detail-level.ts";
import { compareUse } from "../model/compare.ts";
import type { Exclusion, FoundFragment } from "../model/context-model.ts";
import type { DetailDepthResolver, FilteredFragments } from "../model/stage-interfaces.ts";
import { foundBy } from "./content-hash-deduplicator.ts";

export class MaxDepthResolver implements DetailDepthResolver {
  readonly name = "MaxDepthResolver";

  resolve(fragments: readonly FoundFragment[], tokens: number): FilteredFragments<FoundFragment> {
    const excluded: Exclusion[] = [];
    const groups = Map.groupBy(fragments, ({ entity }) => entity);
    const kept = Array.from(groups.values(), (group) => {
      if (group.length === 1) return group;
      const detailed = group.toSorted((a, b) => compareDetail(b.level, a.level) || compareUse(a, b));
      const best = detailed.find((fragment) => fragment.tokens <= tokens) ?? detailed.at(-1);
      if (best === undefined) return [];
      const others = detailed.filter((fragment) => fragment !== best);
      for (const { entity, strategies, tokens: size, level } of others) {
        const reason = compareDetail(level, best.level) > 0 ? "budget" : "less detail";
        excluded.push({ entity, strategies, tokens: size, reason });
      }
      const relevance = Math.max(...group.map((fragment) => fragment.relevance));
      return { ...best, relevance, ...foundBy([best, ...others]) };
    }).flat();
    return { fragments: kept, excluded };
  }
}
