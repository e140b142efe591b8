/**
 * Text as search sees it: names are words ("session_store" and "SessionStore" are the same one) and are also split into the words they
 * are made of; endings go, so that "validated" finds `validateToken`. Both sides of a search go through here, and what comes out
 * holds nothing but letters and digits, so no query can say anything to the search engine but words.
 */

import { KnownRuns } from "./known-runs.ts";

/** Longer ones are data: keys, hashes, encoded files. */
const LONGEST = 64;

// Letters, digits and what joins them in names.
const RUN = /[\p{L}\p{M}\p{N}_$]+/gu;
// Where a new word begins inside a name: fooBar, HTTPServer, utf8, 8bit.
const PARTS = /\p{Lu}+(?!\p{Ll}\p{M}*)|\p{Lu}?[\p{Ll}\p{M}\p{Lo}\p{Lm}\p{Lt}]+|\p{Lu}+|\p{N}+/gu;

const known = new KnownRuns({ longest: LONGEST, run: RUN, wordsOf: split });

/** How often each word is there, in the order of their first appearance. */
export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const tallies = known.count(text);
  for (const tally of tallies) {
    const { words, count } = tally;
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] ?? "";
      counts.set(word, (counts.get(word) ?? 0) + count);
    }
    tally.count = 0;
  }
  known.shrink();
  return counts;
}

/** The different words of a text, in the order of their first appearance. */
export function wordsOf(text: string): string[] {
  return [...countWords(text).keys()];
}

/**
 * The whole, as one word, and the words it is made of. By plain loops: `map` and `filter` make arrays of different kinds, for each of which
 * V8 compiled whoever counts words anew, a twelfth of the time of a first index.
 */
function split(run: string): readonly string[] {
  const words: string[] = [];
  const parts = run.match(PARTS) ?? [];
  let whole = "";
  for (let at = 0; at < parts.length; at += 1) {
    const part = (parts[at] ?? "").toLowerCase();
    parts[at] = part;
    whole += part;
  }
  if (parts.length > 1) addWord(words, whole);
  for (let at = 0; at < parts.length; at += 1) addWord(words, stem(parts[at] ?? ""));
  return words;
}

function addWord(words: string[], word: string): void {
  if (isWord(word) && !words.includes(word)) words.push(word);
}

/** A single Latin letter says nothing. */
function isWord(word: string): boolean {
  return word.length > 1 || word > "\u007f" || (word >= "0" && word <= "9");
}

/** Endings of English, as far as it does not matter that they are sometimes none: both sides lose them. */
export function stem(word: string): string {
  let rest = word;
  if (rest.endsWith("ies") && rest.length > 4) rest = `${rest.slice(0, -3)}y`;
  else if (rest.endsWith("s") && rest.length > 3 && !/(?:ss|us|is)$/.test(rest)) rest = rest.slice(0, -1);
  const ending = /(?:ation|ing|ion|ed|er|or|e)$/.exec(rest);
  if (ending === null || ending.index < 4) return rest;
  rest = ending[0] === "ation" ? `${rest.slice(0, ending.index)}at` : rest.slice(0, ending.index);
  return /([^aeioulsz])\1$/.test(rest) ? rest.slice(0, -1) : rest;
}
