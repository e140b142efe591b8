/** Orders that depend on nothing but the compared values: no locale, no position, no time. */
import { compareDetail } from "../../domain/context/detail-level.ts";
import type { ContextFragment, ScoredFragment } from "./context-model.ts";

/** By code units, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The more useful first: by relevance, then more detail, then fewer tokens; the name decides ties. */
export function compareUse(a: ContextFragment, b: ContextFragment): number {
  return (
    b.relevance - a.relevance ||
    compareDetail(b.level, a.level) ||
    a.tokens - b.tokens ||
    compareText(a.entity, b.entity) ||
    compareText(a.content, b.content)
  );
}

export function compareScore(a: ScoredFragment, b: ScoredFragment): number {
  return b.score - a.score || compareUse(a, b);
}

/** The file a fragment is from, as one word; a fragment without a file stands for itself. */
export function placeOf(fragment: ContextFragment): string {
  const { provenance } = fragment;
  return provenance === undefined ? fragment.entity : `${provenance.resource}:${provenance.path}`;
}
