/**
 * Names of ASCII that were seen before, with the words they are made of. They are found by their characters in a text, without a string
 * being made of them, and kept as bytes: a string cut out of a text would keep all of the text in memory.
 */

export interface Tally {
  readonly words: readonly string[];
  /** In the text that is being counted. */
  count: number;
}

/** More are forgotten after a text: names come again and again, but not those of the directory before this one. */
const REMEMBERED = 50_000;
const FIRST_SLOTS = 1 << 12;

export class KnownRuns {
  readonly #wordsOf: (run: string) => readonly string[];
  readonly #most: number;
  /** Open addressing: the number of a run and one, or 0. */
  #slots = new Int32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  #ends = new Int32Array(FIRST_SLOTS / 2);
  #bytes = Buffer.allocUnsafeSlow(FIRST_SLOTS * 8);
  #tallies: Tally[] = [];

  constructor(wordsOf: (run: string) => readonly string[], most = REMEMBERED) {
    this.#wordsOf = wordsOf;
    this.#most = most;
  }

  /** The tally of the run from `start` to `end`, which is ASCII. */
  find(text: string, start: number, end: number): Tally {
    let hash = end - start;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const run = (this.#slots[slot] ?? 0) - 1;
      if (run < 0) return this.#add(text.slice(start, end), hash, slot);
      if (this.#hashes[run] === hash && this.#is(run, text, start, end)) return this.#tallies[run] as Tally;
    }
  }

  /** To be called when no tally is in use. */
  shrink(): void {
    if (this.#tallies.length <= this.#most) return;
    this.#tallies = [];
    this.#slots = new Int32Array(FIRST_SLOTS);
    this.#hashes = new Int32Array(FIRST_SLOTS / 2);
    this.#ends = new Int32Array(FIRST_SLOTS / 2);
    this.#bytes = Buffer.allocUnsafeSlow(FIRST_SLOTS * 8);
  }

  #is(run: number, text: string, start: number, end: number): boolean {
    const from = this.#startOf(run);
    if ((this.#ends[run] ?? 0) - from !== end - start) return false;
    for (let at = start; at < end; at += 1) if (this.#bytes[from + at - start] !== text.charCodeAt(at)) return false;
    return true;
  }

  #startOf(run: number): number {
    return run === 0 ? 0 : (this.#ends[run - 1] ?? 0);
  }

  #add(run: string, hash: number, slot: number): Tally {
    const number = this.#tallies.length;
    const from = this.#startOf(number);
    if (number === this.#hashes.length) this.#grow();
    if (from + run.length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    this.#bytes.latin1Write(run, from);
    this.#hashes[number] = hash;
    this.#ends[number] = from + run.length;
    this.#slots[slot] = number + 1;
    const tally: Tally = { words: this.#wordsOf(this.#bytes.latin1Slice(from, from + run.length)), count: 0 };
    this.#tallies.push(tally);
    if (this.#tallies.length * 2 > this.#slots.length) this.#spread();
    return tally;
  }

  #grow(): void {
    const [hashes, ends] = [new Int32Array(this.#hashes.length * 2), new Int32Array(this.#ends.length * 2)];
    hashes.set(this.#hashes);
    ends.set(this.#ends);
    [this.#hashes, this.#ends] = [hashes, ends];
  }

  #spread(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let run = 0; run < this.#tallies.length; run += 1) {
      let slot = (this.#hashes[run] ?? 0) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = run + 1;
    }
  }
}
