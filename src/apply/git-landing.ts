/**
 * The landing of a change on a branch: a merge of whole trees in object storage, then, where the branch is checked out,
 * the move of each file and index entry. The user's files and refs are only read; a file that holds work which git does
 * not have is a conflict.
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { git } from "../git/git.ts";
import { EXECUTABLE, LINK, REGULAR } from "../platform/file-state.ts";
import { contentHash } from "../store/contents/contents.ts";
import type { FileImage } from "../domain/plan/change-entry.ts";
import {
  blobName,
  checkedOutContents,
  commitTree,
  mergeTrees,
  treeDifferences,
  type TreeDifference,
  type TreeFile,
  type WantedFile,
} from "../git/git-objects.ts";
import type { MadeTree, TreeChange } from "../git/git-import.ts";
import type { GitSettings } from "../git/git-settings.ts";
import type { GitTarget } from "./git-target.ts";
import type { HeldChange } from "./shared-worlds.ts";
import { readIndex, type ListedEntry } from "./git-index.ts";
import { BOTH_SIDES, type FileMove, type Landing, type LandingConflict } from "../ledger/landing.ts";
import { find, PathProbe, statOf, type Found } from "./user-tree.ts";

/** A change to apply: it leads from the tree `base` to the tree `theirs`; the branch may have moved meanwhile. */
export interface GitChange {
  readonly alias: string;
  readonly base: string;
  /** The tree of the branch as it is. */
  readonly ours: string;
  readonly theirs: string;
  /** Blobs of `theirs` whose bytes are at hand, by their names. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** The hashes of the bytes in `blobs`, where they are known. */
  readonly hashes?: MadeTree["hashes"];
  /** The files that differ between `base` and `theirs`, where that is known. */
  readonly differences?: MadeTree["differences"];
  /** The commit of `theirs` on top of the branch, where it was made already. */
  readonly commit?: string | undefined;
  readonly message: string;
  readonly settings: GitSettings;
  /** The entries found in the work tree a moment ago, by the paths of `differences`. */
  readonly found?: ReadonlyMap<string, Found>;
  /**
   * The user's files were part of the base although they were not committed: on disk they are to go from `base` to
   * `theirs`.
   */
  readonly dirty: boolean;
}

export interface Prepared {
  /** Changes that an undo leaves in place because other plans made them too. */
  readonly held?: readonly HeldChange[];
  readonly landing?: Landing;
  readonly conflicts: readonly LandingConflict[];
  /** Bytes the landing refers to, by their hash. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

/** Works out the landing in object storage; the user's files and refs are only read. */
export async function prepareGit(target: GitTarget, change: GitChange): Promise<Prepared> {
  const { root } = target;
  const { alias, ours, message } = change;
  const none = new Map<string, Uint8Array>();
  const merged = await mergeTrees(root, { base: change.base, ours, theirs: change.theirs });
  if (merged.conflicts !== undefined) {
    const why = await reasons(root, change, ours);
    return { conflicts: merged.conflicts.map((path) => ({ resource: alias, path, why: why(path) })), contents: none };
  }
  // Where the branch has not moved since the plan began, the merged tree is the plan's own, and git need not be asked
  // again.
  const unmoved = ours === change.base && merged.tree === change.theirs;
  const [newCommit, committed] = await Promise.all([
    merged.tree === ours
      ? target.commit
      : ((unmoved ? change.commit : undefined) ??
        commitTree(root, { tree: merged.tree, parents: [target.commit], message })),
    (unmoved ? change.differences : undefined) ?? treeDifferences(root, ours, merged.tree),
  ]);
  const git = { ...target, oldCommit: target.commit, newCommit };
  const submodules = committed.filter(({ before, after }) => isSubmodule(before) || isSubmodule(after));
  if (submodules.length > 0) {
    const why = "is a submodule";
    return { conflicts: submodules.map(({ path }) => ({ resource: alias, path, why })), contents: none };
  }
  if (!target.checkedOut) {
    return { landing: landingOf(alias, git, [], []), conflicts: [], contents: none };
  }
  const onDisk = change.dirty
    ? (change.differences ?? (await treeDifferences(root, change.base, change.theirs)))
    : committed;
  const files = await moves(target, change, { committed, onDisk });
  const conflicts = files.conflicts.map(({ path, why }) => ({ resource: alias, path, why }));
  if (conflicts.length > 0) return { conflicts, contents: none };
  const landing = landingOf(alias, git, files.moves, missingDirectories(root, files.moves));
  return { landing, conflicts: [], contents: files.contents };
}

/** Why the plan's change of a path conflicts with the branch. */
async function reasons(root: string, { base, dirty }: GitChange, ours: string): Promise<(path: string) => string> {
  if (!dirty) return () => BOTH_SIDES;
  const missing = (await treeDifferences(root, base, ours)).filter(({ after }) => after === undefined);
  const unknown = new Set(missing.map(({ path }) => path));
  return (path) =>
    unknown.has(path)
      ? "is not committed: commit it, and the plan's change can be applied to it"
      : "was changed by the plan in lines that are not committed, or that were changed on the branch meanwhile";
}

/** How a file differs from its expected state, in the words of a user. */
const WORDS = { changed: "has uncommitted changes", deleted: "was deleted, which is not committed" };
const WORDS_WHEN_DIRTY = {
  changed: "was changed since the plan began from it",
  deleted: "was deleted since the plan began from it",
};

function landingOf(
  alias: string,
  git: GitTarget & { oldCommit: string; newCommit: string },
  files: readonly FileMove[],
  newDirectories: readonly string[],
): Landing {
  const { root, gitDirectory, commonDirectory, ref, oldCommit, newCommit, checkedOut, created } = git;
  const made = created === undefined ? {} : { created };
  const facts = { gitDirectory, commonDirectory, ref, oldCommit, newCommit, checkedOut, ...made };
  return { alias, root, git: facts, files, newDirectories };
}

interface Moves {
  readonly moves: FileMove[];
  readonly conflicts: { readonly path: string; readonly why: string }[];
  readonly contents: Map<string, Uint8Array>;
}

/** The files as they are and as they will be, each checked to hold no work of the user's that is not in git. */
async function moves(
  target: GitTarget,
  change: GitChange,
  { committed, onDisk }: Record<"committed" | "onDisk", readonly TreeDifference[]>,
): Promise<Moves> {
  const { root } = target;
  const { settings, blobs } = change;
  const words = change.dirty ? WORDS_WHEN_DIRTY : WORDS;
  const ahead = onDisk === change.differences ? change.found : undefined;
  const staged = new Map(committed.map((difference) => [difference.path, difference]));
  const paths = [...new Set([...onDisk.map(({ path }) => path), ...staged.keys()])].sort();
  const disk = new Map(onDisk.map((difference) => [difference.path, difference]));
  const wanted = (side: "before" | "after") =>
    [...disk.values()].flatMap((difference) => {
      const file = difference[side];
      return file === undefined ? [] : [{ path: difference.path, file }];
    });
  const [index, { before, after }] = await Promise.all([
    readIndex(root, join(target.gitDirectory, "index")),
    contentsOf(root, wanted("before"), wanted("after"), { settings, known: blobs }),
  ]);
  const result: Moves = { moves: [], conflicts: [], contents: new Map() };
  const leaving = new Set([...disk.values()].filter((one) => one.after === undefined).map(({ path }) => path));
  for (const path of paths) {
    const difference = disk.get(path);
    const inCommit = staged.get(path);
    const entry = index.get(path);
    if (difference === undefined) {
      result.conflicts.push({ path, why: "moved meanwhile, and the plan began from uncommitted files" });
      continue;
    }
    const problem = pathProblem(difference, inCommit, entry);
    if (problem !== undefined) {
      result.conflicts.push({ path, why: problem });
      continue;
    }
    const indexMove = inCommit === undefined ? {} : { index: { before: inCommit.before, after: inCommit.after } };
    if (entry?.skipped === true && find(root, path) === "nothing") {
      // Left out of the work tree by a sparse checkout, and it stays so.
      result.moves.push({ path, before: undefined, after: undefined, ...indexMove });
      continue;
    }
    const found = ahead?.get(path) ?? findWithout(root, path, leaving);
    const place = { root, path, found, words, settings };
    const known = { file: difference.before, content: before.get(path) };
    const why = await uncommitted(place, known, after.get(path));
    if (why !== undefined) {
      result.conflicts.push({ path, why });
      continue;
    }
    const now = typeof found === "string" ? undefined : found;
    if (now !== undefined) result.contents.set(now.image.hash, now.content);
    const { hashes } = change;
    const wantedAfter = imageFor(difference.after, after.get(path), { contents: result.contents, hashes });
    result.moves.push({ path, before: now?.image, after: wantedAfter, ...indexMove });
  }
  return result;
}

/** Why a path cannot change, by git's trees and index alone; undefined if it can. */
function pathProblem(
  onDisk: TreeDifference,
  inCommit: TreeDifference | undefined,
  entry: ListedEntry | undefined,
): string | undefined {
  if (isSubmodule(onDisk.before) || isSubmodule(onDisk.after)) return "is a submodule";
  if (inCommit === undefined || sameEntry(entry, inCommit.before)) return undefined;
  return entry === undefined ? "was removed from git's index" : "has staged changes";
}

/**
 * Both sides through the same few processes of git. The old contents are needed only where files differ from their
 * blobs (line ends, filters); elsewhere the file's own object name tells whether it is the blob.
 */
async function contentsOf(
  root: string,
  before: readonly WantedFile[],
  after: readonly WantedFile[],
  { settings, known }: { readonly settings: GitSettings; readonly known: ReadonlyMap<string, Uint8Array> },
): Promise<Record<"before" | "after", ReadonlyMap<string, Uint8Array>>> {
  const [old = [], now = []] = [before, after].map((side) => side.filter(({ file }) => !isSubmodule(file)));
  const converted = await settings.converted([...old, ...now]);
  const unlike = old.filter(({ path }) => converted.has(path));
  const contents = await checkedOutContents(root, [...unlike, ...now], { converted, known });
  const from = (side: readonly WantedFile[], offset: number): ReadonlyMap<string, Uint8Array> =>
    new Map(side.map(({ path }, index) => [path, contents[offset + index] ?? new Uint8Array()]));
  return { before: from(unlike, 0), after: from(now, unlike.length) };
}

function imageFor(
  file: TreeFile | undefined,
  content: Uint8Array | undefined,
  { contents, hashes }: { readonly contents: Map<string, Uint8Array>; readonly hashes: MadeTree["hashes"] | undefined },
): FileImage | undefined {
  if (file === undefined || content === undefined) return undefined;
  const hash = hashes?.get(content) ?? contentHash(content);
  contents.set(hash, content);
  return { hash, mode: modeOf(file) };
}

function modeOf(file: TreeFile): number {
  return file.mode === "120000" ? LINK : file.mode === "100755" ? EXECUTABLE : REGULAR;
}

function isSubmodule(file: TreeFile | undefined): boolean {
  return file?.mode === "160000";
}

function sameEntry(entry: ListedEntry | undefined, expected: TreeFile | undefined): boolean {
  if (entry === undefined || expected === undefined) return entry === undefined && expected === undefined;
  return entry.oid === expected.oid && entry.mode === expected.mode && !entry.unmerged;
}

/** Undefined when the file is as git knows it; otherwise the problem in the words of a user. */
async function uncommitted(
  place: Pick<GitChange, "settings"> & { root: string; path: string; found: Found; words: typeof WORDS },
  { file: known, content: knownContent }: { readonly file: TreeFile | undefined; content: Uint8Array | undefined },
  wantedContent: Uint8Array | undefined,
): Promise<string | undefined> {
  const { root, path, found, words, settings } = place;
  if (found === "obstacle") return "is in the way: a directory, or below a link";
  const isLink = found !== "nothing" && found.mode === LINK;
  if (known === undefined) {
    if (found === "nothing") return undefined;
    const same = wantedContent !== undefined && Buffer.compare(found.content, wantedContent) === 0;
    return same && !isLink ? undefined : "is there already, and git does not know it";
  }
  if (found === "nothing") return words.deleted;
  if (isLink !== (modeOf(known) === LINK)) return words.changed;
  if (!isLink && found.mode !== modeOf(known) && (await settings.tracksModes())) return words.changed;
  const same =
    knownContent === undefined
      ? blobName(found.content, known.oid) === known.oid
      : Buffer.compare(found.content, knownContent) === 0;
  if (same) return undefined;
  if (isLink) return words.changed;
  // Line ends and filters: the bytes that git would store count.
  const asStored = await git(["hash-object", `--path=${path}`, "--stdin"], { cwd: root, input: found.content });
  return asStored.stdout.toString("utf8").trim() === known.oid ? undefined : words.changed;
}

/** The event loop gets a turn this often: git is being fed meanwhile. */
const TURN_MS = 2;

/** Reads the files that are about to change while git works on the rest. */
export async function findAhead(root: string, changes: readonly TreeChange[]): Promise<ReadonlyMap<string, Found>> {
  const leaving = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path));
  const found = new Map<string, Found>();
  using probe = new PathProbe(root);
  let turned = performance.now();
  for (const { path } of changes) {
    if (performance.now() - turned > TURN_MS) {
      await turn();
      turned = performance.now();
    }
    found.set(path, findWithout(root, path, leaving, probe.find(path)));
  }
  return found;
}

/**
 * The entry at the path when the leaving files are gone: a file may take the place of a directory, and the other way
 * round.
 */
export function findWithout(root: string, path: string, leaving: ReadonlySet<string>, found = find(root, path)): Found {
  if (typeof found !== "string") return found;
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    if (leaving.has(above)) return "nothing";
    const there = statOf(join(root, above));
    if (there !== undefined && !there.isDirectory()) return "obstacle";
  }
  if (found !== "obstacle" || statOf(join(root, path))?.isDirectory() !== true) return found;
  return allLeaving(root, path, leaving) ? "nothing" : "obstacle";
}

function allLeaving(root: string, directory: string, leaving: ReadonlySet<string>): boolean {
  return readdirSync(join(root, directory), { withFileTypes: true }).every((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? allLeaving(root, path, leaving) : leaving.has(path);
  });
}

/** Directories that the new files need and that do not exist yet, outermost first. */
export function missingDirectories(root: string, files: readonly FileMove[]): string[] {
  const missing = new Set<string>();
  const seen = new Set<string>();
  for (const { path, after } of files) {
    if (after === undefined) continue;
    for (let above = dirname(path); above !== "." && !seen.has(above); above = dirname(above)) {
      seen.add(above);
      if (statOf(join(root, above))?.isDirectory() !== true) missing.add(above);
    }
  }
  return [...missing].sort();
}
