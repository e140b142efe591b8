/**
 * Full text search over pieces of files of about forty lines, ranked by bm25 with fields (BM25F): a word in the path or
 * in the name of a definition of the piece counts more than the same word in its lines.
 *
 * The text index has whole files only. It says which files have the words, and how rare each word is; the pieces of the
 * best of these files are cut and counted when they are asked for. So the index stays as small as before, and a
 * changed file needs no other work than before.
 */
import type { ReadableFile, TreeReader } from "../index/index-reader.ts";
import { countWords, wordsOf } from "../words/words.ts";
import { passagesOf, type LineRange } from "./passage-lines.ts";
import { rankFiles } from "./text-search.ts";

const PATH_WEIGHT = 5;
const NAME_WEIGHT = 3;
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.75;
/** Files whose pieces are looked at. */
const MOST_FILES = 300;
/** Larger files are mostly data. */
const LARGEST_SEARCHED = 1_000_000;

interface ScoredPassage extends LineRange {
  /** Better is larger; comparable within one answer only. */
  readonly score: number;
}

export interface PassageedFile {
  readonly file: ReadableFile;
  /** By line. */
  readonly passages: readonly ScoredPassage[];
}

/** The files with the best pieces, all their pieces scored; in the order of the text search. */
export function searchPassages(trees: readonly TreeReader[], words: readonly string[]): readonly PassageedFile[] {
  const { ranked, rarity } = rankFiles(trees, words);
  const treeOf = new Map(trees.map((tree) => [tree.resource, tree]));
  const counted = ranked
    .filter(({ file }) => file.file.size <= LARGEST_SEARCHED)
    .slice(0, MOST_FILES)
    .flatMap(({ file }) => {
      const tree = treeOf.get(file.file.resource);
      return tree === undefined ? [] : [{ file, passages: countedPassages(tree, file, rarity) }];
    });
  const sizes = counted.flatMap(({ passages }) => passages.map(({ words: size }) => size));
  const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length || 1;
  return counted.map(({ file, passages }) => {
    const path = new Set(wordsOf(file.path));
    return { file, passages: passages.map((passage) => scored(passage, path, rarity, average)) };
  });
}

interface CountedPassage extends LineRange {
  readonly words: number;
  /** Of the wanted words, with names counted more. */
  readonly counts: ReadonlyMap<string, number>;
}

function countedPassages(tree: TreeReader, file: ReadableFile, rarity: ReadonlyMap<string, number>): CountedPassage[] {
  const text = tree.textOf(file);
  const definitions = tree.definitionsOf(file);
  const lines = text.split("\n");
  return passagesOf(lines).map(({ startLine, endLine }) => {
    const counts = new Map<string, number>();
    const add = (word: string, weight: number): void => {
      if (rarity.has(word)) counts.set(word, (counts.get(word) ?? 0) + weight);
    };
    let words = 0;
    countWords(Buffer.from(lines.slice(startLine - 1, endLine).join("\n")), (word, count) => {
      words += count;
      add(word, count);
    });
    for (const { name, startLine: at } of definitions) {
      if (at >= startLine && at <= endLine) for (const word of wordsOf(name)) add(word, NAME_WEIGHT);
    }
    return { startLine, endLine, words, counts };
  });
}

function scored(
  { startLine, endLine, words, counts }: CountedPassage,
  path: ReadonlySet<string>,
  rarity: ReadonlyMap<string, number>,
  average: number,
): ScoredPassage {
  const length = 1 - LENGTH_PENALTY + LENGTH_PENALTY * (words / average);
  let score = 0;
  for (const [word, rare] of rarity) {
    const weight = (counts.get(word) ?? 0) / length + (path.has(word) ? PATH_WEIGHT : 0);
    if (weight > 0) score += (rare * weight * (SATURATION + 1)) / (weight + SATURATION);
  }
  return { startLine, endLine, score };
}
