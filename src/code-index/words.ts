/**
 * Text as search sees it: names are words ("session_store" and "SessionStore" are the same one) and are also split into the words they
 * are made of; endings go, so that "validated" finds `validateToken`. Both sides of a search go through here, and what comes out
 * holds nothing but letters and digits, so no query can say anything to the search engine but words.
 */

import { KnownRuns, type Tally } from "./known-runs.ts";

/** Longer ones are data: keys, hashes, encoded files. */
const LONGEST = 64;

// Letters, digits and what joins them in names.
const RUN = /[\p{L}\p{M}\p{N}_$]+/gu;
const ASCII_RUN = /[A-Za-z0-9_$]/;
// Where a new word begins inside a name: fooBar, HTTPServer, utf8, 8bit.
const PARTS = /\p{Lu}+(?!\p{Ll}\p{M}*)|\p{Lu}?[\p{Ll}\p{M}\p{Lo}\p{Lm}\p{Lt}]+|\p{Lu}+|\p{N}+/gu;

/** Which characters of ASCII belong to a run. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => (ASCII_RUN.test(String.fromCharCode(code)) ? 1 : 0));

const known = new KnownRuns(wordsOfRun);

/**
 * How often each word is there. A text is a tenth as many different names as names, and most of those were in the texts before it: so
 * names are looked up where they stand, by their characters, and only one that was never seen becomes a string and is split.
 */
export function countWords(text: string): Map<string, number> {
  const tallies: Tally[] = [];
  const others = new Map<string, Tally>();
  const count = (tally: Tally): void => {
    if (tally.count === 0) tallies.push(tally);
    tally.count += 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const start = at;
    let isAscii = true;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 127) isAscii = false;
      else if (IN_RUN[code] === 0) break;
    }
    if (at === start) continue;
    if (isAscii) {
      if (at - start <= LONGEST) count(known.find(text, start, at));
      continue;
    }
    for (const run of text.slice(start, at).match(RUN) ?? []) {
      let tally = others.get(run);
      if (tally === undefined) others.set(run, (tally = { words: wordsOfRun(run), count: 0 }));
      count(tally);
    }
  }
  return sumOf(tallies);
}

function sumOf(tallies: readonly Tally[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const tally of tallies) {
    for (const word of tally.words) counts.set(word, (counts.get(word) ?? 0) + tally.count);
    tally.count = 0;
  }
  known.shrink();
  return counts;
}

/** The different words of a text, in the order of their first appearance. */
export function wordsOf(text: string): string[] {
  return [...countWords(text).keys()];
}

/** The whole, as one word, and the words it is made of. */
function wordsOfRun(run: string): readonly string[] {
  return run.length > LONGEST ? [] : split(run);
}

function split(run: string): readonly string[] {
  const parts = (run.match(PARTS) ?? []).map((part) => part.toLowerCase());
  if (parts.length === 1) return parts.map(stem).filter(isWord);
  const words = new Set([parts.join(""), ...parts.map(stem)].filter(isWord));
  return [...words];
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
