/**
 * The user's files, read and changed without ever following a symbolic link: each directory on the way is opened
 * relative to the one before (`/proc/self/fd/N/name`), so that a link put there meanwhile leads nowhere.
 */
import { closeSync, constants, lstatSync, openSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { FileImage } from "../domain/plan/change-entry.ts";
import { EXECUTABLE, LINK, REGULAR } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";

class FoundFile {
  readonly content: Uint8Array;
  readonly mode: number;
  #image: FileImage | undefined;

  constructor(content: Uint8Array, mode: number) {
    this.content = content;
    this.mode = mode;
  }

  /** Computed when it is asked for: not every caller needs the hash. */
  get image(): FileImage {
    this.#image ??= { hash: contentHash(this.content), mode: this.mode };
    return this.#image;
  }
}

/**
 * The entry at a path: nothing, a file or link, or something that can be neither (a directory, a device, a link on the
 * way).
 */
export type Found = FoundFile | "nothing" | "obstacle";

export function find(root: string, path: string): Found {
  return within(root, path, (at) => (at === undefined ? "nothing" : foundAt(at)), "obstacle");
}

/**
 * Reads many paths, one after another. The directory of the last one stays open for the next. Every change of a file
 * opens the whole way again, so an entry that has become stale does no harm. (To open the way for each file took half
 * of the time.)
 */
export class PathProbe implements Disposable {
  readonly #root: string;
  #directory: { readonly path: string; readonly descriptor: number } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  find(path: string): Found {
    const slash = path.lastIndexOf("/");
    const above = slash === -1 ? "" : path.slice(0, slash);
    if (this.#directory?.path !== above || process.platform !== "linux") {
      this[Symbol.dispose]();
      return within(this.#root, path, (at, directory) => this.#keep(above, at, directory), "obstacle");
    }
    return foundAt(`/proc/self/fd/${this.#directory.descriptor}/${path.slice(slash + 1)}`);
  }

  #keep(path: string, at: string | undefined, directory: number): Found {
    if (at === undefined) return "nothing";
    if (process.platform === "linux")
      this.#directory = { path, descriptor: openSync(`/proc/self/fd/${directory}`, "r") };
    return foundAt(at);
  }

  [Symbol.dispose](): void {
    if (this.#directory !== undefined) closeSync(this.#directory.descriptor);
    this.#directory = undefined;
  }
}

/**
 * Calls `use` with a name for `path` that no change of the directories above can redirect; undefined when those are
 * missing.
 */
export function within<T>(
  root: string,
  path: string,
  use: (at: string | undefined, directory: number) => T,
  obstructed: T,
): T {
  const segments = path.split("/");
  const name = segments.pop() ?? "";
  let directory = openDirectory(root);
  if (typeof directory !== "number") return obstructed;
  let reached = root;
  const nameIn = (below: string): string =>
    process.platform === "linux" ? `/proc/self/fd/${directory}/${below}` : join(reached, below);
  try {
    for (const segment of segments) {
      const next = openDirectory(nameIn(segment));
      if (next === "missing") return use(undefined, directory);
      if (next === "obstacle") return obstructed;
      closeSync(directory);
      directory = next;
      reached = join(reached, segment);
    }
    return use(nameIn(name), directory);
  } finally {
    closeSync(directory);
  }
}

export function foundAt(file: string): Found {
  const found = statOf(file);
  if (found === undefined) return "nothing";
  if (found.isSymbolicLink()) return new FoundFile(readlinkSync(file, { encoding: "buffer" }), LINK);
  if (!found.isFile()) return "obstacle";
  return new FoundFile(readFileSync(file), (found.mode & 0o100) === 0 ? REGULAR : EXECUTABLE);
}

export function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    // A file where a directory should be: there is nothing below it.
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export function imageOf(found: Found): FileImage | undefined {
  return typeof found === "string" ? undefined : found.image;
}

function openDirectory(path: string): number | "missing" | "obstacle" {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return "missing";
    // Below a file on the way there is nothing; a link could lead anywhere.
    if (code === "ENOTDIR" || code === "ELOOP") return statOf(path)?.isSymbolicLink() === true ? "obstacle" : "missing";
    throw error;
  }
}
