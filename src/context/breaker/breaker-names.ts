/**
 * The names of a breaker table, interned in shared memory: a name gets the same slot in every thread, permanently.
 *
 * A thread may be terminated between any two instructions, so there is no state in which others would have to wait for
 * it. A new name reserves a record with one atomic addition, its thread fills the record while it is invisible to
 * others, and publishes it with one compare-exchange on an empty place of the hash index. A thread that loses that
 * exchange compares the winner's name with its own and either shares the slot or continues with the next place. Entries
 * are never removed, so a search may stop at the first empty place.
 *
 * Records have one size, so that the record of a thread that lost can serve its next name. A thread thus wastes at most
 * one record, and there are twice as many as names: the table is full when its names are, not before.
 */
import { BreakerFullError, ValidationError } from "../../domain/errors/errors.ts";

const MAX_NAME_BYTES = 200;
const RECORD_HEADER_BYTES = 8;
const RECORD_BYTES = RECORD_HEADER_BYTES + MAX_NAME_BYTES;
const RECORDS_PER_NAME = 2;
const CURSOR_BYTES = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class BreakerNames {
  readonly #capacity: number;
  readonly #recordCount: number;
  /** One element: how many records were ever reserved. */
  readonly #cursor: Int32Array;
  /** Place → record number + 1, or 0. The place is the slot. */
  readonly #index: Int32Array;
  /** Per record: hash, length in bytes, then the bytes. */
  readonly #headers: Int32Array;
  readonly #bytes: Uint8Array;
  /** A record this instance reserved and did not need (number + 1), or 0. */
  #spare = 0;

  static byteLength(capacity: number): number {
    return CURSOR_BYTES + capacity * 4 + capacity * RECORDS_PER_NAME * RECORD_BYTES;
  }

  constructor(buffer: SharedArrayBuffer, byteOffset: number, capacity: number) {
    const recordsAt = byteOffset + CURSOR_BYTES + capacity * 4;
    this.#capacity = capacity;
    this.#recordCount = capacity * RECORDS_PER_NAME;
    this.#cursor = new Int32Array(buffer, byteOffset, 1);
    this.#index = new Int32Array(buffer, byteOffset + CURSOR_BYTES, capacity);
    this.#headers = new Int32Array(buffer, recordsAt, (this.#recordCount * RECORD_BYTES) / 4);
    this.#bytes = new Uint8Array(buffer, recordsAt, this.#recordCount * RECORD_BYTES);
  }

  /** The slot of a name that was interned before, or -1. Writes nothing. */
  find(name: string): number {
    if (!isInternable(name)) return -1;
    const bytes = encoder.encode(name);
    const hash = hashOf(bytes);
    for (let i = 0; i < this.#capacity; i++) {
      const place = ((hash >>> 0) + i) % this.#capacity;
      const record = Atomics.load(this.#index, place);
      if (record === 0) return -1;
      if (this.#holds(record, hash, bytes)) return place;
    }
    return -1;
  }

  /** The slot of a name, which is interned if necessary. */
  intern(name: string): number {
    if (!isInternable(name)) throw invalidNameError(name);
    const bytes = encoder.encode(name);
    const hash = hashOf(bytes);
    let mine = 0;
    for (let i = 0; i < this.#capacity; i++) {
      const place = ((hash >>> 0) + i) % this.#capacity;
      let there = Atomics.load(this.#index, place);
      if (there === 0) {
        if (mine === 0) mine = this.#write(hash, bytes);
        there = Atomics.compareExchange(this.#index, place, 0, mine);
        if (there === 0) return place;
      }
      if (this.#holds(there, hash, bytes)) {
        if (mine !== 0) this.#spare = mine;
        return place;
      }
    }
    if (mine !== 0) this.#spare = mine;
    throw new BreakerFullError(this.#capacity);
  }

  /** Every interned name with its slot, as of now. */
  entries(): { name: string; slot: number }[] {
    const entries: { name: string; slot: number }[] = [];
    for (let slot = 0; slot < this.#capacity; slot++) {
      const record = Atomics.load(this.#index, slot);
      if (record !== 0) entries.push({ name: this.#nameOf(record), slot });
    }
    return entries;
  }

  #write(hash: number, bytes: Uint8Array): number {
    const record = this.#spare === 0 ? this.#reserve() : this.#spare;
    this.#spare = 0;
    const at = (record - 1) * RECORD_BYTES;
    this.#headers[at / 4] = hash;
    this.#headers[at / 4 + 1] = bytes.length;
    this.#bytes.set(bytes, at + RECORD_HEADER_BYTES);
    return record;
  }

  #reserve(): number {
    // The check before the addition keeps callers that retry on a full table from overflowing the cursor.
    if (Atomics.load(this.#cursor, 0) >= this.#recordCount) throw new BreakerFullError(this.#capacity);
    const record = Atomics.add(this.#cursor, 0, 1);
    if (record >= this.#recordCount) throw new BreakerFullError(this.#capacity);
    return record + 1;
  }

  #holds(record: number, hash: number, bytes: Uint8Array): boolean {
    const at = (record - 1) * RECORD_BYTES;
    if (this.#headers[at / 4] !== hash || this.#headers[at / 4 + 1] !== bytes.length) return false;
    for (let i = 0; i < bytes.length; i++) {
      if (this.#bytes[at + RECORD_HEADER_BYTES + i] !== bytes[i]) return false;
    }
    return true;
  }

  #nameOf(record: number): string {
    const at = (record - 1) * RECORD_BYTES;
    const length = this.#headers[at / 4 + 1] ?? 0;
    // A decoder refuses shared memory, hence the copy.
    return decoder.decode(this.#bytes.slice(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length));
  }
}

/** A lone surrogate has no UTF-8 form: it would share its bytes, and so its breaker, with other names. */
function isInternable(name: string): boolean {
  return name !== "" && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

function invalidNameError(name: string): ValidationError {
  return new ValidationError("The name of a circuit is not valid.", [
    {
      path: "name",
      message: `must be 1 to ${MAX_NAME_BYTES} bytes of well-formed text, not ${JSON.stringify(name.slice(0, 60))}`,
    },
  ]);
}

/**
 * FNV-1a, as a signed 32-bit number like the elements it is compared with. Exported for tests, which make names
 * collide.
 */
export function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 | 0;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}
