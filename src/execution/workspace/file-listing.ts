/**
 * Everything a sandbox holds, path by path, to compare the files before and after a command. Part of a plan are the
 * files of its base, those that its recorded changes left, and every other file that git does not ignore; never
 * anything called `.git`, nor the content of a submodule. A repository made inside the sandbox is a directory like
 * any other. Files whose size, times and inode are those of the last look are not read again.
 */
import { createReadStream, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { createHash, hash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { worksInPlace } from "../../domain/resource/resource.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { ChangedBytes } from "./change-limits.ts";
import { git } from "../../git/git.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { EXECUTABLE, LINK, REGULAR } from "../../platform/file-state.ts";
import { IgnoredPaths } from "../sandbox/ignored-paths.ts";
import { STAGING_PREFIX } from "../sandbox/in-place-sandbox.ts";
import { gitIn, isVersioned } from "../sandbox/sandbox-facts.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

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

/** The paths that are part of the plan also when git's rules ignore them by now, and those that never are. */
export interface KnownPaths {
  readonly files: Iterable<string>;
  readonly submodules: readonly string[];
}

/**
 * Time stamps are not finer than this: a file this young when it was read may have changed again without showing it.
 */
const TICK_MS = 20;

/** Larger files are read in pieces. */
const READ_AT_ONCE = 1024 * 1024;

/** Others get a turn this often. */
const TURN_MS = 10;

/**
 * With a snapshot from before, what changed since then is limited, and that is told before anything is read.
 *
 * Files are looked at synchronously: for what the kernel has in memory that takes 2 µs, handing it to a thread 10 to
 * 40 µs. A sandbox lies beside the database, which must be on a local disk anyway.
 */
export async function takeSnapshot(
  sandbox: Sandbox,
  previous?: Snapshot,
  known: KnownPaths = { files: [], submodules: [] },
): Promise<Snapshot> {
  const { root } = sandbox;
  const started = Date.now();
  const all = isVersioned(sandbox) ? await versionable(sandbox, known) : await walk(root, "");
  const paths = worksInPlace(sandbox) ? all.filter((path) => !path.startsWith(STAGING_PREFIX)) : all;
  const snapshot = new Map<string, SeenFile>();
  const unread: [path: string, seen: SeenFile][] = [];
  // In place a person may change as much as they like.
  const changed = previous === undefined || worksInPlace(sandbox) ? undefined : new ChangedBytes();
  const directories = new Map<string, boolean>();
  const isTurn = turns();
  for (const path of paths.sort()) {
    if (isTurn()) await turn();
    // Git also names what it knew below a directory that is a file or a link by now.
    if (!isDirectory(root, dirname(path), directories)) continue;
    const last = previous?.get(path);
    const seen = look(join(root, path), last, started);
    if (seen === undefined) continue;
    snapshot.set(path, seen);
    if (seen.hash === UNREAD) unread.push([path, seen]);
    // A file that is new or has another size is changed, with any content.
    if (last?.size !== seen.size) changed?.add(path, seen.size);
  }
  for (const [path, seen] of unread) {
    if (isTurn()) await turn();
    const content = await contentHash(join(root, path), seen).catch(ifCode("ENOENT"));
    if (content === undefined) snapshot.delete(path);
    else snapshot.set(path, { ...seen, hash: content });
    const last = previous?.get(path);
    if (last?.size === seen.size && last.hash !== content) changed?.add(path, seen.size);
  }
  return snapshot;
}

/** Instead of a hash, while a snapshot is taken. */
const UNREAD = "";

/** Says when it is time to let others have a turn. */
function turns(): () => boolean {
  let turned = performance.now();
  return () => {
    const now = performance.now();
    if (now - turned <= TURN_MS) return false;
    turned = now;
    return true;
  };
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

function look(file: string, known: SeenFile | undefined, started: number): SeenFile | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
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
  return same ? { ...known, mode } : { ...facts, looked: started, mode, hash: UNREAD };
}

async function contentHash(file: string, { mode, size }: SeenFile): Promise<string> {
  if (mode === LINK) return hash("sha256", readlinkSync(file, { encoding: "buffer" }));
  if (size <= READ_AT_ONCE) return hash("sha256", readFileSync(file));
  const whole = createHash("sha256");
  for await (const piece of createReadStream(file, { highWaterMark: READ_AT_ONCE })) whole.update(piece as Buffer);
  return whole.digest("hex");
}

function isDirectory(root: string, path: string, known: Map<string, boolean>): boolean {
  if (path === ".") return true;
  const answer = known.get(path);
  if (answer !== undefined) return answer;
  const is =
    isDirectory(root, dirname(path), known) &&
    lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
  known.set(path, is);
  return is;
}

async function versionable(sandbox: Sandbox, { files, submodules }: KnownPaths): Promise<string[]> {
  const { root } = sandbox;
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { stdout } = await git(listing, gitIn(sandbox));
  const listed = nameOf(stdout).split("\0").slice(0, -1);
  const paths = new Set<string>(files);
  const directories = new Map<string, boolean>();
  const nested: string[] = [];
  for (const name of listed) {
    // Git names a repository inside the sandbox, but not what is in it: with "/" at the end, or without once it was
    // added.
    if (name.endsWith("/")) nested.push(name.slice(0, -1));
    else if (!paths.has(name) && isDirectory(root, name, directories)) nested.push(name);
    else paths.add(name);
  }
  for (const path of await walkAll(sandbox, nested)) paths.add(path);
  const outside = (path: string): boolean => !submodules.some((submodule) => path.startsWith(`${submodule}/`));
  return submodules.length === 0 ? [...paths] : [...paths].filter(outside);
}

/** The files that git's rules would show if these directories were not repositories of their own. */
async function walkAll(sandbox: Sandbox, directories: readonly string[]): Promise<string[]> {
  const ignored = new IgnoredPaths(sandbox);
  try {
    return (await Promise.all(directories.map((path) => walk(sandbox.root, path, ignored)))).flat();
  } finally {
    await ignored.forget();
  }
}

async function walk(root: string, below: string, ignored?: IgnoredPaths): Promise<string[]> {
  const directory = join(root, below);
  const entries = await readdir(directory, { withFileTypes: true, encoding: "buffer" }).catch(ifCode("ENOENT"));
  const found = (entries ?? []).flatMap((entry) => {
    const name = nameOf(entry.name);
    if (name === ".git") return [];
    return [{ path: below === "" ? name : `${below}/${name}`, isDirectory: entry.isDirectory() }];
  });
  const verdicts = await Promise.all(found.map(async ({ path }) => ignored !== undefined && ignored.has(path)));
  const paths: string[] = [];
  for (const [index, { path, isDirectory }] of found.entries()) {
    if (verdicts[index] === true) continue;
    if (!isDirectory) paths.push(path);
    else for (const file of await walk(root, path, ignored)) paths.push(file);
  }
  return paths;
}

/** A name that is not UTF-8 would become another name, and its file would be overlooked. */
function nameOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new AgentsError("tool_failed", "A file in the sandbox has a name that is not UTF-8.", { cause: error });
  }
}
