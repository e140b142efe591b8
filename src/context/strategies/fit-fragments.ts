/**
 * From the candidates of a strategy to the fragments it returns. A candidate is a place to show, in the levels of
 * detail in which it is worth showing; candidates come in the order of their worth, and each takes the first level that
 * fits, so that one large file never crowds out everything else. Tokens are estimated, rather too many than too few
 * (estimate-tokens.ts).
 */
import { lessDetail, type DetailLevel } from "../../domain/context/detail-level.ts";
import type { Excerpt, IndexedDefinition, IndexedFile, ScopedIndex } from "../../code-index/model/scoped-index.ts";
import type { ContextFragment } from "../model/context-model.ts";
import { estimateTokens } from "../tokens/estimate-tokens.ts";

export interface Candidate {
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
/** After this many candidates in a row that do not fit, the rest will not fit either. */
const MOST_MISSES = 60;

export function fill(candidates: Iterable<Candidate>, { tokens, signal }: Allowance): readonly ContextFragment[] {
  const fragments: ContextFragment[] = [];
  const shown = new Set<string>();
  let left = tokens;
  let misses = 0;
  for (const candidate of candidates) {
    signal.throwIfAborted();
    if (left < SMALLEST || misses > MOST_MISSES) break;
    if (shown.has(candidate.entity)) continue;
    const share = fragments.length === 0 ? LARGEST_SHARE_OF_FIRST : LARGEST_SHARE;
    const fragment = fitting(candidate, Math.min(left, Math.max(Math.floor(tokens * share), 200)));
    if (fragment === undefined) {
      misses += 1;
      continue;
    }
    misses = 0;
    shown.add(candidate.entity);
    fragments.push(fragment);
    left -= fragment.tokens;
  }
  return fragments;
}

function fitting(candidate: Candidate, most: number): ContextFragment | undefined {
  for (const level of candidate.levels) {
    const { file, text, startLine, endLine, level: shownLevel } = candidate.excerpt(level);
    if (text.trim() === "") continue;
    const tokens = estimateTokens(text);
    if (tokens > most) continue;
    const { resource, path, hash } = file;
    return {
      content: text,
      tokens,
      entity: candidate.entity,
      level: shownLevel,
      relevance: Math.min(1, Math.max(0, candidate.relevance)),
      provenance: { resource, path, startLine, endLine, hash },
      reason: candidate.reason,
    };
  }
  return undefined;
}

export interface Worth {
  readonly relevance: number;
  readonly reason: string;
}

export function definitionCandidate(
  index: ScopedIndex,
  definition: IndexedDefinition,
  most: DetailLevel,
  worth: Worth,
): Candidate {
  const { file, name, startLine } = definition;
  return {
    entity: `${file.resource}:${file.path}#${name}@${startLine}`,
    levels: levelsFrom(most),
    excerpt: (level) => index.excerptOfDefinition(definition, level),
    ...worth,
  };
}

export function fileCandidate(index: ScopedIndex, file: IndexedFile, most: DetailLevel, worth: Worth): Candidate {
  return {
    entity: `${file.resource}:${file.path}`,
    levels: levelsFrom(most),
    excerpt: (level) => index.excerptOfFile(file, level),
    ...worth,
  };
}

export function linesCandidate(
  index: ScopedIndex,
  file: IndexedFile,
  start: number,
  end: number,
  worth: Worth,
): Candidate {
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
