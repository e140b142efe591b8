/** The imports between files of the program, and the cycles they make between folders. */
import { posix } from "node:path";
import { roomOf, type SourceFile } from "./source-files.ts";

export interface Import {
  readonly from: string;
  /** As it is written. */
  readonly specifier: string;
  readonly to: string;
}

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

export function importsOf({ path, text }: SourceFile): Import[] {
  return [...text.matchAll(IMPORT)].map(([, specifier = ""]) => ({
    from: path,
    specifier,
    to: posix.join(posix.dirname(path), specifier),
  }));
}

/** "plans → ledger" with the number of its imports. */
export function arrowCounts(imports: readonly Import[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { from, to } of imports) {
    const arrow = `${roomOf(from)} → ${roomOf(to)}`;
    if (roomOf(from) !== roomOf(to)) counts.set(arrow, (counts.get(arrow) ?? 0) + 1);
  }
  return counts;
}

/** Groups of folders that reach each other, each group once. A folder inside another one is a folder of its own. */
export function folderCycles(imports: readonly Import[]): string[][] {
  const folders = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [importing, imported] = [posix.dirname(from), posix.dirname(to)];
    const all = folders.get(importing) ?? new Set();
    if (importing !== imported) all.add(imported);
    folders.set(importing, all);
  }
  const reached = new Map([...folders.keys()].map((folder) => [folder, reachedFrom(folder, folders)]));
  const groups = [...reached.keys()].map((folder) =>
    [...reached.keys()]
      .filter((other) => reached.get(folder)?.has(other) && reached.get(other)?.has(folder))
      .toSorted(),
  );
  return [...new Map(groups.filter(({ length }) => length > 1).map((group) => [group.join(), group])).values()];
}

function reachedFrom(folder: string, folders: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const imported of folders.get(next) ?? [])
      if (!reached.has(imported)) {
        reached.add(imported);
        open.push(imported);
      }
  return reached;
}
