/**
 * A fragment that several strategies found is kept once, with all their names. First the same content of the same
 * entity; then lines of one file that overlap. Lines that are part of a larger piece are left for the packer to decide,
 * which knows whether the larger one fits: here they would be lost with it.
 */
import { hash } from "node:crypto";
import { compareText, compareUse, placeOf } from "../model/compare.ts";
import type { Exclusion, FoundFragment, Provenance } from "../model/context-model.ts";
import type { FragmentDeduplicator, FilteredFragments } from "../model/stage-interfaces.ts";

/**
 * Overlapping pieces are merged up to this many lines; larger ones stay apart, so that each can be packed by itself.
 */
const MAX_MERGED_LINES = 200;

export class ContentHashDeduplicator implements FragmentDeduplicator {
  readonly name = "ContentHashDeduplicator";

  deduplicate(fragments: readonly FoundFragment[]): FilteredFragments<FoundFragment> {
    const excluded: Exclusion[] = [];
    const distinct = onePer(
      fragments,
      ({ entity, level, content }) => `${entity}\0${level}\0${hashOf(content)}`,
      excluded,
    );
    const sameLines = onePer(distinct, linesKey, excluded);
    return { fragments: mergeOverlaps(sameLines, excluded), excluded };
  }
}

/** Two entities may be the same lines: a file with one function in it. */
function linesKey(fragment: FoundFragment): string {
  const { provenance, level, entity, content } = fragment;
  if (provenance === undefined || level !== "full") return `${entity}\0${level}\0${hashOf(content)}`;
  return `${placeOf(fragment)}\0${provenance.startLine}\0${provenance.endLine}\0${hashOf(content)}`;
}

function onePer(
  fragments: readonly FoundFragment[],
  keyOf: (fragment: FoundFragment) => string,
  excluded: Exclusion[],
): FoundFragment[] {
  return Array.from(Map.groupBy(fragments, keyOf).values(), (group) => {
    const [best, ...others] = group.toSorted(compareUse);
    for (const other of others) excluded.push(asDuplicate(other));
    return best === undefined || others.length === 0 ? group : { ...best, ...foundBy([best, ...others]) };
  }).flat();
}

interface LinePiece {
  readonly fragment: FoundFragment;
  readonly provenance: Provenance;
  readonly lines: readonly string[];
}

/** Merges full pieces of one file where one begins inside the other and ends behind it. */
function mergeOverlaps(fragments: readonly FoundFragment[], excluded: Exclusion[]): FoundFragment[] {
  const pieces = new Map(fragments.map((fragment) => [fragment, pieceOf(fragment)]));
  const rest = fragments.filter((fragment) => pieces.get(fragment) === undefined);
  const files = Map.groupBy(
    [...pieces.values()].filter((piece) => piece !== undefined),
    ({ fragment }) => placeOf(fragment),
  );
  for (const group of files.values()) {
    let open: LinePiece | undefined;
    for (const piece of group.toSorted(byPosition)) {
      const merged = open === undefined ? undefined : union(open, piece);
      if (merged !== undefined && open !== undefined) {
        excluded.push(asDuplicate(open.fragment), asDuplicate(piece.fragment));
        open = merged;
        continue;
      }
      if (open !== undefined) rest.push(open.fragment);
      open = piece;
    }
    if (open !== undefined) rest.push(open.fragment);
  }
  return rest.toSorted(compareUse);
}

/** Undefined for a fragment that cannot be cut by lines: it is not shown in full, or not line by line. */
function pieceOf(fragment: FoundFragment): LinePiece | undefined {
  const { provenance, level, content } = fragment;
  if (provenance === undefined || level !== "full") return undefined;
  const lines = content.replace(/\n$/, "").split("\n");
  return lines.length === provenance.endLine - provenance.startLine + 1 ? { fragment, provenance, lines } : undefined;
}

function union(a: LinePiece, b: LinePiece): LinePiece | undefined {
  const { startLine, endLine } = a.provenance;
  const overlaps = b.provenance.startLine > startLine && b.provenance.startLine <= endLine;
  if (!overlaps || b.provenance.endLine <= endLine) return undefined;
  if (b.provenance.endLine - startLine + 1 > MAX_MERGED_LINES) return undefined;
  const known = endLine - b.provenance.startLine + 1;
  // Their shared lines must be equal.
  if (!b.lines.slice(0, known).every((line, index) => line === a.lines[a.lines.length - known + index]))
    return undefined;
  const lines = [...a.lines, ...b.lines.slice(known)];
  const provenance = { ...a.provenance, endLine: b.provenance.endLine };
  const [first = a.fragment, second = b.fragment] = [a.fragment, b.fragment].toSorted(compareUse);
  const fragment: FoundFragment = {
    ...first,
    entity: `${placeOf(first)}:${startLine}-${provenance.endLine}`,
    content: `${lines.join("\n")}\n`,
    // Too many rather than too few until it is counted again.
    tokens: first.tokens + second.tokens,
    provenance,
    ...foundBy([first, second]),
  };
  return { fragment, provenance, lines };
}

function byPosition(a: LinePiece, b: LinePiece): number {
  return (
    a.provenance.startLine - b.provenance.startLine ||
    b.provenance.endLine - a.provenance.endLine ||
    compareText(a.fragment.entity, b.fragment.entity)
  );
}

/**
 * The strategies that found it, the one with its content first, the others by name; and the best rank each of them gave
 * it.
 */
export function foundBy(fragments: readonly FoundFragment[]): Pick<FoundFragment, "strategies" | "ranks"> {
  const [first = "", ...others] = fragments.flatMap(({ strategies }) => strategies);
  const ranks: Record<string, number> = {};
  for (const fragment of fragments) {
    for (const [name, rank] of Object.entries(fragment.ranks)) ranks[name] = Math.min(ranks[name] ?? rank, rank);
  }
  const rest = Array.from(new Set(others)).filter((name) => name !== first);
  return { strategies: [first, ...rest.toSorted(compareText)], ranks };
}

function asDuplicate({ entity, strategies, tokens }: FoundFragment): Exclusion {
  return { entity, strategies, tokens, reason: "duplicate" };
}

function hashOf(content: string): string {
  return hash("sha256", content, "base64");
}
