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

/** More are forgotten after a text: names come again and again, but not those of the directory before this one. */
const REMEMBERED = 50_000;

interface Word {
  readonly text: string;
  /** In the text that is being counted. */
  count: number;
}

// Each word is there once, whatever runs it is part of: counting it up is far less work than looking it up.
const words = new Map<string, Word>();
const known = new KnownRuns({ longest: LONGEST, run: RUN, wordsOf: split });

/** Says how often each word is there, in the order of their first appearance. */
export function countWords(text: string, visit: (word: string, count: number) => void): void {
  const found: Word[] = [];
  for (const tally of known.count(text)) {
    for (let at = 0; at < tally.words.length; at += 1) {
      const word = tally.words[at];
      if (word === undefined) continue;
      if (word.count === 0) found.push(word);
      word.count += tally.count;
    }
    tally.count = 0;
  }
  for (const word of found) {
    visit(word.text, word.count);
    word.count = 0;
  }
  if (known.size <= REMEMBERED && words.size <= REMEMBERED) return;
  known.forget();
  words.clear();
}

/** The different words of a text, in the order of their first appearance. */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  countWords(text, (word) => found.push(word));
  return found;
}

/**
 * The whole, as one word, and the words it is made of. By plain loops: `map` and `filter` make arrays of different kinds, for each of which
 * V8 compiled whoever counts words anew, a twelfth of the time of a first index.
 */
function split(run: string): readonly Word[] {
  const made: Word[] = [];
  const parts = run.match(PARTS);
  if (parts === null) return made;
  let whole = "";
  for (let at = 0; at < parts.length; at += 1) {
    const part = (parts[at] ?? "").toLowerCase();
    parts[at] = part;
    whole += part;
  }
  if (parts.length > 1) addWord(made, whole);
  for (let at = 0; at < parts.length; at += 1) addWord(made, stem(parts[at] ?? ""));
  return made;
}

function addWord(made: Word[], text: string): void {
  if (!isWord(text)) return;
  const word = words.get(text) ?? newWord(text);
  if (!made.includes(word)) made.push(word);
}

function newWord(text: string): Word {
  // A string cut out of a text would keep all of the text in memory.
  const word = { text: Buffer.from(text).toString(), count: 0 };
  words.set(word.text, word);
  return word;
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
