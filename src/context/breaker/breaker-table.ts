/**
 * The shared memory of a circuit breaker: for each name two 64-bit words in one SharedArrayBuffer.
 *
 *     word      generation (32) │ failure count (24) │ cooldown step (6) │ phase (2)
 *     deadline  tag (22)        │ time in milliseconds (42)
 *
 * **The word** holds everything that is decided, and it changes only by compare-exchange: two separate words could end
 * up at "open, no failures". The generation rises with every change of phase and with every reset, so a result that
 * belongs to an earlier phase can be recognized.
 *
 * **The deadline** says when the current phase ends: the cooldown of an open breaker, the time limit of a probe. It
 * does not fit into the word, so it carries the low bits of the generation it belongs to; with any other tag it is *not
 * yet published*. The thread that won the word publishes it next, but between the two writes it may be terminated or
 * put to sleep. Therefore
 *
 * - any reader that finds the deadline of the current generation unpublished publishes `now + duration` itself (the
 *   duration follows from the word), so a terminated thread cannot leave a breaker open for ever;
 * - publishing is a compare-exchange on the unpublished value, so the first one counts and a thread that wakes up late
 *   cannot move it. If the word has changed meanwhile, the late deadline carries a tag that no reader looks for and is
 *   overwritten by the next one.
 *
 * A tag repeats after 4,194,304 generations. To mistake an old deadline for a current one, a name would have to be
 * reset exactly that often (or a multiple) between two openings; it would then admit a probe early, and nothing worse.
 *
 * **Reading without BigInt.** A 64-bit load allocates, so readers load the 32-bit halves: high, low, high again. The
 * high half of either word never takes the same value twice (generation and tag), so equal highs mean that the low one
 * belongs to them. The language promises less for mixed widths than the processors do (x64 and arm64 never tear an
 * aligned word); if a read ever tears, every write still compares all 64 bits, so it could reject or admit one call
 * wrongly but never corrupt the word.
 */
import { endianness } from "node:os";
import { ValidationError } from "../../domain/errors/errors.ts";
import { BreakerNames } from "./breaker-names.ts";

/** The operations on its memory that the breaker needs. */
export interface BreakerMemory {
  readonly buffer: SharedArrayBuffer;
  readonly names: BreakerNames;
  /** High half of the word. */
  generation(slot: number): number;
  /** Low half of the word; see breaker-word.ts. */
  low(slot: number): number;
  /** Replaces the whole word if it still is what the caller saw. */
  replace(slot: number, generation: number, low: number, nextGeneration: number, nextLow: number): boolean;
  /** When the phase of this generation ends, or -1 if that is not published. */
  deadline(slot: number, generation: number): number;
  /**
   * Publishes unless another thread has; returns the deadline that counts, or -1 if the word is of another generation
   * by now.
   */
  publishDeadline(slot: number, generation: number, at: number): number;
}

const MAGIC = 0x43_42_52_31;
export const HEADER_BYTES = 64;
// One cache line per name: neighbors in the table do not slow each other down.
const SLOT_BYTES = 64;
export const SLOT_WORDS = SLOT_BYTES / 8;
const SLOT_HALVES = SLOT_BYTES / 4;

const LOW = endianness() === "LE" ? 0 : 1;
const HIGH = 1 - LOW;
const DEADLINE_LOW = 2 + LOW;
const DEADLINE_HIGH = 2 + HIGH;

export const TAG_MASK = 0x3f_ffff;
const TIME_HIGH_BITS = 10;
const TIME_HIGH_MASK = 0x3ff;
export const TIME_BITS = 42n;
const MAX_TIME = 2 ** 42 - 1;

export class BreakerTable implements BreakerMemory {
  readonly buffer: SharedArrayBuffer;
  readonly names: BreakerNames;
  readonly #halves: Int32Array;
  readonly #words: BigUint64Array;
  // Two words of private memory in which halves become a BigInt: one allocation instead of the four of shift-and-or.
  readonly #scratchHalves = new Int32Array(4);
  readonly #scratchWords = new BigUint64Array(this.#scratchHalves.buffer);

  static create(capacity: number): BreakerTable {
    const buffer = new SharedArrayBuffer(byteLength(capacity));
    new Int32Array(buffer, 0, 2).set([MAGIC, capacity]);
    return new BreakerTable(buffer, capacity);
  }

  constructor(buffer: SharedArrayBuffer, capacity: number) {
    const header = buffer.byteLength === byteLength(capacity) ? new Int32Array(buffer, 0, 2) : undefined;
    if (header?.[0] !== MAGIC || header[1] !== capacity) {
      throw new ValidationError("This is not the shared memory of a circuit breaker.", [
        { path: "buffer", message: `must be made by a circuit breaker for ${capacity} names` },
      ]);
    }
    this.buffer = buffer;
    this.names = new BreakerNames(buffer, HEADER_BYTES + capacity * SLOT_BYTES, capacity);
    this.#halves = new Int32Array(buffer, HEADER_BYTES, capacity * SLOT_HALVES);
    this.#words = new BigUint64Array(buffer, HEADER_BYTES, capacity * SLOT_WORDS);
  }

  generation(slot: number): number {
    return Atomics.load(this.#halves, slot * SLOT_HALVES + HIGH);
  }

  low(slot: number): number {
    return Atomics.load(this.#halves, slot * SLOT_HALVES + LOW);
  }

  replace(slot: number, generation: number, low: number, nextGeneration: number, nextLow: number): boolean {
    const halves = this.#scratchHalves;
    halves[LOW] = low;
    halves[HIGH] = generation;
    halves[2 + LOW] = nextLow;
    halves[2 + HIGH] = nextGeneration;
    const expected = this.#scratchWords[0] ?? 0n;
    const next = this.#scratchWords[1] ?? 0n;
    return Atomics.compareExchange(this.#words, slot * SLOT_WORDS, expected, next) === expected;
  }

  deadline(slot: number, generation: number): number {
    const at = slot * SLOT_HALVES;
    for (;;) {
      const high = Atomics.load(this.#halves, at + DEADLINE_HIGH);
      const low = Atomics.load(this.#halves, at + DEADLINE_LOW);
      if (Atomics.load(this.#halves, at + DEADLINE_HIGH) !== high) continue;
      if (high >>> TIME_HIGH_BITS !== (generation & TAG_MASK)) return -1;
      return (high & TIME_HIGH_MASK) * 2 ** 32 + (low >>> 0);
    }
  }

  publishDeadline(slot: number, generation: number, at: number): number {
    const index = slot * SLOT_WORDS + 1;
    const tag = BigInt(generation & TAG_MASK);
    const time = Math.min(Math.max(Math.ceil(at), 0), MAX_TIME);
    for (;;) {
      const seen = Atomics.load(this.#words, index);
      if (seen >> TIME_BITS === tag) return Number(BigInt.asUintN(Number(TIME_BITS), seen));
      // Only now: a deadline read while the word still has our generation is older than ours, never newer.
      if (this.generation(slot) !== generation) return -1;
      const mine = (tag << TIME_BITS) | BigInt(time);
      if (Atomics.compareExchange(this.#words, index, seen, mine) === seen) return time;
    }
  }
}

function byteLength(capacity: number): number {
  return HEADER_BYTES + capacity * SLOT_BYTES + BreakerNames.byteLength(capacity);
}
