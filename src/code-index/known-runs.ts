/**
 * Counts the runs of a text: letters, digits and what joins them in names. A text has a tenth as many different runs as runs, and most of
 * those were in the texts before it. So they are looked up where they stand, by their characters, and only one of ASCII that was never
 * seen becomes a string and is taken apart. They are kept as bytes: a string cut out of a text would keep all of the text in memory.
 */

export interface Tally<Word> {
  readonly words: readonly Word[];
  /** In the text that is being counted. */
  count: number;
}

interface RunRules<Word> {
  /** Longer runs do not count. */
  readonly longest: number;
  /** Finds all runs, also those that are not ASCII. */
  readonly run: RegExp;
  readonly wordsOf: (run: string) => readonly Word[];
}

/** Room for the names of some thousand files: whenever it grows, V8 compiles anew whoever counts. */
const FIRST_SLOTS = 1 << 16;
const FIRST_BYTES = 1 << 20;

/** Which characters of ASCII belong to a run. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => (/[A-Za-z0-9_$]/.test(String.fromCharCode(code)) ? 1 : 0));

export class KnownRuns<Word> {
  readonly #rules: RunRules<Word>;
  /** Open addressing: the number of a run and one, or 0. */
  #slots = new Int32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  #ends = new Int32Array(FIRST_SLOTS / 2);
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #tallies: Tally<Word>[] = [];

  constructor(rules: RunRules<Word>) {
    this.#rules = rules;
  }

  /** How many are known. */
  get size(): number {
    return this.#tallies.length;
  }

  /**
   * The runs of a text in the order of their first appearance; one that also stands directly beside characters of other alphabets has
   * two tallies. Whoever has read the counts sets them to 0.
   */
  count(text: string): readonly Tally<Word>[] {
    const found: Tally<Word>[] = [];
    const others = new Map<string, Tally<Word>>();
    const { length } = text;
    for (let at = 0; at < length; at += 1) {
      const start = at;
      let hash = 0;
      let isAscii = true;
      for (; at < length; at += 1) {
        const code = text.charCodeAt(at);
        if (code > 127) isAscii = false;
        else if (IN_RUN[code] === 0) break;
        hash = Math.imul(hash ^ code, 0x0100_0193);
      }
      if (at === start) continue;
      if (!isAscii) this.#countOthers(text.slice(start, at), others, found);
      else if (at - start <= this.#rules.longest) {
        const tally = this.#find(text, start, at, hash ^ (hash >>> 15));
        if (tally.count === 0) found.push(tally);
        tally.count += 1;
      }
    }
    return found;
  }

  #countOthers(text: string, others: Map<string, Tally<Word>>, found: Tally<Word>[]): void {
    for (const [run] of text.matchAll(this.#rules.run)) {
      if (run.length > this.#rules.longest) continue;
      let tally = others.get(run);
      if (tally === undefined) {
        tally = { words: this.#rules.wordsOf(run), count: 0 };
        others.set(run, tally);
        found.push(tally);
      }
      tally.count += 1;
    }
  }

  #find(text: string, start: number, end: number, hash: number): Tally<Word> {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const run = (this.#slots[slot] ?? 0) - 1;
      if (run < 0) return this.#add(text.slice(start, end), hash, slot);
      const tally = this.#tallies[run];
      if (tally !== undefined && this.#hashes[run] === hash && this.#is(run, text, start, end)) return tally;
    }
  }

  /** To be called when no tally is in use. */
  forget(): void {
    this.#tallies = [];
    this.#slots = new Int32Array(FIRST_SLOTS);
    this.#hashes = new Int32Array(FIRST_SLOTS / 2);
    this.#ends = new Int32Array(FIRST_SLOTS / 2);
    this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
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

  #add(run: string, hash: number, slot: number): Tally<Word> {
    const number = this.#tallies.length;
    const from = this.#startOf(number);
    if (number === this.#hashes.length) this.#grow();
    if (from + run.length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    this.#bytes.write(run, from, "latin1");
    this.#hashes[number] = hash;
    this.#ends[number] = from + run.length;
    this.#slots[slot] = number + 1;
    const tally: Tally<Word> = {
      words: this.#rules.wordsOf(this.#bytes.toString("latin1", from, from + run.length)),
      count: 0,
    };
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
