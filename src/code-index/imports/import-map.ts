/**
 * Which files of a tree import which. An import is kept as it is written and resolved here, against the files of the scope, when somebody
 * asks: so it needs no upkeep when files come and go, and cannot lead outside.
 */
import type { ReadableFile, TreeReader } from "../index-reader.ts";
import { resolveInclude, resolveJava, resolveLink } from "./by-suffix.ts";
import { GoImports } from "./go.ts";
import { JavaScriptImports } from "./javascript.ts";
import { resolvePython } from "./python.ts";
import { RustImports } from "./rust.ts";
import { directoryOf, TreePaths } from "./tree-paths.ts";

export class ImportMap {
  readonly #tree: TreeReader;
  readonly #paths: TreePaths;
  readonly #javaScript: JavaScriptImports;
  readonly #go: GoImports;
  readonly #rust: RustImports;
  readonly #resolved = new Map<string, readonly string[]>();
  #importers: ReadonlyMap<string, readonly ReadableFile[]> | undefined;

  constructor(tree: TreeReader) {
    this.#tree = tree;
    this.#paths = new TreePaths(
      tree.files.map(({ path }) => path),
      (path) => {
        const file = tree.at(path);
        return file === undefined ? "" : tree.textOf(file);
      },
    );
    this.#javaScript = new JavaScriptImports(this.#paths);
    this.#go = new GoImports(this.#paths);
    this.#rust = new RustImports(this.#paths);
  }

  importsOf(file: ReadableFile): readonly ReadableFile[] {
    const [row] = this.#tree.all("SELECT imports FROM links WHERE content = ?", file.content);
    return this.#targets(file, specifiersIn(row?.[0]));
  }

  importersOf(file: ReadableFile): readonly ReadableFile[] {
    this.#importers ??= this.#allImporters();
    return this.#importers.get(file.path) ?? [];
  }

  #allImporters(): ReadonlyMap<string, readonly ReadableFile[]> {
    const rows = this.#tree.all("SELECT content, imports FROM links WHERE imports <> '[]'");
    const specifiers = new Map(rows.map(([content, imports]) => [content, specifiersIn(imports)]));
    const importers = new Map<string, ReadableFile[]>();
    for (const file of this.#tree.files) {
      for (const { path } of this.#targets(file, specifiers.get(file.content) ?? [])) {
        const known = importers.get(path);
        if (known === undefined) importers.set(path, [file]);
        else known.push(file);
      }
    }
    return importers;
  }

  #targets(file: ReadableFile, specifiers: readonly string[]): ReadableFile[] {
    const paths = new Set(specifiers.flatMap((specifier) => this.#resolve(file, specifier)));
    paths.delete(file.path);
    return [...paths].sort().flatMap((path) => this.#tree.at(path) ?? []);
  }

  #resolve(file: ReadableFile, specifier: string): readonly string[] {
    const directory = directoryOf(file.path);
    // Rust alone asks for the file itself.
    const key = `${file.file.language}\0${file.file.language === "rust" ? file.path : directory}\0${specifier}`;
    const known = this.#resolved.get(key);
    if (known !== undefined) return known;
    const found = this.#resolveIn(file, directory, specifier);
    this.#resolved.set(key, found);
    return found;
  }

  #resolveIn(file: ReadableFile, directory: string, specifier: string): readonly string[] {
    switch (file.file.language) {
      case "typescript":
      case "tsx":
      case "javascript":
        return this.#javaScript.resolve(directory, specifier);
      case "python":
        return resolvePython(this.#paths, directory, specifier);
      case "go":
        return this.#go.resolve(specifier);
      case "rust":
        return this.#rust.resolve(file.path, specifier);
      case "java":
        return resolveJava(this.#paths, specifier);
      case "cpp":
        return resolveInclude(this.#paths, directory, specifier);
      case "markdown":
        return resolveLink(this.#paths, directory, specifier);
      case "text":
        return [];
    }
  }
}

function specifiersIn(imports: unknown): readonly string[] {
  // Written by `prepareFile`: an array of strings.
  return typeof imports === "string" ? (JSON.parse(imports) as string[]) : [];
}
