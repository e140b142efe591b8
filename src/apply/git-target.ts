/**
 * Finds the branch of the user's repository to which a change is applied, and judges whether it may be applied there
 * now.
 */
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { git, gitText } from "../git/git.ts";
import { shown } from "../domain/text/text.ts";
import type { GitLanding, Landing } from "../ledger/landing.ts";
import { codeOf, statOf } from "./user-tree.ts";

/** The target branch as it is now. */
export interface GitTarget {
  readonly root: string;
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  readonly ref: string;
  readonly commit: string;
  /** The tree of the commit. */
  readonly tree: string;
  readonly checkedOut: boolean;
  readonly created?: true;
}

/**
 * Finds the target, or says why nothing may be applied there now. `ref` is the branch the plan started from, undefined
 * when HEAD was detached. A commit below a merge or rebase of the user's, or below another work tree, would change what
 * they are about to do.
 */
export async function findGitTarget(root: string, ref: string | undefined): Promise<GitTarget | string> {
  if (!existsSync(root)) return `${shown(root, 300)} is gone`;
  const head = await readHead(root, ref ?? "HEAD");
  return typeof head === "string" ? head : judge(head, ref);
}

/** The target of a landing that makes the branch `ref`, on top of the commit. */
export async function newBranchTarget(root: string, ref: string, commit: string): Promise<GitTarget | string> {
  if (!existsSync(root)) return `${shown(root, 300)} is gone`;
  const found = await readHead(root, commit);
  if (typeof found === "string") return found;
  const { gitDirectory, commonDirectory, tree } = found;
  return { root, gitDirectory, commonDirectory, ref, commit, tree, checkedOut: false, created: true };
}

/**
 * Reads the target of a landing again. The result says how it differs from what was found before; undefined if it does
 * not.
 */
export async function movedMeanwhile({ root, git: known }: Landing): Promise<string | undefined> {
  // Git itself refuses to make a branch that is there.
  if (known === undefined || known.created === true) return undefined;
  const ref = known.ref === "HEAD" ? undefined : known.ref;
  const head = headInFiles(root, known);
  const now = head === undefined ? await findGitTarget(root, ref) : await judge(head, ref);
  if (typeof now === "string") return now;
  if (now.checkedOut !== known.checkedOut) return `another branch was checked out in ${root}`;
  return now.commit === known.oldCommit ? undefined : `${shortRef(known.ref)} moved`;
}

async function judge<Found extends Head>(
  { headRef, ...facts }: Found,
  ref: string | undefined,
): Promise<(Omit<Found, "headRef"> & { readonly checkedOut: boolean }) | string> {
  const { root, gitDirectory, commonDirectory } = facts;
  if (ref === undefined && headRef !== undefined) {
    return `the plan started from a detached HEAD, and ${shortRef(headRef)} is checked out now`;
  }
  if (facts.commit === "") return `the branch ${shortRef(facts.ref)} is gone`;
  const checkedOut = headRef === ref;
  const busy = checkedOut ? inProgress(gitDirectory) : undefined;
  if (busy !== undefined) return `a ${busy} is in progress in ${shown(root, 300)}`;
  if (checkedOut && !existsSync(join(gitDirectory, "index")))
    return `nothing was ever checked out in ${shown(root, 300)}: git has no index there (git reset makes one)`;
  if (ref === undefined) return { ...facts, checkedOut };
  const elsewhere = await checkedOutElsewhere(root, ref, { gitDirectory, commonDirectory });
  if (elsewhere !== undefined)
    return `${shortRef(ref)} is checked out in ${shown(elsewhere, 300)}${checkedOut ? " too" : ""}`;
  if (await isRebased(commonDirectory, ref)) return `${shortRef(ref)} is being rebased`;
  return { ...facts, checkedOut };
}

type Head = Omit<GitTarget, "checkedOut" | "tree"> & { readonly headRef: string | undefined };

/**
 * Where git keeps HEAD and the branch in separate files, and both hold what they held, git need not be started.
 * Undefined in every other case: a packed branch, refs that are kept in tables, a repository somewhere else.
 */
function headInFiles(root: string, known: GitLanding): Head | undefined {
  const { gitDirectory, commonDirectory, ref, oldCommit: commit } = known;
  if (gitDirectory !== join(root, ".git") || commonDirectory !== gitDirectory) return undefined;
  if (statOf(gitDirectory)?.isDirectory() !== true) return undefined;
  const facts = { root, gitDirectory, commonDirectory, ref, commit };
  const head = textOf(join(gitDirectory, "HEAD"));
  if (ref === "HEAD") return head === `${commit}\n` ? { ...facts, headRef: undefined } : undefined;
  const branch = textOf(join(commonDirectory, ref));
  return head === `ref: ${ref}\n` && branch === `${commit}\n` ? { ...facts, headRef: ref } : undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

const PLACES = ["--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"];

/** Where the repository is and what is checked out; an empty commit when `ref` has none. */
async function readHead(root: string, ref: string): Promise<(Head & { readonly tree: string }) | string> {
  const top = await realpath(root);
  const all = await linesOf(root, [...PLACES, `${ref}^{commit}`, `${ref}^{tree}`, "--symbolic-full-name", "HEAD"]);
  const [gitDirectory = "", commonDirectory = "", foundTop, commit = "", tree = "", head] = all;
  if (all.length === 6 && foundTop === top) {
    return { root, gitDirectory, commonDirectory, ref, commit, tree, headRef: head === "HEAD" ? undefined : head };
  }
  // Something is missing. Asked piece by piece, git tells which.
  const places = await linesOf(root, PLACES);
  if (places[2] !== top) return `${shown(root, 300)} is no longer a git work tree`;
  const symbolic = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: root, accept: [0, 1] });
  const headRef = symbolic.code === 0 ? symbolic.stdout.toString("utf8").trim() : undefined;
  const [found = "", its = ""] = await linesOf(root, [`${ref}^{commit}`, `${ref}^{tree}`]);
  const [own = "", common = ""] = places;
  return { root, gitDirectory: own, commonDirectory: common, ref, commit: found, tree: its, headRef };
}

/** Empty when one of the answers is missing. */
async function linesOf(root: string, asked: readonly string[]): Promise<string[]> {
  const { code, stdout } = await git(["rev-parse", ...asked], { cwd: root, accept: [0, 1, 128] });
  return code === 0 ? stdout.toString("utf8").trimEnd().split("\n") : [];
}

export function shortRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

const SIGNS: readonly (readonly [file: string, what: string])[] = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["sequencer", "series of cherry-picks or reverts"],
  ["BISECT_LOG", "bisection"],
];

/** A merge, rebase or the like that is in progress in the work tree: until it has ended nothing can be applied. */
export async function unfinishedIn(root: string): Promise<string | undefined> {
  const [gitDirectory] = await linesOf(root, ["--path-format=absolute", "--git-dir"]);
  return gitDirectory === undefined ? undefined : inProgress(gitDirectory);
}

function inProgress(gitDirectory: string): string | undefined {
  return SIGNS.find(([file]) => existsSync(join(gitDirectory, file)))?.[1];
}

/**
 * Git lists the main work tree first, and gives a wrong path for it when the repository is kept elsewhere, as that of a
 * submodule is: so the main work tree is recognized by its position, the others by their paths.
 */
async function checkedOutElsewhere(
  root: string,
  ref: string,
  { gitDirectory, commonDirectory }: Pick<GitTarget, "gitDirectory" | "commonDirectory">,
): Promise<string | undefined> {
  // Most repositories have one work tree only, and git need not be asked.
  if (!existsSync(join(commonDirectory, "worktrees"))) return undefined;
  const inMain = gitDirectory === commonDirectory;
  const listing = await gitText(["worktree", "list", "--porcelain"], { cwd: root });
  const here = await realpath(root);
  for (const [index, block] of listing.split("\n\n").entries()) {
    const lines = block.split("\n");
    const path = lines[0]?.replace(/^worktree /, "") ?? "";
    const isHere = inMain ? index === 0 : path === here;
    if (lines.includes(`branch ${ref}`) && !isHere) return path;
  }
  return undefined;
}

/**
 * During a rebase HEAD is detached, but at its end git requires that the branch, and those it updates too, are where
 * they were.
 */
async function isRebased(commonDirectory: string, ref: string): Promise<boolean> {
  const trees = await readdir(join(commonDirectory, "worktrees")).catch(() => []);
  const directories = [commonDirectory, ...trees.map((name) => join(commonDirectory, "worktrees", name))];
  for (const directory of directories) {
    for (const kind of ["rebase-merge", "rebase-apply"]) {
      const name = await readFile(join(directory, kind, "head-name"), "utf8").catch(() => "");
      if (name.trim() === ref) return true;
    }
    const along = await readFile(join(directory, "rebase-merge", "update-refs"), "utf8").catch(() => "");
    if (along.split("\n").includes(ref)) return true;
  }
  return false;
}
