import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import { git } from "./git.ts";
import { ifCode } from "./contained-path.ts";
import { EXECUTABLE, LINK, REGULAR } from "./file-state.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * Everything a sandbox holds, path by path: what a comparison before and after a command is made of. Git's ignored files are no part
 * of a plan, and neither is anything called `.git`. Files whose size, times and inode are those of the last look are not read again.
 */
export interface SeenFile {
  readonly hash: string;
  readonly mode: number;
  readonly size: number;
  readonly inode: number;
  readonly modified: number;
  readonly changed: number;
  /** When the look began that read it. */
  readonly looked: number;
}

export type Snapshot = ReadonlyMap<string, SeenFile>;

/** Time stamps are no finer than this: a file this young when it was read may have changed again without showing it. */
const TICK_MS = 20;

export async function takeSnapshot(sandbox: Sandbox, previous: Snapshot = new Map()): Promise<Snapshot> {
  const started = Date.now();
  const paths = sandbox.strategy === "git_worktree" ? await versionable(sandbox.root) : await walk(sandbox.root, "");
  const snapshot = new Map<string, SeenFile>();
  const directories = new Map<string, boolean>();
  for (const path of paths.sort()) {
    // Git also names what it knew below a directory that is a file or a link by now.
    if (!(await isDirectory(sandbox.root, dirname(path), directories))) continue;
    const seen = await look(sandbox.root, path, previous.get(path), started);
    if (seen !== undefined) snapshot.set(path, seen);
  }
  return snapshot;
}

/** Paths that differ, in order. */
export function changedPaths(before: Snapshot, after: Snapshot): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all]
    .filter((path) => {
      const [old, now] = [before.get(path), after.get(path)];
      return old?.hash !== now?.hash || old?.mode !== now?.mode;
    })
    .sort();
}

async function look(
  root: string,
  path: string,
  known: SeenFile | undefined,
  started: number,
): Promise<SeenFile | undefined> {
  const file = join(root, path);
  const found = await lstat(file).catch(ifCode("ENOENT"));
  if (found === undefined || !(found.isFile() || found.isSymbolicLink())) return undefined;
  const facts = { size: found.size, inode: found.ino, modified: found.mtimeMs, changed: found.ctimeMs };
  const same =
    known !== undefined &&
    known.size === facts.size &&
    known.inode === facts.inode &&
    known.modified === facts.modified &&
    known.changed === facts.changed &&
    known.changed < known.looked - TICK_MS;
  const mode = found.isSymbolicLink() ? LINK : (found.mode & 0o100) === 0 ? REGULAR : EXECUTABLE;
  if (same) return { ...known, mode };
  const reading = found.isSymbolicLink() ? readlink(file, { encoding: "buffer" }) : readFile(file);
  const bytes = await reading.catch(ifCode("ENOENT"));
  if (bytes === undefined) return undefined;
  return { ...facts, looked: started, mode, hash: createHash("sha256").update(bytes).digest("hex") };
}

async function isDirectory(root: string, path: string, known: Map<string, boolean>): Promise<boolean> {
  if (path === ".") return true;
  const answer = known.get(path);
  if (answer !== undefined) return answer;
  const found =
    (await isDirectory(root, dirname(path), known)) && (await lstat(join(root, path)).catch(ifCode("ENOENT")));
  const is = found !== false && found?.isDirectory() === true;
  known.set(path, is);
  return is;
}

async function versionable(root: string): Promise<string[]> {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { stdout } = await git(listing, { cwd: root, sandbox: true });
  return nameOf(stdout)
    .split("\0")
    .filter((path) => path !== "" && !path.endsWith("/"));
}

async function walk(root: string, below: string): Promise<string[]> {
  const paths: string[] = [];
  const directory = join(root, below);
  const entries = await readdir(directory, { withFileTypes: true, encoding: "buffer" }).catch(ifCode("ENOENT"));
  for (const entry of entries ?? []) {
    const name = nameOf(entry.name);
    if (name === ".git") continue;
    const path = below === "" ? name : `${below}/${name}`;
    if (entry.isDirectory()) paths.push(...(await walk(root, path)));
    else paths.push(path);
  }
  return paths;
}

/** A name that is no UTF-8 would become another name, and its file would be overlooked. */
function nameOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new AgentsError("tool_failed", "A file in the sandbox has a name that is no UTF-8.", { cause: error });
  }
}
