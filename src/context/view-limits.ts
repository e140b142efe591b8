/** The limits of a view, before anything is packed: how many files a context may show and how many bytes of them. */
import { compareScore, placeOf } from "./compare.ts";
import type { Exclusion, ScoredFragment } from "./model.ts";
import type { Sifted } from "./stages.ts";

export interface ViewLimits {
  readonly maxFiles: number | undefined;
  /** In bytes. */
  readonly maxTotalSize: number | undefined;
}

/** The best come first; what does not fit is left out, and what comes after it may still fit. */
export function withinLimits(fragments: readonly ScoredFragment[], limits: ViewLimits): Sifted<ScoredFragment> {
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
