/**
 * Imports that name the end of a path: classes of Java by their package, headers of C and C++ below some directory of
 * includes.
 */
import { joined, type TreePaths } from "./tree-paths.ts";

export function resolveJava(paths: TreePaths, specifier: string): readonly string[] {
  const parts = specifier.replace(/^static\s+/, "").split(".");
  if (parts.at(-1) === "*") {
    const path = parts.slice(0, -1).join("/");
    const members = endingWith(paths, `${path}.java`);
    return members.length > 0 ? members : allIn(paths, path);
  }
  // A member of a class, or a class within a class, is in the file of the outermost one.
  for (let length = parts.length; length > 1; length -= 1) {
    const path = `${parts.slice(0, length).join("/")}.java`;
    const found = endingWith(paths, path);
    if (found.length > 0) return found;
  }
  return [];
}

export function resolveInclude(paths: TreePaths, directory: string, specifier: string): readonly string[] {
  const path = specifier.replaceAll(/^["<]|[">]$/g, "");
  const sibling = joined(directory, path);
  if (!specifier.startsWith("<") && sibling !== undefined && paths.has(sibling)) return [sibling];
  const plain = path.replace(/^(?:\.\.?\/)+/, "");
  // A header of the system has no directory in its name, and a file of that name elsewhere in the tree is another one.
  if (specifier.startsWith("<") && !plain.includes("/")) return [];
  return endingWith(paths, plain);
}

/** The shortest first: a deeper path is more likely a copy. */
function endingWith(paths: TreePaths, end: string): readonly string[] {
  return paths
    .named(end.slice(end.lastIndexOf("/") + 1))
    .filter((path) => path === end || path.endsWith(`/${end}`))
    .toSorted((a, b) => a.length - b.length)
    .slice(0, 1);
}

function allIn(paths: TreePaths, directory: string): readonly string[] {
  const found = paths.directories().filter((path) => path === directory || path.endsWith(`/${directory}`));
  return found.flatMap((path) => paths.inDirectory(path)).filter((path) => path.endsWith(".java"));
}

export function resolveLink(paths: TreePaths, directory: string, target: string): readonly string[] {
  const path = target.replace(/[#?].*$/s, "");
  const wanted = path === "" ? undefined : joined(directory, decoded(path));
  return wanted === undefined ? [] : paths.first([wanted, `${wanted}.md`, `${wanted}/README.md`, `${wanted}/index.md`]);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
