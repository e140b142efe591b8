/**
 * What was unpacked of contents lately, in this thread. Several strategies ask about the same files, and so does whoever checks what they
 * found; after an edit all files but one are as they were. A content is known by hash and language, which say everything
 * about it, so one memory serves all indexes and scopes: a scope decides which files one may ask about, before this is asked.
 */

/** In bytes as they are packed, or characters of text; in memory it is a few times as much. */
const MOST = 8 * 1024 * 1024;

export class Unpacked<Value> {
  /** The latest last. */
  readonly #known = new Map<string, { readonly value: Value; readonly size: number }>();
  readonly #most: number;
  #size = 0;

  constructor(most = MOST) {
    this.#most = most;
  }

  /** From memory, or made and remembered; what was not asked for the longest gives way. */
  get(key: string, make: () => { readonly value: Value; readonly size: number }): Value {
    let entry = this.#known.get(key);
    if (entry === undefined) {
      entry = make();
      this.#size += entry.size;
    } else {
      this.#known.delete(key);
    }
    this.#known.set(key, entry);
    for (const [oldest, { size }] of this.#known) {
      if (this.#size <= this.#most) break;
      this.#known.delete(oldest);
      this.#size -= size;
    }
    return entry.value;
  }
}
