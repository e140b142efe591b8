/**
 * The paths of a tree, as the resolution of imports asks for them. Paths are relative to the root, with `/`; "" is the
 * root itself.
 */
import { posix } from "node:path";

export class TreePaths {
  readonly #positions: ReadonlyMap<string, number>;
  readonly #read: (path: string) => string;
  readonly #texts = new Map<string, string | undefined>();
  #byDirectory: ReadonlyMap<string, readonly string[]> | undefined;
  #byName: ReadonlyMap<string, readonly string[]> | undefined;

  /** @param paths in order, which is the order of every answer. */
  constructor(paths: Iterable<string>, read: (path: string) => string) {
    this.#positions = new Map(Array.from(paths, (path, position) => [path, position]));
    this.#read = read;
  }

  has(path: string): boolean {
    return this.#positions.has(path);
  }

  positionOf(path: string): number | undefined {
    return this.#positions.get(path);
  }

  /** The first of the candidates that is there. */
  first(candidates: Iterable<string>): string[] {
    for (const path of candidates) if (this.#positions.has(path)) return [path];
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
    return (this.#byDirectory ??= Map.groupBy(this.#positions.keys(), directoryOf));
  }

  /** The files that have a name, in any directory. */
  named(name: string): readonly string[] {
    this.#byName ??= Map.groupBy(this.#positions.keys(), (path) => posix.basename(path));
    return this.#byName.get(name) ?? [];
  }
}

/** A part of a path that is not a plain name. */
const HAS_DOTS = /(?:^|\/)\.{0,2}(?:\/|$)/;

export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Undefined when it leads out of the tree. */
export function joined(directory: string, path: string): string | undefined {
  // Most imports are of this kind, and `posix.join` takes several times as long.
  let [base, rest] = [directory, path.startsWith("./") ? path.slice(2) : path];
  for (; base !== "" && rest.startsWith("../"); rest = rest.slice(3)) base = directoryOf(base);
  if (!HAS_DOTS.test(rest)) return inside(base, rest);
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
