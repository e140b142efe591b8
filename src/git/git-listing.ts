/**
 * Which files of a directory count, by git's own rules: those that are tracked, and those that are not ignored. A plain
 * directory is listed in the same way, through an empty repository of ours, so that `.gitignore` files mean the same
 * everywhere.
 *
 * Only names are listed, so git runs no program of the tree's, and a sandbox is listed unconfined: to confine it would
 * cost more than the listing.
 */
import { isUtf8 } from "node:buffer";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, type GitOptions, type GitResult, LISTING_MS } from "./git.ts";
import { findWorkTree } from "./work-tree.ts";

export interface Listing {
  /** Relative, with `/`, without duplicates, in the order of their code units. */
  readonly paths: readonly string[];
  readonly gaps: readonly { readonly path: string; readonly reason: string }[];
}

const LIST = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];

export interface ListedTree {
  readonly root: string;
  /**
   * Whose rules count. "found" is the default and only for a user's own directories: the repository that git finds. In
   * a sandbox a command may have made that one; there it is a repository of ours outside the tree, or none.
   */
  readonly repository?: "found" | "none" | { readonly gitDir: string };
}

/** @param spare a directory for the empty repository of ours; it is made when it is needed. */
export async function listFiles(
  { root, repository = "found" }: ListedTree,
  spare: string,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const options = { cwd: root, signal, anyVersion: true } as const;
  if (repository === "none") return listPlain(root, spare, { ...options, timeoutMs: LISTING_MS });
  if (repository !== "found") {
    return listing(await git([...apart(repository.gitDir, root), ...LIST], { ...options, timeoutMs: LISTING_MS }));
  }
  const isCheckout = existsSync(join(root, ".git"));
  // Without a `.git` above git need not be asked: to start it takes a tenth of the time of a repeated question.
  const isPart = isCheckout || (findWorkTree(root) !== undefined && (await isPartOfCheckout(options)));
  return isPart ? listing(await git(LIST, options)) : listPlain(root, spare, options);
}

async function listPlain(root: string, spare: string, options: GitOptions): Promise<Listing> {
  makeEmptyRepository(spare);
  return listing(await git([...apart(spare, root), ...LIST, "--exclude=node_modules/"], options));
}

/** With a git directory that is not in the tree. */
function apart(gitDir: string, root: string): string[] {
  return [`--git-dir=${gitDir}`, `--work-tree=${root}`];
}

/** A directory that the checkout around it ignores is not a part of it: it counts by itself. */
async function isPartOfCheckout(options: GitOptions): Promise<boolean> {
  const inside = await git(["rev-parse", "--is-inside-work-tree"], { ...options, accept: [0, 128] });
  if (inside.stdout.toString().trim() !== "true") return false;
  return (await git(["check-ignore", "--quiet", "."], { ...options, accept: [0, 1, 128] })).code === 1;
}

function listing({ stdout, stderr }: GitResult): Listing {
  const paths = new Set<string>();
  const gaps = new Map<string, string>();
  for (const name of namesIn(stdout, (bytes) => gaps.set(bytes.toString("utf8"), "its name is not valid UTF-8"))) {
    if (name.endsWith("/")) gaps.set(name.slice(0, -1), "a repository of its own");
    else paths.add(name);
  }
  for (const [, path = "", reason = ""] of stderr.matchAll(/^warning: could not open directory '(.*)\/': (.*)$/gm)) {
    gaps.set(path, `a directory that cannot be read: ${reason}`);
  }
  return {
    paths: [...paths].sort(byCodeUnits),
    gaps: [...gaps].map(([path, reason]) => ({ path, reason })),
  };
}

/** The names that are UTF-8; mostly all of them are. */
function namesIn(output: Buffer, onOther: (name: Buffer) => void): readonly string[] {
  if (isUtf8(output)) return output.toString("utf8").split("\0").slice(0, -1);
  return Array.from(pieces(output)).flatMap((name) => {
    if (isUtf8(name)) return [name.toString("utf8")];
    onOther(name);
    return [];
  });
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function* pieces(output: Buffer): Generator<Buffer> {
  let from = 0;
  for (let to = output.indexOf(0); to !== -1; to = output.indexOf(0, from)) {
    yield output.subarray(from, to);
    from = to + 1;
  }
}

/** The least that git accepts as a repository. Several processes may make it at once. */
function makeEmptyRepository(directory: string): void {
  for (const part of ["objects", "refs"]) mkdirSync(join(directory, part), { recursive: true, mode: 0o700 });
  if (!existsSync(join(directory, "HEAD"))) writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
}
