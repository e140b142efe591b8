/**
 * Git's index of the user's work tree: only the entries of the landing's own paths change, and only under git's own
 * lock.
 */
import { lstatSync, readFileSync, utimesSync, type BigIntStats, type Stats } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentsError } from "../domain/errors/errors.ts";
import { LINK } from "../platform/file-state.ts";
import { git } from "../git/git.ts";
import { blobName, noObject } from "../git/git-objects.ts";
import { changeIndex, parseIndex, type IndexFile, type NewEntry } from "../git/index-file.ts";
import type { FileEffects } from "./file-effects.ts";
import type { Direction, FileMove, IndexEntry, Landing } from "../ledger/landing.ts";
import { codeOf, PathProbe, statOf } from "./user-tree.ts";

export interface ListedEntry extends IndexEntry {
  readonly unmerged: boolean;
  /** Not wanted in the work tree (sparse checkout). */
  readonly skipped: boolean;
  /** The user told git to assume that it is unchanged. */
  readonly assumed: boolean;
}

type Entries = ReadonlyMap<string, ListedEntry>;

/** One landing reads the index three times, and to ask git costs more than the rest of the reading. */
let lastReading: { readonly indexFile: string; readonly identity: string; readonly entries: Entries } | undefined;

/** The entries of the index. Git never modifies the file but replaces it, so the same file has the same entries. */
export async function readIndex(root: string, indexFile: string): Promise<Entries> {
  const identity = identityOf(indexFile);
  if (identity !== undefined && lastReading?.indexFile === indexFile && lastReading.identity === identity)
    return lastReading.entries;
  const entries = await listEntries(root, indexFile);
  // An index that was replaced while git read it may be the old one or the new one.
  if (identity !== undefined && identityOf(indexFile) === identity) lastReading = { indexFile, identity, entries };
  return entries;
}

function identityOf(file: string): string | undefined {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}

async function listEntries(root: string, indexFile: string): Promise<Entries> {
  const read = readIndexFile(indexFile);
  if (read !== undefined) {
    return new Map(
      read.entries.map(({ path, mode, oid, stage, skipped, assumed }) => [
        path,
        { mode, oid, unmerged: stage !== 0, skipped, assumed },
      ]),
    );
  }
  const { stdout } = await git(["ls-files", "-z", "-s", "-v", "--full-name"], {
    cwd: root,
    env: { GIT_INDEX_FILE: indexFile },
  });
  const entries = new Map<string, ListedEntry>();
  for (const line of stdout.toString("utf8").split("\0")) {
    const [, tag, mode = "", oid = "", stage, path = ""] = /^(\S) (\d+) (\w+) (\d)\t(.*)$/s.exec(line) ?? [];
    if (path === "" || tag === undefined) continue;
    const marks = { skipped: tag.toUpperCase() === "S", assumed: tag !== tag.toUpperCase() };
    entries.set(path, { mode, oid, unmerged: stage !== "0", ...marks });
  }
  return entries;
}

/** Undefined when it does not exist, or when only git understands it. */
function readIndexFile(file: string): IndexFile | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true ? parseIndex(readFileSync(file), secondOf(found)) : undefined;
}

function secondOf({ mtimeMs }: Stats): number {
  return Math.floor(mtimeMs / 1000);
}

/** The marks that the user set on an entry stay with it. */
const MARKS = [
  ["skipped", "--skip-worktree"],
  ["assumed", "--assume-unchanged"],
] as const;

const PATIENCE_MS = 5_000;

/**
 * Takes git's own lock on the index, so that no other program commits or stages while refs and files are moving. The
 * lock file names its journal: after a crash only our own lock is removed.
 */
export async function lockIndex(landing: Landing, journalId: string, effects: FileEffects): Promise<void> {
  const file = lockFile(landing);
  const deadline = performance.now() + PATIENCE_MS;
  if (isOurs(file, journalId)) return;
  // Written under another name first: a lock file that does not name its journal yet would have no owner.
  const signed = ownFile(landing, journalId, "lock");
  if (!isOurs(signed, journalId)) {
    if (statOf(signed) !== undefined) effects.remove(signed);
    effects.write(signed, Buffer.from(lockText(journalId)), 0o644);
  }
  for (;;) {
    try {
      effects.link(signed, file);
      return;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    if (performance.now() >= deadline) throw indexBusyError(landing);
    await sleep(20 + Math.random() * 30);
  }
}

export function unlockIndex(landing: Landing, journalId: string, effects: FileEffects): void {
  const file = lockFile(landing);
  if (isOurs(file, journalId)) effects.remove(file);
  for (const name of ["lock", "index", "index.lock"] as const) removeOwn(landing, journalId, name, effects);
}

function removeOwn(landing: Landing, journalId: string, name: OwnName, effects: FileEffects): void {
  const own = ownFile(landing, journalId, name);
  if (statOf(own) !== undefined) effects.remove(own);
}

/** "index.lock" is made by git itself while it changes our copy of the index. */
type OwnName = "lock" | "index" | "index.lock";

/** Whether this landing's lock on the index exists; this process or one that died may have made it. */
export function indexLockStands(landing: Landing, journalId: string): boolean {
  return isOurs(lockFile(landing), journalId);
}

/** Beside git's own files, because only there a rename is atomic. */
function ownFile({ git: target }: Landing, journalId: string, name: OwnName): string {
  return join(target?.gitDirectory ?? "", `cleveragents-${journalId}.${name}`);
}

/**
 * Brings every entry of the landing to one side; entries that the user changed meanwhile are left, and named in the
 * result.
 */
export async function settleIndex(
  landing: Landing,
  direction: Direction,
  place: { readonly journalId: string; readonly effects: FileEffects },
): Promise<string[]> {
  const { root, git: target } = landing;
  if (target === undefined) return [];
  const own = join(target.gitDirectory, "index");
  const entries = await readIndex(root, own);
  const { updates, kept } = indexUpdates(landing.files, entries, direction);
  if (updates.length === 0) return kept;
  const next = ownFile(landing, place.journalId, "index");
  // A process that was killed here may have left its files.
  for (const name of ["index", "index.lock"] as const) removeOwn(landing, place.journalId, name, place.effects);
  const refreshed = writeNext(landing, updates, { own, next, entries, effects: place.effects });
  const env = { GIT_INDEX_FILE: next };
  if (refreshed === undefined) await updateByGit(landing, updates, { own, next, entries, effects: place.effects });
  if (refreshed !== true) await git(["update-index", "-q", "--refresh"], { cwd: root, env, accept: [0, 1] });
  place.effects.rename(next, own);
  return kept;
}

interface IndexUpdate {
  readonly path: string;
  readonly goal: IndexEntry | undefined;
}

interface NextIndex {
  readonly own: string;
  /** Where the new one is made. */
  readonly next: string;
  readonly entries: Entries;
  readonly effects: FileEffects;
}

/**
 * Writes the new index, with the times of the files that hold the blobs of their entries, so that git need not read
 * them again. False when some do not, for example where git converts line ends; undefined when only git can write it.
 */
function writeNext(
  { root }: Landing,
  updates: readonly IndexUpdate[],
  { own, next, entries, effects }: NextIndex,
): boolean | undefined {
  const index = readIndexFile(own);
  if (index === undefined) return undefined;
  using probe = new PathProbe(root);
  let refreshed = true;
  const isHeld = ({ path, mode, oid }: IndexEntry & { path: string }): boolean => {
    const found = probe.find(path);
    if (found === "nothing") return false;
    const holds =
      found !== "obstacle" && (found.mode === LINK) === (mode === "120000") && blobName(found.content, oid) === oid;
    refreshed &&= holds;
    return holds;
  };
  const changes = new Map<string, NewEntry | undefined>();
  for (const { path, goal } of updates) {
    if (goal === undefined) {
      changes.set(path, undefined);
      continue;
    }
    const { skipped = false, assumed = false } = entries.get(path) ?? {};
    // The times are read first: a write while the bytes are being read shows in later times.
    const stat = bigStatOf(join(root, path));
    changes.set(path, { ...goal, stat: isHeld({ ...goal, path }) ? stat : undefined, skipped, assumed });
  }
  const bytes = changeIndex(index, changes, isHeld);
  if (bytes === undefined) return undefined;
  effects.write(next, bytes, 0o644);
  return refreshed;
}

function bigStatOf(file: string): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

async function updateByGit(
  { root, git: target }: Landing,
  updates: readonly IndexUpdate[],
  { own, next, entries, effects }: NextIndex,
): Promise<void> {
  const written = lstatSync(own, { throwIfNoEntry: false });
  effects.write(next, readFileSync(own), 0o644);
  // With a newer time git would trust the times of files that changed in the second in which the index was written.
  if (written !== undefined) utimesSync(next, secondOf(written), secondOf(written));
  const env = { GIT_INDEX_FILE: next };
  const nothing = noObject(target?.newCommit ?? "");
  const lines = updates
    .toSorted((a, b) => Number(a.goal !== undefined) - Number(b.goal !== undefined))
    .map(({ path, goal }) => `${goal?.mode ?? "0"} ${goal?.oid ?? nothing}\t${path}\0`);
  await git(["update-index", "-z", "--index-info"], { cwd: root, env, input: lines.join("") });
  for (const [mark, option] of MARKS) {
    const marked = updates.filter(({ path, goal }) => goal !== undefined && entries.get(path)?.[mark] === true);
    const input = marked.map(({ path }) => `${path}\0`).join("");
    if (input !== "") await git(["update-index", "-z", option, "--stdin"], { cwd: root, env, input });
  }
}

/** True when every entry is still the one from which the landing was worked out. */
export async function indexUnchanged(landing: Landing): Promise<boolean> {
  const { root, git: target } = landing;
  if (target === undefined) return true;
  const entries = await readIndex(root, join(target.gitDirectory, "index"));
  return landing.files.every(({ path, index }) => index === undefined || same(entries.get(path), index.before));
}

function indexUpdates(
  files: readonly FileMove[],
  entries: ReadonlyMap<string, ListedEntry>,
  direction: Direction,
): { updates: IndexUpdate[]; kept: string[] } {
  const updates: IndexUpdate[] = [];
  const kept: string[] = [];
  for (const { path, index } of files) {
    if (index === undefined) continue;
    const [goal, other] = direction === "forward" ? [index.after, index.before] : [index.before, index.after];
    const now = entries.get(path);
    if (same(now, goal)) continue;
    if (same(now, other)) updates.push({ path, goal });
    else kept.push(path);
  }
  return { updates, kept };
}

function same(a: ListedEntry | undefined, b: IndexEntry | undefined): boolean {
  return a?.unmerged !== true && a?.oid === b?.oid && a?.mode === b?.mode;
}

function lockFile({ git: target }: Landing): string {
  return join(target?.gitDirectory ?? "", "index.lock");
}

function lockText(journalId: string): string {
  return `cleveragents ${journalId}\n`;
}

function isOurs(file: string, journalId: string): boolean {
  try {
    return readFileSync(file, "utf8") === lockText(journalId);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function indexBusyError(landing: Landing): AgentsError {
  const { root } = landing;
  return new AgentsError("resource_busy", `Another git command is running in ${root} and holds the index.`, {
    kept: "Nothing was changed.",
    next: [{ text: "try again when it has ended" }, { text: `if none is running, remove ${lockFile(landing)}` }],
  });
}
