/**
 * A process that moves files or refs of a resource holds its kernel lock. A stopped process still holds it and is not
 * overtaken; a dead process holds it no longer, so no other process waits for it. Several locks are taken in one order
 * by every caller.
 */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { AgentsError, StoreError } from "../domain/errors/errors.ts";
import { withFileLock } from "../platform/file-lock.ts";

/** One place has one spelling for every caller: a `.git` may be a link, and so may a directory above. */
export async function lockPlace(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

export async function withResourceLocks<T>(
  directory: string,
  places: readonly string[],
  section: () => Promise<T>,
  options: { readonly patienceMs: number },
): Promise<T> {
  const [first, ...rest] = [...new Set(places)].sort();
  if (first === undefined) return section();
  const file = join(directory, `${createHash("sha256").update(first).digest("hex").slice(0, 32)}.lock`);
  let entered = false;
  try {
    return await withFileLock(
      file,
      () => {
        entered = true;
        return withResourceLocks(directory, rest, section, options);
      },
      options,
    );
  } catch (error) {
    if (!entered && error instanceof StoreError && error.code === "store_busy") throw resourceBusyError(first);
    throw error;
  }
}

function resourceBusyError(place: string): AgentsError {
  return new AgentsError("resource_busy", `Another process is changing ${place}; it is running, or stopped.`, {
    kept: "Nothing was changed.",
    next: [{ text: "try again when it has ended" }],
    detail: { place },
  });
}
