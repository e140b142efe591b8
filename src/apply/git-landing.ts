import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { git } from "../execution/git.ts";
import { EXECUTABLE, LINK, REGULAR } from "../execution/file-state.ts";
import { contentHash } from "../store/contents.ts";
import type { FileImage } from "../domain/change-entry.ts";
import {
  blobName,
  checkedOutContents,
  commitTree,
  mergeTrees,
  treeDifferences,
  type TreeDifference,
  type TreeFile,
  type WantedFile,
} from "./git-objects.ts";
import type { MadeTree, TreeChange } from "./git-import.ts";
import type { GitSettings } from "./git-settings.ts";
import type { GitTarget } from "./git-target.ts";
import type { HeldChange } from "./other-plans.ts";
import { readIndex, type ListedEntry } from "./git-index.ts";
import type { FileMove, Landing, LandingConflict } from "./landing.ts";
import { find, Looks, statOf, type Found } from "./user-tree.ts";

/** A change to land: what leads from the tree `base` to the tree `theirs`, whatever the branch has become meanwhile. */
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
  /** What leads from `base` to `theirs`, where that is known. */
  readonly differences?: MadeTree["differences"];
  /** `theirs` on top of the branch, where that was committed already. */
  readonly commit?: string | undefined;
  readonly message: string;
  readonly settings: GitSettings;
  /** What was found in the work tree a moment ago, by the paths of `differences`. */
  readonly found?: ReadonlyMap<string, Found>;
  /** The user's files were part of the base although they were not committed: on disk they are to go from `base` to `theirs`. */
  readonly dirty: boolean;
}

export interface Prepared {
  /** What stays although it is taken back, because other plans made it too. */
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
  // Where the branch is as the plan left it, what lands is what was made of it, and git need not be asked again.
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

/** Why the plan's change of a path and what is committed do not fit together. */
async function reasons(root: string, { base, dirty }: GitChange, ours: string): Promise<(path: string) => string> {
  if (!dirty) return () => "was changed on both sides";
  const missing = (await treeDifferences(root, base, ours)).filter(({ after }) => after === undefined);
  const unknown = new Set(missing.map(({ path }) => path));
  return (path) =>
    unknown.has(path)
      ? "is not committed: commit it, and the plan's change can land on it"
      : "was changed by the plan in lines that are not committed, or that were changed on the branch meanwhile";
}

/** How a file differs from what it should be, in the words of a user. */
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
  const { root, gitDirectory, commonDirectory, ref, oldCommit, newCommit, checkedOut } = git;
  const facts = { gitDirectory, commonDirectory, ref, oldCommit, newCommit, checkedOut };
  return { alias, root, git: facts, files, newDirectories };
}

interface Moves {
  readonly moves: FileMove[];
  readonly conflicts: { readonly path: string; readonly why: string }[];
  readonly contents: Map<string, Uint8Array>;
}

/** The files as they are and as they are to be, each checked to hold nothing of the user's that is not in git. */
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
    const entry = index.get(path);
    const complain = (why: string): void => void result.conflicts.push({ path, why });
    if (difference === undefined) {
      complain("moved meanwhile, and the plan began from uncommitted files");
      continue;
    }
    if (isSubmodule(difference.before) || isSubmodule(difference.after)) {
      complain("is a submodule");
      continue;
    }
    const inCommit = staged.get(path);
    const expectedEntry = inCommit === undefined ? undefined : inCommit.before;
    if (inCommit !== undefined && !sameEntry(entry, expectedEntry)) {
      complain(entry === undefined ? "was removed from git's index" : "has staged changes");
      continue;
    }
    const indexMove = inCommit === undefined ? {} : { index: { before: inCommit.before, after: inCommit.after } };
    if (entry?.skipped === true && find(root, path) === "nothing") {
      // Left out of the work tree by a sparse checkout, and it stays so.
      result.moves.push({ path, before: undefined, after: undefined, ...indexMove });
      continue;
    }
    const found = ahead?.get(path) ?? lookFor(root, path, leaving);
    const problem = await uncommitted(
      { root, path, found, words, settings },
      { file: difference.before, content: before.get(path) },
      after.get(path),
    );
    if (problem !== undefined) {
      complain(problem);
      continue;
    }
    const now = typeof found === "string" ? undefined : found;
    if (now !== undefined) result.contents.set(now.image.hash, now.content);
    const wantedAfter = imageFor(difference.after, after.get(path), {
      contents: result.contents,
      hashes: change.hashes,
    });
    result.moves.push({ path, before: now?.image, after: wantedAfter, ...indexMove });
  }
  return result;
}

/**
 * Both sides through the same few processes of git. What was there before is needed only where the files differ from their blobs;
 * elsewhere the file tells by its own name in git whether it is the blob.
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

/** Undefined when the file is what git knows it to be; otherwise what a user would call it. */
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
  // Line ends and filters: what counts is what git would store.
  const asStored = await git(["hash-object", `--path=${path}`, "--stdin"], { cwd: root, input: found.content });
  return asStored.stdout.toString("utf8").trim() === known.oid ? undefined : words.changed;
}

/** Others get a turn this often: git is being fed meanwhile. */
const TURN_MS = 2;

/** Looks at files that are about to change while git is at work on the rest. */
export async function lookAhead(root: string, changes: readonly TreeChange[]): Promise<ReadonlyMap<string, Found>> {
  const leaving = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path));
  const found = new Map<string, Found>();
  using looks = new Looks(root);
  let turned = performance.now();
  for (const { path } of changes) {
    if (performance.now() - turned > TURN_MS) {
      await turn();
      turned = performance.now();
    }
    found.set(path, lookFor(root, path, leaving, looks.find(path)));
  }
  return found;
}

/** What is at the path, where files that leave are taken as gone: a file may take the place of a directory, and the other way round. */
export function lookFor(root: string, path: string, leaving: ReadonlySet<string>, found = find(root, path)): Found {
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

/** Directories the new files need that are not there, outermost first. */
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
