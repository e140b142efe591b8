/** Where an import of Go leads: to all files of the package, which is a directory of a module in the same tree. */
import { directoryOf, inside, type TreePaths } from "./tree-paths.ts";

export class GoImports {
  readonly #paths: TreePaths;
  #modules: readonly { readonly name: string; readonly directory: string }[] | undefined;

  constructor(paths: TreePaths) {
    this.#paths = paths;
  }

  resolve(specifier: string): readonly string[] {
    this.#modules ??= this.#paths
      .named("go.mod")
      .map((path) => ({
        name: /^module\s+"?([^\s"]+)/m.exec(this.#paths.text(path) ?? "")?.[1] ?? "",
        directory: directoryOf(path),
      }))
      .filter(({ name }) => name !== "")
      // The longest name is the module a package belongs to.
      .sort((a, b) => b.name.length - a.name.length);
    const wanted = specifier.replaceAll('"', "");
    for (const { name, directory } of this.#modules) {
      if (wanted !== name && !wanted.startsWith(`${name}/`)) continue;
      const found = this.#paths.inDirectory(inside(directory, wanted.slice(name.length + 1)));
      return found.filter((path) => path.endsWith(".go") && !path.endsWith("_test.go"));
    }
    return [];
  }
}
