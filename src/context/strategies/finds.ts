/**
 * From what a strategy found to the fragments it returns. A find is something to show, in the levels of detail in which it is worth
 * showing; finds come in the order of their worth, and each takes the first level that fits, so that one large file never crowds
 * out everything else. Tokens are estimated, rather too many than too few (estimate-tokens.ts).
 */
import { lessDetail, type DetailLevel } from "../../code-index/detail-level.ts";
import type { Excerpt, IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/scoped-index.ts";
import type { ContextFragment } from "../model.ts";
import { estimateTokens } from "../tokens/estimate-tokens.ts";

export interface Find {
  readonly entity: string;
  /** The most wanted first. */
  readonly levels: readonly DetailLevel[];
  readonly excerpt: (level: DetailLevel) => Excerpt;
  readonly relevance: number;
  readonly reason: string;
}

export interface Allowance {
  readonly tokens: number;
  readonly signal: AbortSignal;
}

/** One fragment takes at most this part of a strategy's tokens, unless it is the very first. */
const LARGEST_SHARE = 1 / 8;
const LARGEST_SHARE_OF_FIRST = 1 / 3;
const SMALLEST = 10;
/** So many finds in a row that do not fit: neither will the rest. */
const MOST_MISSES = 60;

export function fill(finds: Iterable<Find>, { tokens, signal }: Allowance): readonly ContextFragment[] {
  const fragments: ContextFragment[] = [];
  const shown = new Set<string>();
  let left = tokens;
  let misses = 0;
  for (const find of finds) {
    signal.throwIfAborted();
    if (left < SMALLEST || misses > MOST_MISSES) break;
    if (shown.has(find.entity)) continue;
    const share = fragments.length === 0 ? LARGEST_SHARE_OF_FIRST : LARGEST_SHARE;
    const fragment = fitting(find, Math.min(left, Math.max(Math.floor(tokens * share), 200)));
    if (fragment === undefined) {
      misses += 1;
      continue;
    }
    misses = 0;
    shown.add(find.entity);
    fragments.push(fragment);
    left -= fragment.tokens;
  }
  return fragments;
}

function fitting(find: Find, most: number): ContextFragment | undefined {
  for (const level of find.levels) {
    const { file, text, startLine, endLine, level: shownLevel } = find.excerpt(level);
    if (text.trim() === "") continue;
    const tokens = estimateTokens(text);
    if (tokens > most) continue;
    const { resource, path, hash } = file;
    return {
      content: text,
      tokens,
      entity: find.entity,
      level: shownLevel,
      relevance: Math.min(1, Math.max(0, find.relevance)),
      provenance: { resource, path, startLine, endLine, hash },
      reason: find.reason,
    };
  }
  return undefined;
}

interface Worth {
  readonly relevance: number;
  readonly reason: string;
}

export function definitionFind(
  index: ScopedIndex,
  definition: IndexedDefinition,
  most: DetailLevel,
  worth: Worth,
): Find {
  const { file, name, startLine } = definition;
  return {
    entity: `${file.resource}:${file.path}#${name}@${startLine}`,
    levels: levelsFrom(most),
    excerpt: (level) => index.excerptOfDefinition(definition, level),
    ...worth,
  };
}

export function fileFind(index: ScopedIndex, file: IndexedFile, most: DetailLevel, worth: Worth): Find {
  return {
    entity: `${file.resource}:${file.path}`,
    levels: levelsFrom(most),
    excerpt: (level) => index.excerptOfFile(file, level),
    ...worth,
  };
}

export function linesFind(index: ScopedIndex, file: IndexedFile, start: number, end: number, worth: Worth): Find {
  return {
    entity: `${file.resource}:${file.path}:${start}-${end}`,
    levels: ["full"],
    excerpt: () => index.excerptOfLines(file, start, end),
    ...worth,
  };
}

function levelsFrom(level: DetailLevel): readonly DetailLevel[] {
  return [level, ...lessDetail(level)];
}
