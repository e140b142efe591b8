/**
 * The plain way to find code by words: BM25 over texts, whole files or pieces of forty lines, with the path as their
 * first line and names split into words. It shares nothing with the index that it is compared with.
 */
import type { Source } from "../src/context/testing/answer-sets.ts";

const SATURATION = 1.2;
const LENGTH_PENALTY = 0.75;

export interface Piece {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

/** `lines` per piece; Infinity for whole files. */
export function piecesOf(sources: readonly Source[], lines: number): readonly Piece[] {
  return sources.flatMap(({ path, text }) => {
    const all = text.replace(/\n$/, "").split("\n");
    const size = Math.min(lines, all.length);
    return Array.from({ length: Math.ceil(all.length / size) }, (_, at): Piece => {
      const part = all.slice(at * size, (at + 1) * size);
      return { path, first: at * size + 1, last: at * size + part.length, text: part.join("\n") };
    });
  });
}

/** The best first; pieces without any of the words are left out. */
export function bm25(pieces: readonly Piece[], query: string): readonly Piece[] {
  const wanted = new Set(wordsIn(query));
  const counted = pieces.map((piece) => {
    const words = wordsIn(`${piece.path}\n${piece.text}`);
    const counts = new Map<string, number>();
    for (const word of words) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { piece, counts, length: words.length };
  });
  const average = counted.reduce((sum, { length }) => sum + length, 0) / counted.length || 1;
  const rarity = new Map(
    Array.from(wanted, (word) => {
      const having = counted.filter(({ counts }) => counts.has(word)).length;
      return [word, Math.log(1 + (counted.length - having + 0.5) / (having + 0.5))];
    }),
  );
  return counted
    .map(({ piece, counts, length }, at) => {
      const norm = SATURATION * (1 - LENGTH_PENALTY + (LENGTH_PENALTY * length) / average);
      let score = 0;
      for (const [word, count] of counts) {
        score += ((rarity.get(word) ?? 0) * count * (SATURATION + 1)) / (count + norm);
      }
      return { piece, score, at };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .map(({ piece }) => piece);
}

function wordsIn(text: string): readonly string[] {
  return (
    text
      .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z\d]{2,}/g) ?? []
  );
}
