/** The limits of a view, before anything is packed: how many files a context may show and how many bytes of them. */
import { compareScore, placeOf } from "../model/compare.ts";
import type { Exclusion, ScoredFragment } from "../model/context-model.ts";
import type { FilteredFragments } from "../model/stage-interfaces.ts";

export interface ViewLimits {
  readonly maxFiles: number | undefined;
  /** In bytes. */
  readonly maxTotalSize: number | undefined;
}

/** The best come first; a fragment that does not fit is left out, and a later one may still fit. */
export function withinLimits(
  fragments: readonly ScoredFragment[],
  limits: ViewLimits,
): FilteredFragments<ScoredFragment> {
  const { maxFiles = Infinity, maxTotalSize = Infinity } = limits;
  const kept: ScoredFragment[] = [];
  const excluded: Exclusion[] = [];
  const files = new Set<string>();
  let size = 0;
  for (const fragment of fragments.toSorted(compareScore)) {
    const { entity, strategies, tokens, content, provenance } = fragment;
    const place = placeOf(fragment);
    const isNewFile = provenance !== undefined && !files.has(place);
    const bytes = Buffer.byteLength(content);
    if (isNewFile && files.size >= maxFiles) excluded.push({ entity, strategies, tokens, reason: "file limit" });
    else if (size + bytes > maxTotalSize) excluded.push({ entity, strategies, tokens, reason: "size limit" });
    else {
      if (isNewFile) files.add(place);
      size += bytes;
      kept.push(fragment);
    }
  }
  return { fragments: kept, excluded };
}
