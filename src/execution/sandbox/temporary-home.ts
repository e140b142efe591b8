/**
 * A sandbox is made, and removed, under a temporary name that is never read as a sandbox. The process that works
 * under such a name holds a kernel lock beside it, from before the directory is there until it is gone: so a
 * directory whose lock is free was left by a killed process.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../../domain/errors/errors.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { removeTree } from "../../platform/remove-tree.ts";

export async function withTemporaryHome<T>(home: string, work: (temporary: string) => Promise<T>): Promise<T> {
  const name = `${home}.${randomUUID()}`;
  await mkdir(dirname(home), { recursive: true, mode: 0o700 });
  return withFileLock(
    `${name}.lock`,
    async () => {
      try {
        return await work(`${name}.tmp`);
      } finally {
        await removeTree(`${name}.tmp`);
        await rm(`${name}.lock`, { force: true });
      }
    },
    { patienceMs: 0 },
  );
}

const NAME = /^(.+\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.(?:tmp|lock)$/;

/** The names in a directory, without their endings, under which a process works or has worked. */
export async function temporaryNames(directory: string): Promise<string[]> {
  const names = (await readdir(directory).catch(ifCode("ENOENT"))) ?? [];
  return [...new Set(names.flatMap((name) => NAME.exec(name)?.[1] ?? []))].sort();
}

/** Whether a process works under that name just now. */
export async function isHeld(path: string): Promise<boolean> {
  return existsSync(`${path}.lock`) && !(await unlessHeld(path, async () => undefined));
}

/**
 * Removes the remains of a killed process under that name, after `section`. False when a process works there: then
 * nothing is done.
 */
export function removeLeftOver(path: string, section: (temporary: string) => Promise<void>): Promise<boolean> {
  return unlessHeld(path, async () => {
    await section(`${path}.tmp`);
    await removeTree(`${path}.tmp`);
    await rm(`${path}.lock`, { force: true });
  });
}

async function unlessHeld(path: string, section: () => Promise<void>): Promise<boolean> {
  try {
    await withFileLock(`${path}.lock`, section, { patienceMs: 0 });
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === "store_busy") return false;
    throw error;
  }
}
