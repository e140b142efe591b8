/**
 * Counts the runs of a text: letters, digits and the characters that join them in names, and all characters outside
 * ASCII. A text has a tenth as many different runs as runs, and most of those were in the texts before it. So they are
 * looked up where they stand, by their bytes, and only a run that was never seen becomes a string and is split.
 *
 * The loop over all bytes (`countKnown`) works on numbers only and does nothing rare: it stops at a run it does not
 * know, and its caller adds the run. When it added them itself, V8 compiled it ten times in a first index, for strings
 * and arrays of other kinds, and most bytes were read by the slow code in between.
 */
import { integerAt } from "../../domain/values/number-at.ts";

interface RunRules<Word> {
  /** Longer runs do not count. */
  readonly longest: number;
  /** Finds runs in text that is not all ASCII. */
  readonly run: RegExp;
  readonly wordsOf: (run: string) => readonly Word[];
  /** The same for a run of ASCII. */
  readonly wordsOfName: (run: string) => readonly Word[];
}

/** Space for the names of some thousand files: whenever it grows, V8 compiles the counting functions again. */
const FIRST_SLOTS = 1 << 16;
const FIRST_BYTES = 1 << 20;

const NAME = 1;
const OTHER = 2;
/** The kind of a byte: part of a name in ASCII, part of another character, or neither. */
const KINDS = Uint8Array.from({ length: 256 }, (_, code) =>
  code > 127 ? OTHER : /[A-Za-z0-9_$]/.test(String.fromCharCode(code)) ? NAME : 0,
);

/** The runs that are known, by number, and how often each is in the text that is being counted. */
interface RunTable {
  readonly longest: number;
  /** Open addressing: the number of a run and one, or 0. */
  slots: Int32Array;
  hashes: Int32Array;
  /** Where a run ends in `bytes`, and the next one begins. */
  ends: Int32Array;
  bytes: Buffer;
  counts: Int32Array;
  /** The numbers of those that are in the text, in the order of their first appearance. */
  found: Int32Array;
  different: number;
}

export class WordTable<Word> {
  readonly #rules: RunRules<Word>;
  #table: RunTable;
  #words: (readonly Word[])[] = [];

  constructor(rules: RunRules<Word>) {
    this.#rules = rules;
    this.#table = emptyTable(rules.longest);
  }

  /** How many are known. */
  get size(): number {
    return this.#words.length;
  }

  /** How many bytes they take. */
  get bytes(): number {
    return integerAt(this.#table.ends, this.size - 1);
  }

  /** Reports for each different run how often it is there, in the order of their first appearance. */
  count(text: Uint8Array, visit: (words: readonly Word[], count: number) => void): void {
    const table = this.#table;
    for (let at = countKnown(table, text, 0); at < text.length; at = countKnown(table, text, at)) this.#learn(text, at);
    const { found, counts, different } = table;
    table.different = 0;
    for (let place = 0; place < different; place += 1) {
      const run = integerAt(found, place);
      const count = integerAt(counts, run);
      counts[run] = 0;
      visit(this.#words[run] ?? [], count);
    }
  }

  forget(): void {
    this.#words = [];
    this.#table = emptyTable(this.#rules.longest);
  }

  /** Adds the run that begins here; it is counted when `countKnown` continues. */
  #learn(text: Uint8Array, start: number): void {
    const table = this.#table;
    let end = start;
    let kinds = 0;
    for (; end < text.length; end += 1) {
      const kind = KINDS[text[end] ?? 0] ?? 0;
      if (kind === 0) break;
      kinds |= kind;
    }
    const number = this.#words.length;
    if (number === table.hashes.length) growNumbers(table);
    const from = number === 0 ? 0 : integerAt(table.ends, number - 1);
    const to = from + end - start;
    if (to > table.bytes.length) growBytes(table, to);
    const { bytes } = table;
    for (let at = from; at < to; at += 1) bytes[at] = text[start + at - from] ?? 0;
    const hash = hashOf(text, start, end);
    table.ends[number] = to;
    table.hashes[number] = hash;
    table.slots[freeSlot(table.slots, hash)] = number + 1;
    this.#words.push(
      kinds === NAME
        ? this.#rules.wordsOfName(bytes.toString("latin1", from, to))
        : this.#wordsOf(bytes.toString("utf8", from, to)),
    );
    if (this.#words.length * 2 > table.slots.length) spread(table, this.#words.length);
  }

  #wordsOf(text: string): readonly Word[] {
    const words: Word[] = [];
    for (const [run] of text.matchAll(this.#rules.run)) {
      if (run.length > this.#rules.longest) continue;
      // A string cut out of a longer one would keep all of that in memory.
      words.push(...this.#rules.wordsOf(Buffer.from(run).toString()));
    }
    return words;
  }
}

/** Counts from a place in the text on; returns where an unknown run begins, or where the text ends. */
function countKnown(table: RunTable, text: Uint8Array, from: number): number {
  const { slots, hashes, ends, bytes, counts, found, longest } = table;
  const { length } = text;
  const mask = slots.length - 1;
  let { different } = table;
  let at = from;
  while (at < length) {
    const start = at;
    let hash = 0;
    let kinds = 0;
    for (; at < length; at += 1) {
      const byte = text[at] ?? 0;
      const kind = KINDS[byte] ?? 0;
      if (kind === 0) break;
      kinds |= kind;
      hash = Math.imul(hash ^ byte, 0x0100_0193);
    }
    const size = at - start;
    at += 1;
    if (size === 0 || (kinds === NAME && size > longest)) continue;
    hash ^= hash >>> 15;
    let slot = hash & mask;
    let run = integerAt(slots, slot) - 1;
    while (run >= 0) {
      if (hashes[run] === hash) {
        const first = run === 0 ? 0 : integerAt(ends, run - 1);
        if (integerAt(ends, run) - first === size) {
          let same = 0;
          while (same < size && bytes[first + same] === text[start + same]) same += 1;
          if (same === size) break;
        }
      }
      slot = (slot + 1) & mask;
      run = integerAt(slots, slot) - 1;
    }
    if (run < 0) {
      table.different = different;
      return start;
    }
    const count = integerAt(counts, run);
    counts[run] = count + 1;
    if (count > 0) continue;
    found[different] = run;
    different += 1;
  }
  table.different = different;
  return length;
}

function emptyTable(longest: number): RunTable {
  const numbers = (length: number): Int32Array => new Int32Array(length);
  const half = FIRST_SLOTS / 2;
  return {
    longest,
    slots: numbers(FIRST_SLOTS),
    hashes: numbers(half),
    ends: numbers(half),
    bytes: Buffer.alloc(FIRST_BYTES),
    counts: numbers(half),
    found: numbers(half),
    different: 0,
  };
}

/** The hash that `countKnown` computes inline. */
function hashOf(text: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (text[at] ?? 0), 0x0100_0193);
  return hash ^ (hash >>> 15);
}

function freeSlot(slots: Int32Array, hash: number): number {
  let slot = hash & (slots.length - 1);
  while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
  return slot;
}

function growNumbers(table: RunTable): void {
  for (const column of ["hashes", "ends", "counts", "found"] as const) {
    const larger = new Int32Array(table[column].length * 2);
    larger.set(table[column]);
    table[column] = larger;
  }
}

function growBytes(table: RunTable, size: number): void {
  const larger = Buffer.alloc(Math.max(size, table.bytes.length * 2));
  larger.set(table.bytes);
  table.bytes = larger;
}

function spread(table: RunTable, runs: number): void {
  table.slots = new Int32Array(table.slots.length * 2);
  for (let run = 0; run < runs; run += 1) table.slots[freeSlot(table.slots, integerAt(table.hashes, run))] = run + 1;
}
