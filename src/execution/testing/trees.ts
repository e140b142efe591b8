/** The content of directories, byte for byte, read without any of the code under test. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ChangeEntry, FileImage } from "../../domain/plan/change-entry.ts";
import type { ChangesetStore } from "../../ledger/changesets.ts";

/** Path to mode and content; equal texts are equal files. */
export type Tree = ReadonlyMap<string, string>;

export async function readTree(root: string, without: readonly string[] = []): Promise<Tree> {
  const tree = new Map<string, string>();
  const walk = async (below: string): Promise<void> => {
    for (const name of (await readdir(join(root, below))).sort()) {
      const path = below === "" ? name : `${below}/${name}`;
      if (name === ".git" || without.includes(path)) continue;
      const file = join(root, path);
      const found = await lstat(file);
      if (found.isDirectory()) await walk(path);
      else if (found.isSymbolicLink()) tree.set(path, fileText("link", Buffer.from(await readlink(file))));
      else tree.set(path, fileText((found.mode & 0o100) === 0 ? "644" : "755", await readFile(file)));
    }
  };
  await walk("");
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fileText(mode: "644" | "755" | "link", content: Uint8Array): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return `${mode} ${hash} ${Buffer.from(content.subarray(0, 60)).toString("latin1")}`;
}

const MODES: Readonly<Record<number, "644" | "755" | "link">> = { 0o100644: "644", 0o100755: "755", 0o120000: "link" };

/** The entries on top of the tree. Each must find exactly what it says was there before. */
export async function replay(base: Tree, entries: readonly ChangeEntry[], changesets: ChangesetStore): Promise<Tree> {
  const tree = new Map(base);
  const text = async (image: FileImage | undefined): Promise<string | undefined> => {
    if (image === undefined) return undefined;
    const content = await changesets.content(image.hash);
    if (content === undefined) throw new Error(`The content ${image.hash} was not recorded.`);
    return fileText(MODES[image.mode] ?? "644", content);
  };
  const put = (path: string, before: string | undefined, after: string | undefined): void => {
    if (tree.get(path) !== before) throw new Error(`${path} was ${tree.get(path)}, recorded is ${before}`);
    if (after === undefined) tree.delete(path);
    else tree.set(path, after);
  };
  for (const entry of entries) {
    const [before, after] = [await text(entry.before), await text(entry.after)];
    if (entry.fromPath === undefined) {
      put(entry.path, before, after);
    } else {
      put(entry.fromPath, before, undefined);
      put(entry.path, undefined, after);
    }
  }
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export type FileSpec = string | Uint8Array | { readonly link: string } | { readonly executable: string };

/** Puts the files there, with the directories they need. */
export async function fill(root: string, files: Readonly<Record<string, FileSpec>>): Promise<void> {
  for (const [path, spec] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await rm(file, { force: true });
    if (typeof spec === "string" || spec instanceof Uint8Array) {
      await writeFile(file, spec);
    } else if ("link" in spec) {
      await symlink(spec.link, file);
    } else {
      await writeFile(file, spec.executable);
      await chmod(file, 0o755);
    }
  }
}

/** Which of the paths git's rules ignore, by git's own word; below all others are the rules in `lowest`. */
export async function ignoredOf(root: string, paths: readonly string[], lowest: string): Promise<ReadonlySet<string>> {
  const rules = ["-c", `core.excludesFile=${lowest}`];
  const asking = promisify(execFile)("git", [...rules, "check-ignore", "--no-index", "--stdin", "-z"], { cwd: root });
  asking.child.stdin?.end(paths.map((path) => `./${path}\0`).join(""));
  const { stdout } = await asking.catch((error: { code: number; stdout: string }) => {
    // Exit code 1: none of them.
    if (error.code === 1) return error;
    throw error;
  });
  return new Set(stdout.split("\0").map((path) => path.slice(2)));
}
