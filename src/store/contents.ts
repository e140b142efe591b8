import { hash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StoreError } from "../domain/errors.ts";
import type { Store, Tx } from "./store.ts";

/**
 * The contents of files, addressed by their SHA-256 and stored once. Up to 256 KiB they are in the database, committed together
 * with the row that points at them (measured: 0.9–1.6 times a bare write and fsync, where a file each costs 2.5–4.5 times). Larger
 * ones are files, made durable before that row exists: a row never points at nothing, and a file nobody points at is only garbage.
 */
const INLINE_LIMIT = 256 * 1024;

export interface StagedContent {
  readonly hash: string;
  /** Adds the row; in the transaction of the row that points at it. */
  readonly commit: (tx: Tx) => Promise<void>;
}

export function contentHash(bytes: Uint8Array): string {
  return hash("sha256", bytes);
}

/** Prepares a content outside any transaction; what takes long happens here. */
export async function stageContent(
  store: Store,
  bytes: Uint8Array,
  hash: string = contentHash(bytes),
): Promise<StagedContent> {
  const inline = store.contentDirectory === undefined || bytes.byteLength <= INLINE_LIMIT;
  if (!inline) await writeDurably(fileOf(store.contentDirectory, hash), bytes);
  const commit = async (tx: Tx): Promise<void> => {
    await tx.run(
      "INSERT INTO contents (hash, size, bytes) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
      hash,
      bytes.byteLength,
      inline ? bytes : null,
    );
  };
  return { hash, commit };
}

/** How many are asked for in one statement. */
const PORTION = 200;

/**
 * Adds the rows of many contents, most of which are there already, as those of an apply are: to ask which are takes a tenth of the
 * time that offering the bytes of all of them does.
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

/** The bytes of recorded contents in any order, checked against their hashes; those that were never stored are left out. */
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
      const bytes = row.bytes ?? (await readStored(store, row.hash));
      if (bytes === undefined || contentHash(bytes) !== row.hash) throw damaged(row.hash, bytes === undefined);
      yield [row.hash, bytes];
    }
  }
}

function damaged(hash: string, missing: boolean): StoreError {
  return new StoreError("store_corrupt", `The stored content ${hash} is ${missing ? "missing" : "damaged"}.`, {
    kept: "Nothing was changed.",
    next: ["restore the data directory from a backup"],
    detail: { hash },
  });
}

async function readStored(store: Store, hash: string): Promise<Uint8Array | undefined> {
  if (store.contentDirectory === undefined) return undefined;
  try {
    return await readFile(fileOf(store.contentDirectory, hash));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function fileOf(directory: string, hash: string): string {
  return join(directory, hash.slice(0, 2), hash);
}

/** Written under another name, synced, renamed, and the directory synced: the name exists only with all of its bytes. */
async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const known = await stat(file).catch(() => undefined);
  if (known?.size === bytes.byteLength) return;
  const directory = dirname(file);
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await using handle = await open(temporary, "wx", 0o600);
    await handle.writeFile(bytes);
    await handle.sync();
    await rename(temporary, file);
  } catch (error) {
    // The first failure is the one to tell; a left-over that cannot be removed either is only garbage.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unwritable(error, file);
  }
  for (const one of [directory, dirname(directory)]) {
    await using handle = await open(one, "r");
    await handle.sync();
  }
}

function unwritable(error: unknown, file: string): StoreError {
  const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
  const why = full ? "there is no space left" : String(error);
  return new StoreError(full ? "store_full" : "store_failed", `The content ${file} cannot be written: ${why}.`, {
    cause: error,
    kept: "Everything acknowledged before is kept; this request was not carried out.",
    next: ["free some space, then try again", "agents diagnostics"],
  });
}
