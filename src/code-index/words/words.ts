/**
 * Text as search sees it: names are words ("session_store" and "SessionStore" are the same one) and are also split into
 * the words they are made of; endings are removed, so that "validated" finds `validateToken`. Both sides of a search go
 * through here, and the result holds nothing but letters and digits, so a query can pass nothing but words to the
 * search engine.
 */

import { WordTable } from "./word-table.ts";

/** Longer ones are data: keys, hashes, encoded files. */
const LONGEST = 64;

// Letters, digits and what joins them in names.
const RUN = /[\p{L}\p{M}\p{N}_$]+/gu;
// Where a new word begins inside a name: fooBar, HTTPServer, utf8, 8bit.
const PARTS = /\p{Lu}+(?!\p{Ll}\p{M}*)|\p{Lu}?[\p{Ll}\p{M}\p{Lo}\p{Lm}\p{Lt}]+|\p{Lu}+|\p{N}+/gu;

const NOT_ASCII = /[^\0-\x7f]/;
const JOINTS = /[^a-z0-9]+/g;

/** Beyond this, all are forgotten after a text: names recur, but not those of the directory before this one. */
const REMEMBERED = 50_000;
const REMEMBERED_BYTES = 4 * 1024 * 1024;

interface Word {
  readonly text: string;
  /** In the text that is being counted. */
  count: number;
}

// Each word is there once, for all runs it is part of: incrementing its count is far less work than looking it up.
const words = new Map<string, Word>();
/** Null for parts that make no word. */
const ofParts = new Map<string, Word | null>();
const known = new WordTable({
  longest: LONGEST,
  run: RUN,
  wordsOf: (run) => wordsMadeOf(partsOf(run)),
  wordsOfName: (run) => wordsMadeOf(partsOfAscii(run)),
});

/**
 * Reports how often each word is there, in the order of their first appearance.
 *
 * @param text in UTF-8.
 */
export function countWords(text: Uint8Array, visit: (word: string, count: number) => void): void {
  const found: Word[] = [];
  known.count(text, (made, count) => {
    for (let at = 0; at < made.length; at += 1) {
      const word = made[at];
      if (word === undefined) continue;
      if (word.count === 0) found.push(word);
      word.count += count;
    }
  });
  for (const word of found) {
    visit(word.text, word.count);
    word.count = 0;
  }
  if (known.size <= REMEMBERED && known.bytes <= REMEMBERED_BYTES && words.size <= REMEMBERED) return;
  known.forget();
  words.clear();
  ofParts.clear();
}

/** The different words of a text, in the order of their first appearance. */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  countWords(Buffer.from(text), (word) => found.push(word));
  return found;
}

/**
 * The whole, as one word, and the words it is made of. By plain loops: `map` and `filter` make arrays of different
 * kinds, for each of which V8 compiled the word counting functions again, a twelfth of the time of a first index.
 */
function wordsMadeOf(parts: readonly string[]): readonly Word[] {
  const made: Word[] = [];
  if (parts.length > 1) addWord(made, wordFor(parts.join("")));
  for (let at = 0; at < parts.length; at += 1) addWord(made, wordOfPart(parts[at] ?? ""));
  return made;
}

function partsOf(run: string): readonly string[] {
  const parts: string[] = [];
  for (const part of run.match(PARTS) ?? []) parts.push(part.toLowerCase());
  return parts;
}

/** The same for ASCII letters, in a fraction of the time. */
function partsOfAscii(run: string): readonly string[] {
  const parts: string[] = [];
  const small = run.toLowerCase();
  for (let at = 0; at < run.length;) {
    const start = at;
    const kind = kindOf(run, at);
    while (at < run.length && kindOf(run, at) === kind) at += 1;
    if (kind === UPPER && kindOf(run, at) === LOWER) {
      // The last capital belongs to what follows.
      if (at - start > 1) parts.push(small.slice(start, at - 1));
      const first = at - 1;
      while (kindOf(run, at) === LOWER) at += 1;
      parts.push(small.slice(first, at));
    } else if (kind !== JOINT) parts.push(small.slice(start, at));
  }
  return parts;
}

const [JOINT, UPPER, LOWER, DIGIT] = [0, 1, 2, 3];

function kindOf(run: string, at: number): number {
  const code = run.charCodeAt(at);
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 48 && code <= 57 ? DIGIT : JOINT;
}

function addWord(made: Word[], word: Word | undefined): void {
  if (word !== undefined && !made.includes(word)) made.push(word);
}

/** Names are made of few parts; the ending of each part is removed once. */
function wordOfPart(part: string): Word | undefined {
  let word = ofParts.get(part);
  if (word === undefined) {
    word = wordFor(stem(part)) ?? null;
    ofParts.set(part, word);
  }
  return word ?? undefined;
}

function wordFor(text: string): Word | undefined {
  if (!isWord(text)) return undefined;
  let word = words.get(text);
  if (word === undefined) {
    word = { text, count: 0 };
    words.set(text, word);
  }
  return word;
}

/** A single Latin letter says nothing. */
function isWord(word: string): boolean {
  return word.length > 1 || word > "\u007f" || (word >= "0" && word <= "9");
}

/**
 * Whether a name may have one of some words; to be asked before `wordsOf`, which takes far longer. `stem` leaves the
 * beginning of a part, except for a "y".
 */
export function wordFinder(wanted: Iterable<string>): (name: string) => boolean {
  const beginnings = Array.from(wanted, (word) => (word.endsWith("y") ? word.slice(0, -1) : word));
  return (name) => {
    if (NOT_ASCII.test(name)) return true;
    const letters = name.toLowerCase().replaceAll(JOINTS, "");
    return beginnings.some((beginning) => letters.includes(beginning));
  };
}

/** Endings of English; that they sometimes belong to the stem does not matter, because both sides lose them. */
export function stem(word: string): string {
  let rest = word;
  if (rest.endsWith("ies") && rest.length > 4) rest = `${rest.slice(0, -3)}y`;
  else if (rest.endsWith("s") && rest.length > 3 && !/(?:ss|us|is)$/.test(rest)) rest = rest.slice(0, -1);
  const ending = /(?:ation|ing|ion|ed|er|or|e)$/.exec(rest);
  if (ending === null || ending.index < 4) return rest;
  rest = ending[0] === "ation" ? `${rest.slice(0, ending.index)}at` : rest.slice(0, ending.index);
  return /([^aeioulsz])\1$/.test(rest) ? rest.slice(0, -1) : rest;
}
