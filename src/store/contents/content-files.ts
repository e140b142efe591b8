/**
 * The two content ports of the SQLite driver. In memory every content is in its row. Beside a file, contents of up to
 * 256 KiB are in the database, committed together with the row that points at them (measured: 0.9–1.6 times a bare
 * write and fsync, where a file for each costs 2.5–4.5 times); larger ones are files in a directory, made durable
 * before their row exists.
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StoreError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { ContentPort } from "../port.ts";

const INLINE_LIMIT = 256 * 1024;

/** Every content is in its row. */
export const ROW_CONTENTS: ContentPort = {
  place: () => Promise.resolve(true),
  fetch: () => Promise.resolve(undefined),
};

export class FileContents implements ContentPort {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async place(hash: string, bytes: Uint8Array): Promise<boolean> {
    if (bytes.byteLength <= INLINE_LIMIT) return true;
    await writeDurably(this.#fileOf(hash), bytes);
    return false;
  }

  async fetch(hash: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#fileOf(hash));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  #fileOf(hash: string): string {
    return join(this.#directory, hash.slice(0, 2), hash);
  }
}

/**
 * Written under another name, synced, renamed, and the directory synced: the name exists only with all of its bytes.
 */
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
    // The caller needs the first failure; a left-over that cannot be removed either is only garbage.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unwritableError(error, file);
  }
  for (const one of [directory, dirname(directory)]) {
    await using handle = await open(one, "r");
    await handle.sync();
  }
}

function unwritableError(error: unknown, file: string): StoreError {
  const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
  const why = full ? "there is no space left" : String(error);
  return new StoreError(full ? "store_full" : "store_failed", `The content ${file} cannot be written: ${why}.`, {
    cause: error,
    kept: "Everything acknowledged before is kept; this request was not carried out.",
    next: [{ text: "free some space, then try again" }, nextStep("diagnostics")],
  });
}
