/** Makes the tree and the commit of a plan's changes in the user's repository, through one `git fast-import`. */
import type { FileImage } from "../domain/plan/change-entry.ts";
import { git, gitText } from "./git.ts";
import { blobName, DURABLE, EMAIL, NAME, treeOf, type TreeDifference, type TreeFile } from "./git-objects.ts";
import type { Identity } from "./git-settings.ts";

export interface TreeChange {
  readonly path: string;
  readonly after: FileImage | undefined;
}

export interface MadeTree {
  readonly tree: string;
  /** The bytes that went into it, by the names of their blobs: they need not be read back. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** The hashes under which these bytes are stored. */
  readonly hashes: ReadonlyMap<Uint8Array, string>;
  /** The files that differ from the base; undefined where only a comparison of the two trees can tell. */
  readonly differences: readonly TreeDifference[] | undefined;
  /** With the base as its parent; undefined when none was wanted, or when only git itself knows the committer. */
  readonly commit: string | undefined;
}

export interface TreeWish {
  /** Contents that were never stored are left out. */
  readonly contents: (hashes: readonly string[]) => AsyncIterable<readonly [hash: string, bytes: Uint8Array]>;
  readonly missingError: (hash: string) => Error;
  /** Commit the tree too. The identity is asked for when all other input has been written. */
  readonly commit?: { readonly message: string; readonly identity: () => Promise<Identity | undefined> } | undefined;
}

/**
 * The tree that the commit `base` becomes by the changes: blobs, trees and the commit through one process, into one
 * pack, with one wait for the disk, while the bytes are still being read from the store. The same process lists the old
 * file at each path. (An index filled by `read-tree`, changed and written as a tree took three more processes and a
 * second wait; the commit and the comparison of the trees took one more each.) Git makes trees only for a commit on a
 * branch; `reset` removes the branch before it becomes a ref. Deltas are left to git's own housekeeping: to search for
 * them took half of the time.
 */
export async function treeWith(
  repository: string,
  base: string,
  changes: readonly TreeChange[],
  wish: TreeWish,
): Promise<MadeTree> {
  const blobs = new Map<string, Uint8Array>();
  const hashes = new Map<Uint8Array, string>();
  if (changes.length === 0)
    return { tree: await treeOf(repository, base), blobs, hashes, differences: [], commit: undefined };
  const names = new Map<string, string>();
  const told = { committed: false };
  const input = instructions(base, changes, wish, { names, blobs, hashes, told });
  // Names that differ only in case are two names, also where the user's file system takes them for one.
  const settings = ["-c", "pack.compression=1", "-c", "core.ignoreCase=false"];
  const args = [...DURABLE, ...settings, "fast-import", "--quiet", "--done", "--depth=0"];
  const { stdout } = await git(args, { cwd: repository, input, env: KEEP_MEMORY });
  const lines = stdout.toString("utf8").split("\n");
  const [, tree] = /^040000 tree (\w+)\t/.exec(lines[changes.length] ?? "") ?? [];
  return {
    // When no file is left, git prints no tree.
    tree: tree ?? (await emptyTree(repository)),
    blobs,
    hashes,
    differences: differencesIn(lines, changes, names),
    commit: told.committed ? lines[changes.length + 1] : undefined,
  };
}

/**
 * For each object git allocates the memory for compression and frees it, and the C library returns it to the system and
 * fetches it again, 4,000 times for 1,000 files: that was two thirds of the processor time. Other C libraries do not
 * have these settings.
 */
const KEEP_MEMORY = { MALLOC_TRIM_THRESHOLD_: String(128 * 1024 * 1024), MALLOC_TOP_PAD_: String(4 * 1024 * 1024) };

/** Input is passed on in pieces of this size: each one costs a turn of the event loop. */
const PIECE = 256 * 1024;

async function* instructions(
  base: string,
  changes: readonly TreeChange[],
  { contents, missingError, commit }: TreeWish,
  made: {
    names: Map<string, string>;
    blobs: Map<string, Uint8Array>;
    hashes: Map<Uint8Array, string>;
    told: { committed: boolean };
  },
): AsyncGenerator<Uint8Array> {
  const hashes = [...new Set(changes.flatMap(({ after }) => (after === undefined ? [] : [after.hash])))];
  const marks = new Map(hashes.map((hash, index) => [hash, `:${index + 1}`]));
  let [piece, size]: [Uint8Array[], number] = [[], 0];
  for await (const [hash, content] of contents(hashes)) {
    const name = blobName(content, base);
    made.names.set(hash, name);
    made.blobs.set(name, content);
    made.hashes.set(content, hash);
    piece.push(Buffer.from(`blob\nmark ${marks.get(hash)}\ndata ${content.byteLength}\n`), content, LINE_END);
    size += content.byteLength;
    if (size < PIECE) continue;
    yield Buffer.concat(piece);
    [piece, size] = [[], 0];
  }
  const lost = hashes.find((hash) => !made.names.has(hash));
  if (lost !== undefined) throw missingError(lost);
  yield Buffer.concat(piece);
  const identity = await commit?.identity();
  made.told.committed = identity !== undefined;
  yield Buffer.from(commitOf(base, changes, marks, { message: commit?.message ?? "", identity }));
}

const LINE_END = Buffer.from("\n");

/** Never becomes a ref. */
const PASSING = "refs/cleveragents/passing";

function commitOf(
  base: string,
  changes: readonly TreeChange[],
  marks: ReadonlyMap<string, string>,
  { message, identity }: { readonly message: string; readonly identity: Identity | undefined },
): string {
  const { author, committer } = identity ?? OUR_IDENTITY;
  const said = identity === undefined ? "" : message;
  const lines = [
    `commit ${PASSING}\nmark :${marks.size + 1}\nauthor ${author}\ncommitter ${committer}\n`,
    `data ${Buffer.byteLength(said)}\n${said}\nfrom ${base}\n`,
    ...changes.map(({ path }) => `ls ${quoted(path)}\n`),
    // Deletions come first and make room: a file may take the place of a directory.
    ...changes.flatMap(({ path, after }) => (after === undefined ? [`D ${quoted(path)}\n`] : [])),
    ...changes.flatMap(({ path, after }) =>
      after === undefined ? [] : [`M ${modeIn(after)} ${marks.get(after.hash)} ${quoted(path)}\n`],
    ),
    `ls ""\n\n`,
    identity === undefined ? "" : `get-mark :${marks.size + 1}\n`,
    `reset ${PASSING}\n\ndone\n`,
  ];
  return lines.join("");
}

const OUR_IDENTITY: Identity = { author: `${NAME} <${EMAIL}> 0 +0000`, committer: `${NAME} <${EMAIL}> 0 +0000` };

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

function modeIn({ mode }: FileImage): string {
  return mode.toString(8);
}

/**
 * Each line is the base's entry at a path. Where that was a directory, only a comparison of the trees lists the files
 * in it.
 */
function differencesIn(
  lines: readonly string[],
  changes: readonly TreeChange[],
  names: ReadonlyMap<string, string>,
): TreeDifference[] | undefined {
  const differences: TreeDifference[] = [];
  for (const [index, { path, after: image }] of changes.entries()) {
    const [, mode = "", oid = ""] = /^(\d+) \w+ (\w+)\t/.exec(lines[index] ?? "") ?? [];
    if (mode === "040000") return undefined;
    const before = oid === "" ? undefined : { mode, oid };
    const after = image === undefined ? undefined : { mode: modeIn(image), oid: names.get(image.hash) ?? "" };
    if (!sameFile(before, after)) differences.push({ path, before, after });
  }
  return differences;
}

function sameFile(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.mode === b?.mode && a?.oid === b?.oid;
}

function emptyTree(repository: string): Promise<string> {
  return gitText([...DURABLE, "hash-object", "-t", "tree", "-w", "--stdin"], { cwd: repository });
}
