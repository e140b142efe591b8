/** The paths of a tree, as resolving imports asks for them. Paths are relative to the root, with `/`; "" is the root itself. */
import { posix } from "node:path";

export class TreePaths {
  readonly #paths: ReadonlySet<string>;
  readonly #read: (path: string) => string;
  readonly #texts = new Map<string, string | undefined>();
  #byDirectory: ReadonlyMap<string, readonly string[]> | undefined;
  #byName: ReadonlyMap<string, readonly string[]> | undefined;

  /** @param paths in order, which is the order of every answer. */
  constructor(paths: Iterable<string>, read: (path: string) => string) {
    this.#paths = new Set(paths);
    this.#read = read;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** The first of the candidates that is there. */
  first(candidates: Iterable<string>): string[] {
    for (const path of candidates) if (this.#paths.has(path)) return [path];
    return [];
  }

  /** The text of a file, such as a manifest; undefined when it is not in the scope. */
  text(path: string): string | undefined {
    if (!this.#texts.has(path)) this.#texts.set(path, this.has(path) ? this.#read(path) : undefined);
    return this.#texts.get(path);
  }

  /** The files right in a directory. */
  inDirectory(directory: string): readonly string[] {
    return this.#directories().get(directory) ?? [];
  }

  /** Those that have files right in them. */
  directories(): readonly string[] {
    return [...this.#directories().keys()];
  }

  #directories(): ReadonlyMap<string, readonly string[]> {
    return (this.#byDirectory ??= Map.groupBy(this.#paths, directoryOf));
  }

  /** The files that have a name, in whatever directory. */
  named(name: string): readonly string[] {
    this.#byName ??= Map.groupBy(this.#paths, (path) => posix.basename(path));
    return this.#byName.get(name) ?? [];
  }
}

export function directoryOf(path: string): string {
  const directory = posix.dirname(path);
  return directory === "." ? "" : directory;
}

/** Undefined when it leads out of the tree. */
export function joined(directory: string, path: string): string | undefined {
  const target = posix.join(directory, path).replace(/\/$/, "");
  if (target === "." || target === "") return "";
  return target === ".." || target.startsWith("../") || target.startsWith("/") ? undefined : target;
}

/** A directory and those above it, the nearest first; the root last. */
export function* upwards(directory: string): Generator<string> {
  for (let at = directory; at !== ""; at = directoryOf(at)) yield at;
  yield "";
}

export function inside(directory: string, path: string): string {
  return directory === "" ? path : path === "" ? directory : `${directory}/${path}`;
}
