/**
 * The contents of files, addressed by their SHA-256 and stored once: the owner of the table `contents`. Each content
 * has a row; its bytes are in that row or where the store's content port put them before the row existed. A row never
 * points at nothing, and bytes without a row are only garbage.
 */
import { hash } from "node:crypto";
import { StoreError } from "../../domain/errors/errors.ts";
import type { Store, Tx } from "../port.ts";

export interface StagedContent {
  readonly hash: string;
  /** Adds the row; called in the transaction of the row that points at it. */
  readonly commit: (tx: Tx) => Promise<void>;
}

export function contentHash(bytes: Uint8Array): string {
  return hash("sha256", bytes);
}

/** Prepares a content outside any transaction; the slow part happens here. */
export async function stageContent(
  store: Store,
  bytes: Uint8Array,
  hash: string = contentHash(bytes),
): Promise<StagedContent> {
  const inRow = await store.contents.place(hash, bytes);
  const commit = async (tx: Tx): Promise<void> => {
    await tx.run(
      "INSERT INTO contents (hash, size, bytes) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
      hash,
      bytes.byteLength,
      inRow ? bytes : null,
    );
  };
  return { hash, commit };
}

/** How many are asked for in one statement. */
const PORTION = 200;

/**
 * Adds the rows of many contents, most of which are there already, as those of an apply are: asking which ones are
 * there takes a tenth of the time that offering the bytes of all of them does.
 */
export async function commitContents(tx: Tx, staged: readonly StagedContent[]): Promise<void> {
  for (let at = 0; at < staged.length; at += PORTION) {
    const portion = staged.slice(at, at + PORTION);
    const rows = await tx.all<{ hash: string }>(
      `SELECT hash FROM contents WHERE hash IN (${portion.map(() => "?").join(", ")})`,
      ...portion.map(({ hash }) => hash),
    );
    const known = new Set(rows.map(({ hash }) => hash));
    for (const content of portion) if (!known.has(content.hash)) await content.commit(tx);
  }
}

/**
 * The bytes of recorded contents in any order, checked against their hashes; those that were never stored are left out.
 */
export async function* readContents(
  store: Store,
  hashes: readonly string[],
): AsyncGenerator<readonly [hash: string, bytes: Uint8Array]> {
  for (let at = 0; at < hashes.length; at += PORTION) {
    const portion = hashes.slice(at, at + PORTION);
    const rows = await store.read((reader) =>
      reader.all<{ hash: string; bytes: Uint8Array | null }>(
        `SELECT hash, bytes FROM contents WHERE hash IN (${portion.map(() => "?").join(", ")})`,
        ...portion,
      ),
    );
    for (const row of rows) {
      const bytes = row.bytes ?? (await store.contents.fetch(row.hash));
      if (bytes === undefined || contentHash(bytes) !== row.hash) throw damagedError(row.hash, bytes === undefined);
      yield [row.hash, bytes];
    }
  }
}

function damagedError(hash: string, missing: boolean): StoreError {
  return new StoreError("store_corrupt", `The stored content ${hash} is ${missing ? "missing" : "damaged"}.`, {
    kept: "Nothing was changed.",
    next: [{ text: "restore the data directory from a backup" }],
    detail: { hash },
  });
}
