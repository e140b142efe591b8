/**
 * Which files of a tree import which. An import is stored as it is written and resolved here, against the files of the
 * scope, at the time of the question: so it needs no upkeep when files come and go, and cannot lead outside.
 */
import type { ReadableFile, TreeReader } from "../index/index-reader.ts";
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
  /** By the directory of the importing file, then by the specifier it writes. */
  readonly #resolved = new Map<string, Map<string, readonly string[]>>();
  #importers: ReadonlyMap<number, readonly ReadableFile[]> | undefined;

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
    return this.#targets(file, specifiersIn(row?.[0])).flatMap((position) => this.#tree.files[position] ?? []);
  }

  importersOf(file: ReadableFile): readonly ReadableFile[] {
    this.#importers ??= this.#allImporters();
    return this.#importers.get(this.#paths.positionOf(file.path) ?? -1) ?? [];
  }

  /** All imports that lead to another file of the tree: by the positions of both, in order. */
  visit(visit: (importer: number, importee: number) => void): void {
    const rows = this.#tree.all("SELECT content, imports FROM links WHERE imports <> '[]'");
    const specifiers = new Map(rows.map(([content, imports]) => [content, specifiersIn(imports)]));
    for (const [importer, file] of this.#tree.files.entries()) {
      const written = specifiers.get(file.content);
      if (written === undefined) continue;
      for (const importee of this.#targets(file, written)) visit(importer, importee);
    }
  }

  #allImporters(): ReadonlyMap<number, readonly ReadableFile[]> {
    const importers = new Map<number, ReadableFile[]>();
    this.visit((importer, importee) => {
      const file = this.#tree.files[importer];
      const known = importers.get(importee);
      if (file === undefined) return;
      if (known === undefined) importers.set(importee, [file]);
      else known.push(file);
    });
    return importers;
  }

  /** Positions, in order. */
  #targets(file: ReadableFile, specifiers: readonly string[]): readonly number[] {
    const { language } = file.file;
    const directory = directoryOf(file.path);
    // Rust alone asks for the file itself.
    const place = `${language} ${language === "rust" ? file.path : directory}`;
    let resolved = this.#resolved.get(place);
    if (resolved === undefined) this.#resolved.set(place, (resolved = new Map()));
    const targets = new Set<number>();
    for (const specifier of specifiers) {
      let paths = resolved.get(specifier);
      if (paths === undefined) resolved.set(specifier, (paths = this.#resolveIn(file, directory, specifier)));
      for (const path of paths) {
        const position = path === file.path ? undefined : this.#paths.positionOf(path);
        if (position !== undefined) targets.add(position);
      }
    }
    return [...targets].sort((a, b) => a - b);
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
