import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes the missing directories, private, one by one: on a read-only file system Node's recursive mkdir names a false
 * reason.
 */
export function makeDirectories(path: string): void {
  if (existsSync(path)) return;
  makeDirectories(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(path)) throw error;
  }
}
