/**
 * Where `mod x;` and `use a::b::C` of Rust lead: to the file of the innermost module that is one. The last parts of a
 * path are usually names in a module, so parts are dropped until a file is found.
 */
import { posix } from "node:path";
import { directoryOf, inside, type TreePaths, upwards } from "./tree-paths.ts";

const ROOTS = new Set(["lib.rs", "main.rs", "mod.rs"]);

export class RustImports {
  readonly #paths: TreePaths;
  #crates: ReadonlyMap<string, string> | undefined;

  constructor(paths: TreePaths) {
    this.#paths = paths;
  }

  /** @param path of the file that imports. */
  resolve(path: string, specifier: string): readonly string[] {
    const [first = "", ...rest] = specifier
      .replace(/^mod\s+/, "")
      .replace(/[{;].*$/s, "")
      .split("::")
      .map((part) => part.trim())
      .filter((part) => part !== "" && part !== "*");
    const own = modulesOf(path);
    if (first === "crate") return this.#module(this.#crateOf(path), rest);
    if (first === "self") return this.#module(own, rest);
    if (first === "super") {
      const ups = rest.findIndex((part) => part !== "super");
      const parts = ups === -1 ? [] : rest.slice(ups);
      let from = directoryOf(own);
      for (let up = 0; up < (ups === -1 ? rest.length : ups); up += 1) from = directoryOf(from);
      return this.#module(from, parts);
    }
    const below = this.#module(own, [first, ...rest], 1);
    if (below.length > 0) return below;
    const crate = this.#crateSources().get(first);
    return crate === undefined ? [] : this.#module(crate, rest);
  }

  /** @param directory with the files of a module's submodules. */
  #module(directory: string | undefined, parts: readonly string[], fewest = 0): string[] {
    if (directory === undefined) return [];
    for (let length = parts.length; length >= fewest; length -= 1) {
      const at = inside(directory, parts.slice(0, length).join("/"));
      const found = this.#paths.first([
        ...(at === "" ? [] : [`${at}.rs`]),
        ...["mod.rs", "lib.rs", "main.rs"].map((name) => inside(at, name)),
      ]);
      if (found.length > 0) return found;
    }
    return [];
  }

  #crateOf(path: string): string | undefined {
    for (const above of upwards(directoryOf(path))) {
      if (this.#paths.has(inside(above, "Cargo.toml"))) return inside(above, "src");
    }
    return undefined;
  }

  #crateSources(): ReadonlyMap<string, string> {
    this.#crates ??= new Map(
      this.#paths.named("Cargo.toml").flatMap((path) => {
        const name = /^\s*name\s*=\s*"([^"]+)"/m.exec(this.#paths.text(path) ?? "")?.[1];
        return name === undefined ? [] : [[name.replaceAll("-", "_"), inside(directoryOf(path), "src")] as const];
      }),
    );
    return this.#crates;
  }
}

/** The directory with the files of the modules that a file declares. */
function modulesOf(path: string): string {
  return ROOTS.has(posix.basename(path)) ? directoryOf(path) : path.replace(/\.rs$/, "");
}
