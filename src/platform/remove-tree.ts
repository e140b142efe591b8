import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync, type Dirent } from "node:fs";
import { rm } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { ifCode } from "./contained-path.ts";

/**
 * Removes what a command left, however it left it: deeper than the system takes paths, or locked. Links are removed,
 * not followed.
 */
export async function removeTree(path: string | Buffer): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // Node goes by whole paths, and does not open what is locked.
    await removeLevels(Buffer.from(path));
  }
}

/** Level by level, each directory moved to the top before it is looked into: so no path gets long. */
async function removeLevels(path: Buffer): Promise<void> {
  unlock(path);
  for (let entries = entriesOf(path); entries.length > 0; entries = entriesOf(path)) {
    await turn();
    for (const entry of entries) {
      const place = within(path, entry.name);
      if (!entry.isDirectory()) {
        unlinkSync(place);
        continue;
      }
      unlock(place);
      for (const inner of entriesOf(place)) {
        const found = within(place, inner.name);
        if (inner.isDirectory()) {
          // A directory gets another parent only when it can be written.
          unlock(found);
          renameSync(found, within(path, Buffer.from(randomUUID())));
        } else unlinkSync(found);
      }
      rmdirSync(place);
    }
  }
  rmdirSync(path);
}

export function entriesOf(directory: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(directory, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    return ifCode("ENOENT", "ENOTDIR")(error) ?? [];
  }
}

export function within(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, SLASH, name]);
}

const SLASH = Buffer.from("/");
const OWNER = 0o700;

/** Opens a directory of which a command took its own rights away. */
export function unlock(directory: Buffer): void {
  const mode = lstatSync(directory, { throwIfNoEntry: false })?.mode ?? OWNER;
  if ((mode & OWNER) !== OWNER) chmodSync(directory, (mode & 0o777) | OWNER);
}
