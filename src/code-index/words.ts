/**
 * Text as search sees it: names are words ("session_store" and "SessionStore" are the same one) and are also split into the words they
 * are made of; endings go, so that "validated" finds `validateToken`. Both sides of a search go through here, and what comes out
 * holds nothing but letters and digits, so no query can say anything to the search engine but words.
 */

/** Longer ones are data: keys, hashes, encoded files. */
const LONGEST = 64;
/** So much is looked through at once. */
const PIECE = 65_536;
/** What has been split is remembered, up to this many: names come again and again. */
const REMEMBERED = 50_000;

// Letters, digits and what joins them in names.
const RUN = /[\p{L}\p{M}\p{N}_$]+/gu;
const ASCII_RUN = /[A-Za-z0-9_$]+/g;
// oxlint-disable-next-line no-control-regex -- exactly the characters of ASCII
const ASCII = /^[\u0000-\u007f]*$/;
// Where a new word begins inside a name: fooBar, HTTPServer, utf8, 8bit.
const PARTS = /\p{Lu}+(?!\p{Ll}\p{M}*)|\p{Lu}?[\p{Ll}\p{M}\p{Lo}\p{Lm}\p{Lt}]+|\p{Lu}+|\p{N}+/gu;

const BETWEEN_NAMES = /[\s(){}[\];,]/;

const remembered = new Map<string, readonly string[]>();

/** How often each word is there. */
export function countWords(text: string): Map<string, number> {
  const runs = new Map<string, number>();
  for (const piece of piecesOf(text)) {
    for (const run of piece.match(ASCII.test(piece) ? ASCII_RUN : RUN) ?? []) runs.set(run, (runs.get(run) ?? 0) + 1);
  }
  const counts = new Map<string, number>();
  for (const [run, count] of runs) {
    for (const word of wordsOfRun(run)) counts.set(word, (counts.get(word) ?? 0) + count);
  }
  return counts;
}

/** All matches of a large text at once would fill the memory of a thread, and one by one they take three times as long. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(text.length, from + PIECE);
    // Not in the middle of a name; one that is longer than any word may be cut.
    const last = Math.min(text.length, to + LONGEST);
    while (to < last && !BETWEEN_NAMES.test(text[to] ?? "")) to += 1;
    yield text.slice(from, to);
  }
}

/** The different words of a text, in the order of their first appearance. */
export function wordsOf(text: string): string[] {
  return [...countWords(text).keys()];
}

/** The whole, as one word, and the words it is made of. */
function wordsOfRun(run: string): readonly string[] {
  const known = remembered.get(run);
  if (known !== undefined) return known;
  const words = run.length > LONGEST ? [] : split(run);
  if (remembered.size >= REMEMBERED) remembered.clear();
  remembered.set(run, words);
  return words;
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
