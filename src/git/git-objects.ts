/**
 * Objects in the user's repository: blobs, trees and commits that nothing refers to yet, so that nothing the user sees
 * has changed. They are made durable before a ref can point at them.
 */
import { hash } from "node:crypto";
import { git, gitText } from "./git.ts";

export const DURABLE = ["-c", "core.fsync=committed,loose-object", "-c", "core.fsyncMethod=batch"];
/** Our messages are UTF-8, also where the user's own are in another encoding. */
const UTF8 = ["-c", "i18n.commitEncoding=UTF-8"];
/**
 * A file belongs where its author put it: no setting of the user's may move it because the directory around it moved.
 */
const IN_PLACE = ["-c", "merge.directoryRenames=false"];

/** The object name of these bytes, in a repository that has names as long as this one. */
export function blobName(content: Uint8Array, like: string): string {
  const algorithm = like.length === 64 ? "sha256" : "sha1";
  // In one call: a hash that is fed in pieces takes three times as long for a small file.
  return hash(algorithm, Buffer.concat([Buffer.from(`blob ${content.byteLength}\0`), content]));
}

/** As long as the repository's object names, whose length depends on its hash. */
export function noObject(like: string): string {
  return "0".repeat(like.length);
}

export async function treeOf(repository: string, commit: string): Promise<string> {
  return gitText(["rev-parse", "--verify", `${commit}^{tree}`], { cwd: repository });
}

export type Merged =
  | { readonly tree: string; readonly conflicts?: undefined }
  | { readonly tree?: undefined; readonly conflicts: readonly string[] };

/**
 * Three-way merge of whole trees, in object storage alone: lines, renames of files, modes, binary files, as `git merge`
 * does it.
 */
export async function mergeTrees(
  repository: string,
  trees: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<Merged> {
  const { base, ours, theirs } = trees;
  if (ours === base || ours === theirs) return { tree: theirs };
  if (theirs === base) return { tree: ours };
  // Artificial parents: git before 2.40 takes the base of a merge only from history.
  const root = await commitTree(repository, { tree: base, parents: [], message: "base" });
  const sides: string[] = [];
  for (const tree of [ours, theirs])
    sides.push(await commitTree(repository, { tree, parents: [root], message: "side" }));
  const { code, stdout } = await git(
    [...DURABLE, ...IN_PLACE, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides],
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
  // As the user, where git or the environment knows one; otherwise under our name, because a commit needs one.
  return code === 0 ? stdout.toString("utf8").trimEnd() : gitText(args, { ...options, env: OUR_IDENTITY });
}

const IDENTITY = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

/** The author and committer that the environment names. */
export function ownIdentity(): Record<string, string> {
  return Object.fromEntries(
    IDENTITY.flatMap((name) => {
      const value = process.env[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

export const [NAME, EMAIL] = ["CleverAgents", "cleveragents@localhost"];
const OUR_IDENTITY = {
  GIT_AUTHOR_NAME: NAME,
  GIT_AUTHOR_EMAIL: EMAIL,
  GIT_COMMITTER_NAME: NAME,
  GIT_COMMITTER_EMAIL: EMAIL,
};

/** A file that differs between two trees. */
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
    // One process each: with `--batch --filters` git writes the sizes from before the conversion, so the contents could
    // not be split.
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
