/**
 * Pieces of a file that follow one another line by line, or that share lines, become one piece: it needs one heading,
 * shows no line twice, and reads better.
 */
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
  if (one === undefined || other === undefined || one.endLine + 1 < other.startLine) return false;
  return endOfLines(before) !== undefined && (one.endLine < other.startLine || endOfLines(fragment) !== undefined);
}

/**
 * The text between its last line and the line after it: nothing if its content has that already. Most pieces end with a
 * blank line, so the last character does not tell. Undefined if its content is not its lines one by one.
 */
function endOfLines({ content, provenance }: ScoredFragment): "" | "\n" | undefined {
  if (provenance === undefined) return undefined;
  const more = content.split("\n").length - (provenance.endLine - provenance.startLine + 1);
  if (more === 0) return "\n";
  return more === 1 && content.endsWith("\n") ? "" : undefined;
}

function join(before: ScoredFragment, fragment: ScoredFragment): ScoredFragment {
  const [best, other] = compareScore(before, fragment) <= 0 ? [before, fragment] : [fragment, before];
  const { provenance } = before;
  if (provenance === undefined || fragment.provenance === undefined) return before;
  const endLine = Math.max(provenance.endLine, fragment.provenance.endLine);
  const added = fragment.content.split("\n").slice(provenance.endLine + 1 - fragment.provenance.startLine);
  const content =
    added.length === 0 ? before.content : `${before.content}${endOfLines(before) ?? ""}${added.join("\n")}`;
  return {
    ...best,
    entity: `${placeOf(before)}:${provenance.startLine}-${endLine}`,
    content,
    tokens: before.tokens + fragment.tokens,
    provenance: { ...provenance, endLine },
    ...foundBy([best, other]),
  };
}

function startOf({ provenance }: ScoredFragment): number {
  return provenance?.startLine ?? 0;
}
