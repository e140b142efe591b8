/**
 * The file system's facts about a path, without opening it. Links are not followed: not the path itself, and not a
 * directory above it, so nothing outside the tree can be taken for a part of it, even where git still lists the files
 * of a directory that has become a link.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { dirname } from "node:path";

export type ProbeResult =
  /** `stamp` changes whenever the bytes may have. */
  { readonly is: "file"; readonly size: number; readonly stamp: string } | Absent;

/** The reasons why there is nothing to read. */
export type Absent =
  | { readonly is: "gone" }
  | { readonly is: "link" }
  | { readonly is: "gap"; readonly reason: string };

export class FileProbe {
  readonly #root: string;
  readonly #directories = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  probe(path: string): ProbeResult {
    if (!this.#isRealDirectory(dirname(path))) return { is: "gone" };
    try {
      const stats = lstatSync(`${this.#root}/${path}`, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined) return { is: "gone" };
      if (stats.isSymbolicLink()) return { is: "link" };
      if (stats.isDirectory()) return { is: "gap", reason: "a repository of its own" };
      if (!stats.isFile()) return { is: "gap", reason: "not a regular file" };
      return { is: "file", ...stampOf(stats) };
    } catch (error) {
      return absenceOf(error);
    }
  }

  #isRealDirectory(path: string): boolean {
    if (path === ".") return true;
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    const is =
      this.#isRealDirectory(dirname(path)) &&
      lstatSync(`${this.#root}/${path}`, { throwIfNoEntry: false })?.isDirectory() === true;
    this.#directories.set(path, is);
    return is;
  }
}

export function stampOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): { size: number; stamp: string } {
  return { size: Number(size), stamp: `${mtimeNs} ${ctimeNs} ${ino}` };
}

export function absenceOf(error: unknown): Absent {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT" || code === "ENOTDIR") return { is: "gone" };
  if (code === "ELOOP") return { is: "link" };
  if (code === "EACCES" || code === "EPERM") return { is: "gap", reason: "cannot be read: no permission" };
  return { is: "gap", reason: `cannot be read: ${code || String(error)}` };
}
