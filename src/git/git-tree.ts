/** Makes the trees of a set of files in memory, for `git-pack.ts` to write. */
import { objectName } from "./git-pack.ts";

/** The git trees that hold these files: the name of the topmost, and the content of each by its name. */
export function treesOf(files: readonly { readonly path: string; readonly mode: number; readonly object: string }[]): {
  readonly top: string;
  readonly trees: ReadonlyMap<string, Uint8Array>;
} {
  const root: Directory = { entries: new Map() };
  for (const { path, mode, object } of files) {
    const segments = path.split("/");
    const name = segments.pop() ?? "";
    let directory = root;
    for (const segment of segments) {
      const known = directory.entries.get(segment);
      const next = known !== undefined && "entries" in known ? known : { entries: new Map() };
      directory.entries.set(segment, next);
      directory = next;
    }
    directory.entries.set(name, { mode, object });
  }
  const trees = new Map<string, Uint8Array>();
  // Inner trees first, and without recursion: records of older versions hold paths of thousands of segments.
  const directories: Directory[] = [root];
  for (const directory of directories)
    for (const entry of directory.entries.values()) if ("entries" in entry) directories.push(entry);
  const names = new Map<Directory, string>();
  for (const directory of directories.toReversed()) names.set(directory, write(directory, names, trees));
  return { top: names.get(root) ?? "", trees };
}

interface Directory {
  readonly entries: Map<string, Directory | { readonly mode: number; readonly object: string }>;
}

function write(directory: Directory, names: ReadonlyMap<Directory, string>, trees: Map<string, Uint8Array>): string {
  const lines = [...directory.entries].map(([name, entry]) => {
    if (!("entries" in entry)) return line(name, entry.mode.toString(8), entry.object);
    // Git sorts a directory as if its name ended with "/".
    return { ...line(name, "40000", names.get(entry) ?? ""), order: Buffer.from(`${name}/`) };
  });
  lines.sort((a, b) => Buffer.compare(a.order, b.order));
  const content = Buffer.concat(lines.map(({ bytes }) => bytes));
  const name = objectName("tree", content);
  trees.set(name, content);
  return name;
}

function line(name: string, mode: string, object: string): { order: Buffer; bytes: Buffer } {
  return {
    order: Buffer.from(name),
    bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, "hex")]),
  };
}
