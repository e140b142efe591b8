/**
 * The recently unpacked values of contents, in this thread. Several strategies ask about the same files, and so does
 * the vetting of their fragments; after an edit all files but one are unchanged. A content is identified by hash and
 * language, which determine everything about it, so one cache serves all indexes and scopes: a scope decides which
 * files a caller may ask about, before this cache is asked.
 */

/** In bytes as they are packed, or characters of text; in memory it is a few times as much. */
const MOST = 8 * 1024 * 1024;

export class SizedLru<Value> {
  /** The latest last. */
  readonly #known = new Map<string, { readonly value: Value; readonly size: number }>();
  readonly #most: number;
  #size = 0;

  constructor(most = MOST) {
    this.#most = most;
  }

  /** From the cache, or made and stored; the entry that was unused the longest is dropped. */
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
