/**
 * The content port of PostgreSQL: machines share no disk, so every content is in the database. Up to 1 MiB it is in its
 * row; a larger one is in parts, each written by a unit of its own before the row exists, so that no statement carries
 * more than a few megabytes.
 */
import type { ContentPort, Reader, Tx, UnitOptions } from "../port.ts";

const PART_BYTES = 1024 * 1024;

export interface ContentRows {
  transaction<T>(unit: (tx: Tx) => Promise<T>, options?: UnitOptions): Promise<T>;
  read<T>(query: (reader: Reader) => Promise<T>): Promise<T>;
}

export class RowContents implements ContentPort {
  readonly #store: ContentRows;

  constructor(store: ContentRows) {
    this.#store = store;
  }

  async place(hash: string, bytes: Uint8Array): Promise<boolean> {
    if (bytes.byteLength <= PART_BYTES) return true;
    for (let position = 0; position * PART_BYTES < bytes.byteLength; position += 1) {
      const part = bytes.subarray(position * PART_BYTES, (position + 1) * PART_BYTES);
      await this.#store.transaction(
        (tx) =>
          tx.run(
            "INSERT INTO content_parts (hash, position, bytes) VALUES (?, ?, ?) ON CONFLICT (hash, position) DO NOTHING",
            hash,
            position,
            part,
          ),
        { lane: `content ${hash}` },
      );
    }
    return false;
  }

  async fetch(hash: string): Promise<Uint8Array | undefined> {
    const parts = await this.#store.read((reader) =>
      reader.all<{ bytes: Uint8Array }>("SELECT bytes FROM content_parts WHERE hash = ? ORDER BY position", hash),
    );
    return parts.length === 0 ? undefined : Buffer.concat(parts.map(({ bytes }) => bytes));
  }
}
