/** Definitions by the words of their names: those with more of the wanted words first, then those with fewer others. */
import { byCodeUnits } from "../../git/git-listing.ts";
import type { ReadableFile, TreeReader } from "../index/index-reader.ts";
import type { IndexedDefinition } from "../model/scoped-index.ts";
import { wordFinder, wordsOf } from "../words/words.ts";

interface NameMatch {
  readonly tree: TreeReader;
  readonly name: string;
  readonly matched: number;
  readonly length: number;
  readonly files: readonly ReadableFile[];
}

export function searchDefinitions(
  trees: readonly TreeReader[],
  words: readonly string[],
  limit: number,
  definitionsOf: (tree: TreeReader, file: ReadableFile) => readonly IndexedDefinition[],
): readonly IndexedDefinition[] {
  const wanted = new Set(wordsOf(words.join(" ")));
  const matches = trees.flatMap((tree) => matchesIn(tree, wanted)).sort(better);
  const found: IndexedDefinition[] = [];
  for (const { tree, name, files } of matches) {
    if (found.length >= limit) break;
    const named = files
      .toSorted((a, b) => byCodeUnits(a.path, b.path))
      .flatMap((file) => definitionsOf(tree, file).filter((definition) => definition.name === name));
    found.push(...named.sort((a, b) => Number(b.exported) - Number(a.exported)));
  }
  return found.slice(0, Math.max(0, limit));
}

/** The names defined in contents that have a wanted word, as far as they have one themselves. */
function matchesIn(tree: TreeReader, wanted: ReadonlySet<string>): readonly NameMatch[] {
  const matches = new Map<string, NameMatch & { readonly files: ReadableFile[] }>();
  const mayMatch = wordFinder(wanted);
  const contents = new Set([...wanted].flatMap((word) => tree.namingBy(word)));
  for (const content of contents) {
    const files = tree.filesOf(content);
    if (files.length === 0) continue;
    for (const name of tree.namesIn(content)) {
      if (!mayMatch(name)) continue;
      const known = matches.get(name);
      if (known !== undefined) {
        known.files.push(...files);
        continue;
      }
      const own = wordsOf(name);
      const matched = own.filter((word) => wanted.has(word)).length;
      if (matched > 0) matches.set(name, { tree, name, matched, length: own.length, files: [...files] });
    }
  }
  return [...matches.values()];
}

function better(a: NameMatch, b: NameMatch): number {
  return b.matched - a.matched || a.length - b.length || byCodeUnits(a.name, b.name);
}
