import { createHash } from "node:crypto";
import type { FileImage } from "../domain/change-entry.ts";
import { git, gitText } from "../execution/git.ts";

/**
 * Objects in the user's repository: blobs, trees and commits that nothing refers to yet, so that nothing the user sees has changed.
 * They are made durable before a ref can point at them.
 */
const DURABLE = ["-c", "core.fsync=committed,loose-object", "-c", "core.fsyncMethod=batch"];
/** Our messages are UTF-8, whatever the user's own are in. */
const UTF8 = ["-c", "i18n.commitEncoding=UTF-8"];

export interface TreeChange {
  readonly path: string;
  readonly after: FileImage | undefined;
}

export interface MadeTree {
  readonly tree: string;
  /** The bytes that went into it, by the names of their blobs: nobody has to read them back. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/**
 * The tree that the commit `base` becomes by the changes: blobs and trees through one process and into one pack. (An index filled by
 * `read-tree`, changed and written as a tree took three more processes and a second wait for the disk.) Git makes trees only for a
 * commit on a branch; `reset` takes the branch away before it becomes a ref. Deltas are left to git's own housekeeping: to look for
 * them took half of the time.
 */
export async function treeWith(
  repository: string,
  base: string,
  changes: readonly TreeChange[],
  contentsOf: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>,
): Promise<MadeTree> {
  if (changes.length === 0) return { tree: await treeOf(repository, base), blobs: new Map() };
  const hashes = [...new Set(changes.flatMap(({ after }) => (after === undefined ? [] : [after.hash])))];
  const contents = await contentsOf(hashes);
  const marks = new Map(hashes.map((hash, index) => [hash, `:${index + 1}`]));
  const parts: (Uint8Array | string)[] = [];
  const blobs = new Map<string, Uint8Array>();
  for (const [hash, mark] of marks) {
    const content = contents.get(hash);
    if (content === undefined) throw new Error(`the content ${hash} was not given`);
    blobs.set(blobName(content, base), content);
    parts.push(`blob\nmark ${mark}\ndata ${content.byteLength}\n`, content, "\n");
  }
  parts.push(`commit ${PASSING}\ncommitter ${NAME} <${EMAIL}> 0 +0000\ndata 0\nfrom ${base}\n`);
  // What goes makes room first: a file may take the place of a directory.
  for (const { path, after } of changes) if (after === undefined) parts.push(`D ${quoted(path)}\n`);
  for (const { path, after } of changes) {
    if (after !== undefined) parts.push(`M ${after.mode.toString(8)} ${marks.get(after.hash)} ${quoted(path)}\n`);
  }
  parts.push(`ls ""\n\nreset ${PASSING}\n\ndone\n`);
  const input = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  // Names that differ in case only are two names, whatever the user's file system makes of them.
  const args = [
    ...DURABLE,
    "-c",
    "pack.compression=1",
    "-c",
    "core.ignoreCase=false",
    "fast-import",
    "--quiet",
    "--done",
    "--depth=0",
  ];
  const { stdout } = await git(args, { cwd: repository, input });
  const [, tree] = /^040000 tree (\w+)\t/.exec(stdout.toString("utf8")) ?? [];
  return { tree: tree ?? (await emptyTree(repository)), blobs };
}

/** Never becomes a ref. */
const PASSING = "refs/cleveragents/passing";

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

/** When nothing is left, git has no tree to tell. */
function emptyTree(repository: string): Promise<string> {
  return gitText([...DURABLE, "hash-object", "-t", "tree", "-w", "--stdin"], { cwd: repository });
}

/** The name git gives to these bytes, in a repository that has names like this one. */
export function blobName(content: Uint8Array, like: string): string {
  const algorithm = like.length === 64 ? "sha256" : "sha1";
  return createHash(algorithm).update(`blob ${content.byteLength}\0`).update(content).digest("hex");
}

/** As long as the names of the repository's objects are, which depends on its hash. */
export function noObject(like: string): string {
  return "0".repeat(like.length);
}

export async function treeOf(repository: string, commit: string): Promise<string> {
  return gitText(["rev-parse", "--verify", `${commit}^{tree}`], { cwd: repository });
}

export type Merged =
  | { readonly tree: string; readonly conflicts?: undefined }
  | { readonly tree?: undefined; readonly conflicts: readonly string[] };

/** Three-way merge of whole trees, in object storage alone: lines, renames, modes, binary files, all as `git merge` does it. */
export async function mergeTrees(
  repository: string,
  trees: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<Merged> {
  const { base, ours, theirs } = trees;
  if (ours === base || ours === theirs) return { tree: theirs };
  if (theirs === base) return { tree: ours };
  // Made-up parents: git before 2.40 takes the base of a merge only from history.
  const root = await commitTree(repository, { tree: base, parents: [], message: "base" });
  const sides: string[] = [];
  for (const tree of [ours, theirs])
    sides.push(await commitTree(repository, { tree, parents: [root], message: "side" }));
  const { code, stdout } = await git(
    [...DURABLE, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides],
    { cwd: repository, accept: [0, 1] },
  );
  const [tree = "", ...paths] = stdout.toString("utf8").split("\0");
  if (code === 0) return { tree };
  return { conflicts: paths.filter((path) => path !== "") };
}

export async function commitTree(
  repository: string,
  commit: { readonly tree: string; readonly parents: readonly string[]; readonly message: string },
): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ["-p", parent]);
  const args = [...DURABLE, ...UTF8, "commit-tree", ...parents, "-F", "-", commit.tree];
  const options = { cwd: repository, input: commit.message };
  const { code, stdout } = await git(args, { ...options, accept: [0, 128], env: ownIdentity() });
  // As the user, where git or the environment knows one; otherwise as us, because a commit needs somebody.
  return code === 0 ? stdout.toString("utf8").trimEnd() : gitText(args, { ...options, env: NOBODY });
}

const IDENTITY = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

function ownIdentity(): Record<string, string> {
  return Object.fromEntries(
    IDENTITY.flatMap((name) => {
      const value = process.env[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

const [NAME, EMAIL] = ["CleverAgents", "cleveragents@localhost"];
const NOBODY = {
  GIT_AUTHOR_NAME: NAME,
  GIT_AUTHOR_EMAIL: EMAIL,
  GIT_COMMITTER_NAME: NAME,
  GIT_COMMITTER_EMAIL: EMAIL,
};

/** What differs between two trees, file by file. */
export interface TreeDifference {
  readonly path: string;
  readonly before: TreeFile | undefined;
  readonly after: TreeFile | undefined;
}

export interface TreeFile {
  readonly mode: string;
  readonly oid: string;
}

export async function treeDifferences(repository: string, before: string, after: string): Promise<TreeDifference[]> {
  const { stdout } = await git(["diff-tree", "-r", "-z", "--raw", "--no-renames", before, after], { cwd: repository });
  const fields = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(stdout).split("\0");
  const differences: TreeDifference[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode = "", newMode = "", oldOid = "", newOid = ""] = (fields[index] ?? "").slice(1).split(" ");
    const file = (mode: string, oid: string): TreeFile | undefined => (/^0+$/.test(oid) ? undefined : { mode, oid });
    differences.push({ path: fields[index + 1] ?? "", before: file(oldMode, oldOid), after: file(newMode, newOid) });
  }
  return differences;
}

/** A blob and the path it is checked out to. */
export interface WantedFile {
  readonly path: string;
  readonly file: TreeFile;
}

/** Blobs as they belong on disk: line ends, filters and encodings as the user's settings say. */
export async function checkedOutContents(
  repository: string,
  wanted: readonly WantedFile[],
  { converted, known }: { readonly converted: ReadonlySet<string>; readonly known: ReadonlyMap<string, Uint8Array> },
): Promise<Uint8Array[]> {
  const plain = wanted.filter(({ path, file }) => !converted.has(path) && !known.has(file.oid));
  const blobs = new Map(known);
  for (const [index, content] of (await readBlobs(repository, plain)).entries())
    blobs.set(plain[index]?.file.oid ?? "", content);
  const contents: Uint8Array[] = [];
  for (const { path, file } of wanted) {
    const blob = converted.has(path) ? undefined : blobs.get(file.oid);
    // One process each: with `--batch --filters` git tells the sizes from before the conversion, and nothing could be cut apart.
    contents.push(
      blob ?? (await git(["cat-file", "--filters", `--path=${path}`, file.oid], { cwd: repository })).stdout,
    );
  }
  return contents;
}

async function readBlobs(repository: string, wanted: readonly WantedFile[]): Promise<Uint8Array[]> {
  if (wanted.length === 0) return [];
  const input = wanted.map(({ file }) => `${file.oid}\n`).join("");
  const { stdout } = await git(["cat-file", "--batch"], { cwd: repository, input });
  const contents: Uint8Array[] = [];
  let position = 0;
  for (const { file, path } of wanted) {
    const end = stdout.indexOf(10, position);
    const [, type, size] = stdout.toString("utf8", position, end).split(" ");
    if (type !== "blob" || size === undefined) throw new Error(`git has no blob ${file.oid} for ${path}`);
    contents.push(stdout.subarray(end + 1, end + 1 + Number(size)));
    position = end + 1 + Number(size) + 1;
  }
  return contents;
}

const CONVERTING = ["eol", "filter", "ident", "working-tree-encoding"];

/** The paths whose files differ from their blobs, by the user's attributes and settings. */
export async function convertedPaths(repository: string, wanted: readonly WantedFile[]): Promise<ReadonlySet<string>> {
  const files = [...new Set(wanted.filter(({ file }) => file.mode !== "120000").map(({ path }) => path))];
  if (files.length === 0) return new Set();
  const asked = ["config", "--type=bool-or-str", "--get-regexp", "^core\\.(autocrlf|eol)$"];
  const [configured, attributes] = await Promise.all([
    git(asked, { cwd: repository, accept: [0, 1] }),
    git(["check-attr", "-z", "--stdin", ...CONVERTING], {
      cwd: repository,
      input: files.map((path) => `${path}\0`).join(""),
    }),
  ]);
  const settings = configured.stdout.toString("utf8").split("\n");
  const last = (key: string): string | undefined => settings.findLast((line) => line.startsWith(`${key} `));
  if (last("core.autocrlf") === "core.autocrlf true" || last("core.eol")?.toLowerCase() === "core.eol crlf")
    return new Set(files);
  const fields = attributes.stdout.toString("utf8").split("\0");
  const converted = new Set<string>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [path = "", attribute, value] = fields.slice(index, index + 3);
    const plain = value === "unspecified" || value === "unset" || (attribute === "eol" && value === "lf");
    if (!plain) converted.add(path);
  }
  return converted;
}
