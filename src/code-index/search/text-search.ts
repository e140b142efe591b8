/**
 * Full text search with the ranking of bm25: words in the path and in the names of definitions weigh more than the same
 * words in the body.
 *
 * The engine finds the words; how rare they are is counted here, over the files of the scope. Its own ranking counts
 * everything in the index, so a sandbox, or a file that a policy hides, would change the order that others see.
 */
import type { ReadableFile, TreeReader } from "../index/index-reader.ts";
import { COUNT_BY_COLUMN } from "../sync/prepare-content.ts";
import { wordsOf } from "../words/words.ts";

const PATH_WEIGHT = 6;
const NAMES_WEIGHT = 4;
/** The usual constants: how soon more of the same word counts less, and how much a long text is penalized. */
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.6;

interface RankedFiles {
  /** The best first. */
  readonly ranked: readonly { readonly file: ReadableFile; readonly score: number }[];
  /** How much each word says, by how few files have it; words that no file has are left out. */
  readonly rarity: ReadonlyMap<string, number>;
}

export function searchText(
  trees: readonly TreeReader[],
  words: readonly string[],
  limit: number,
): RankedFiles["ranked"] {
  return limit <= 0 ? [] : rankFiles(trees, words).ranked.slice(0, limit);
}

/** All files that have one of the words. */
export function rankFiles(trees: readonly TreeReader[], words: readonly string[]): RankedFiles {
  const wanted = wordsOf(words.join(" ")).sort();
  const files = trees.flatMap(({ files: all }) => all);
  const averageLength = files.reduce((sum, { words: count }) => sum + count, 0) / files.length || 1;
  const scores = new Map<ReadableFile, number>();
  const rarities = new Map<string, number>();
  for (const word of wanted) {
    const weights = new Map<ReadableFile, number>();
    for (const tree of trees) weigh(tree, word, weights);
    if (weights.size === 0) continue;
    const rarity = Math.log(1 + (files.length - weights.size + 0.5) / (weights.size + 0.5));
    rarities.set(word, rarity);
    for (const [file, weight] of weights) {
      const length = 1 - LENGTH_PENALTY + LENGTH_PENALTY * (file.words / averageLength);
      const gain = rarity * ((weight * (SATURATION + 1)) / (weight + SATURATION * length));
      scores.set(file, (scores.get(file) ?? 0) + gain);
    }
  }
  const position = new Map(files.map((file, at) => [file, at]));
  const ranked = [...scores]
    .sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (position.get(a) ?? 0) - (position.get(b) ?? 0))
    .map(([file, score]) => ({ file, score }));
  return { ranked, rarity: rarities };
}

function weigh(tree: TreeReader, word: string, weights: Map<ReadableFile, number>): void {
  const add = (file: ReadableFile, weight: number): void => void weights.set(file, (weights.get(file) ?? 0) + weight);
  for (const [content, column] of tree.having(word)) {
    const weight = column === "names" ? NAMES_WEIGHT : (COUNT_BY_COLUMN[String(column)] ?? 0);
    for (const file of tree.filesOf(content)) add(file, weight);
  }
  // Splitting every path takes longer than the rest; a word of a path always leaves its first letters in the path.
  const beginning = word.slice(0, word.length > 3 ? 3 : 2);
  for (const file of tree.files) {
    if (file.path.toLowerCase().includes(beginning) && pathWords(file).has(word)) add(file, PATH_WEIGHT);
  }
}

const pathWordsOf = new WeakMap<ReadableFile, ReadonlySet<string>>();

function pathWords(file: ReadableFile): ReadonlySet<string> {
  const known = pathWordsOf.get(file);
  if (known !== undefined) return known;
  const words = new Set(wordsOf(file.path));
  pathWordsOf.set(file, words);
  return words;
}
