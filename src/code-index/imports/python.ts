/**
 * Where an import of Python leads. Relative ones by their dots; others from every directory above that may be on the
 * path of modules, which is one that is not itself inside a package.
 */
import { directoryOf, inside, type TreePaths, upwards } from "./tree-paths.ts";

export function resolvePython(paths: TreePaths, directory: string, specifier: string): readonly string[] {
  const [, dots = "", name = ""] = /^(\.*)(.*)$/s.exec(specifier) ?? [];
  const parts = name === "" ? [] : name.split(".");
  if (dots !== "") {
    let from = directory;
    for (let up = 1; up < dots.length; up += 1) from = directoryOf(from);
    return moduleIn(paths, from, parts, true);
  }
  const roots = [...upwards(directory)].filter((root) => !isPackage(paths, root)).toReversed();
  for (const root of [...roots, "src"]) {
    const found = moduleIn(paths, root, parts, false);
    if (found.length > 0) return found;
  }
  return [];
}

/** The last part may be a name in the module before it. */
function moduleIn(paths: TreePaths, root: string, parts: readonly string[], withPackage: boolean): string[] {
  const fewest = withPackage ? 0 : 1;
  for (let length = parts.length; length >= Math.max(fewest, parts.length - 1); length -= 1) {
    const path = inside(root, parts.slice(0, length).join("/"));
    const found = paths.first([
      ...(length > 0 ? [`${path}.py`, `${path}.pyi`] : []),
      inside(path, "__init__.py"),
      inside(path, "__init__.pyi"),
    ]);
    if (found.length > 0) return found;
  }
  return [];
}

function isPackage(paths: TreePaths, directory: string): boolean {
  return directory !== "" && paths.has(`${directory}/__init__.py`);
}
