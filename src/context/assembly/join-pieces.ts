/** Pieces of a file that follow one another line by line become one piece: it needs one heading, and reads better. */
import { compareScore, placeOf } from "../model/compare.ts";
import type { ScoredFragment } from "../model/context-model.ts";
import { foundBy } from "../stages/content-hash-deduplicator.ts";

/** The costs of the result are at most those of the given pieces, because there are fewer headings. */
export function joinPieces(fragments: readonly ScoredFragment[]): readonly ScoredFragment[] {
  return Array.from(Map.groupBy(fragments, placeOf).values(), joinedInFile).flat();
}

function joinedInFile(fragments: readonly ScoredFragment[]): readonly ScoredFragment[] {
  if (fragments.length === 1) return fragments;
  const joined: ScoredFragment[] = [];
  for (const fragment of fragments.toSorted((a, b) => startOf(a) - startOf(b) || compareScore(a, b))) {
    const before = joined.at(-1);
    if (before !== undefined && follows(before, fragment)) joined.splice(-1, 1, join(before, fragment));
    else joined.push(fragment);
  }
  return joined;
}

function follows(before: ScoredFragment, fragment: ScoredFragment): boolean {
  if (before.level !== "full" || fragment.level !== "full") return false;
  const [one, other] = [before.provenance, fragment.provenance];
  return one !== undefined && other !== undefined && one.endLine + 1 === other.startLine && isWhole(before);
}

/** Whether it shows its lines one by one, so that the next line follows its last one. */
function isWhole({ content, provenance }: ScoredFragment): boolean {
  if (provenance === undefined) return false;
  return content.replace(/\n$/, "").split("\n").length === provenance.endLine - provenance.startLine + 1;
}

function join(before: ScoredFragment, fragment: ScoredFragment): ScoredFragment {
  const [best, other] = compareScore(before, fragment) <= 0 ? [before, fragment] : [fragment, before];
  const { provenance } = before;
  if (provenance === undefined || fragment.provenance === undefined) return before;
  const { endLine } = fragment.provenance;
  const end = before.content.endsWith("\n") ? "" : "\n";
  return {
    ...best,
    entity: `${placeOf(before)}:${provenance.startLine}-${endLine}`,
    content: `${before.content}${end}${fragment.content}`,
    tokens: before.tokens + fragment.tokens,
    provenance: { ...provenance, endLine },
    ...foundBy([best, other]),
  };
}

function startOf({ provenance }: ScoredFragment): number {
  return provenance?.startLine ?? 0;
}
