import { statSync } from "node:fs";
import type { DefinitionKind, Language } from "../../code-index/model/facts.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import type { IndexedFile, IndexGap } from "../../code-index/model/scoped-index.ts";

/** The contents of the indexes of a scope, summed up. */
export interface IndexSummary {
  readonly files: number;
  readonly bytes: number;
  readonly lines: number;
  /** The most files first. */
  readonly languages: readonly LanguageSummary[];
  readonly definitions: Readonly<Partial<Record<DefinitionKind, number>>>;
  /** The largest first. */
  readonly largest: readonly (IndexedFile & { readonly text: string })[];
  readonly gaps: readonly IndexGap[];
  /** Of the index files themselves. */
  readonly indexBytes: number;
}

export interface LanguageSummary {
  readonly language: Language;
  readonly files: number;
  readonly bytes: number;
  readonly lines: number;
}

export function summarize(scope: IndexScope, options: { readonly largest: number }): IndexSummary {
  using index = openScopedIndex(scope);
  const files = index.files();
  const definitions: Partial<Record<DefinitionKind, number>> = {};
  for (const file of files) {
    for (const { kind } of index.definitionsIn(file)) definitions[kind] = (definitions[kind] ?? 0) + 1;
  }
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, options.largest);
  return {
    files: files.length,
    bytes: sum(files, ({ size }) => size),
    lines: sum(files, ({ lines }) => lines),
    languages: languagesOf(files),
    definitions,
    largest: largest.map((file) => ({ ...file, text: index.text(file) })),
    gaps: index.gaps(),
    indexBytes: sum(indexFiles(scope), sizeOf),
  };
}

/** The most files first. */
export function languagesOf(files: readonly IndexedFile[]): LanguageSummary[] {
  return [...Map.groupBy(files, ({ language }) => language)]
    .map(([language, own]) => ({
      language,
      files: own.length,
      bytes: sum(own, ({ size }) => size),
      lines: sum(own, ({ lines }) => lines),
    }))
    .toSorted((a, b) => b.files - a.files);
}

function indexFiles({ trees }: IndexScope): string[] {
  return [...new Set(trees.map(({ index }) => index))].flatMap((file) => [file, `${file}-wal`]);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
