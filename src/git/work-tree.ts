/** Finds the work tree of a git repository around a directory, without starting git. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * The top of the work tree that holds the directory (an absolute path); undefined outside of every one, and inside a
 * `.git`.
 */
export function findWorkTree(directory: string): string | undefined {
  for (let current = directory; basename(current) !== ".git"; current = dirname(current)) {
    if (existsSync(join(current, ".git"))) return current;
    if (dirname(current) === current) return undefined;
  }
  return undefined;
}

/** A directory may be called anything; a name is a letter, then letters, digits, "_" and "-". */
export function nameOfDirectory(directory: string): string {
  const word = basename(directory)
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replaceAll(/^[^A-Za-z]+|-+$/g, "");
  return (word === "" ? "repository" : word).slice(0, 60);
}
