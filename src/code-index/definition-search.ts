/** Definitions by the words of their names: those with more of the wanted words first, then those with fewer others. */
import { type ReadableFile, textOf, type TreeReader } from "./index-reader.ts";
import type { IndexedDefinition } from "./scoped-index.ts";
import { wordsOf } from "./words.ts";

interface Match {
  readonly tree: TreeReader;
  readonly id: number;
  readonly name: string;
  readonly matched: number;
  readonly length: number;
}

export function searchDefinitions(
  trees: readonly TreeReader[],
  words: readonly string[],
  limit: number,
  definitionsOf: (tree: TreeReader, file: ReadableFile) => readonly IndexedDefinition[],
): readonly IndexedDefinition[] {
  const wanted = wordsOf(words.join(" "));
  const matches = trees.flatMap((tree) => matchesIn(tree, wanted)).sort(better);
  const found: IndexedDefinition[] = [];
  for (const { tree, id, name } of matches) {
    if (found.length >= limit) break;
    const files = tree.mentioning("defines", id);
    const named = files.flatMap((file) => definitionsOf(tree, file).filter((definition) => definition.name === name));
    found.push(...named.sort((a, b) => Number(b.exported) - Number(a.exported)));
  }
  return found.slice(0, Math.max(0, limit));
}

function matchesIn(tree: TreeReader, wanted: readonly string[]): Match[] {
  const matched = new Map<number, number>();
  for (const word of wanted) {
    // Words are letters and digits only; the quotes keep those that mean something to the engine (AND, NEAR) from meaning it.
    for (const [id] of tree.all("SELECT rowid FROM name_words WHERE name_words MATCH ?", `"${word}"`)) {
      matched.set(Number(id), (matched.get(Number(id)) ?? 0) + 1);
    }
  }
  return [...matched].map(([id, count]) => {
    const name = textOf(tree.all("SELECT name FROM names WHERE id = ?", id)[0]?.[0]);
    return { tree, id, name, matched: count, length: wordsOf(name).length };
  });
}

function better(a: Match, b: Match): number {
  return b.matched - a.matched || a.length - b.length || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
