import { existsSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { git, gitText } from "../execution/git.ts";
import { shown } from "../domain/text.ts";

/** The branch of the user's repository that a change is to land on, as it is now. */
export interface GitTarget {
  readonly root: string;
  readonly gitDirectory: string;
  readonly commonDirectory: string;
  readonly ref: string;
  readonly commit: string;
  readonly checkedOut: boolean;
}

/**
 * Finds the target, or says why nothing may land there now. `ref` is the branch the plan started from, undefined when HEAD was
 * detached. Committing below a merge or rebase of the user's, or below a work tree elsewhere, would change what they are about to do.
 */
export async function findGitTarget(root: string, ref: string | undefined): Promise<GitTarget | string> {
  if (!existsSync(root)) return `${shown(root, 300)} is gone`;
  const head = await readHead(root, ref ?? "HEAD");
  if (typeof head === "string") return head;
  const { headRef, ...facts } = head;
  if (ref === undefined && headRef !== undefined) {
    return `the plan started from a detached HEAD, and ${shortRef(headRef)} is checked out now`;
  }
  if (facts.commit === "") return `the branch ${shortRef(facts.ref)} is gone`;
  const checkedOut = headRef === ref;
  const { gitDirectory, commonDirectory } = facts;
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

type Head = Omit<GitTarget, "checkedOut"> & { readonly headRef: string | undefined };

const PLACES = ["--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"];

/** Where the repository is and what is checked out; an empty commit when `ref` has none. */
async function readHead(root: string, ref: string): Promise<Head | string> {
  const top = await realpath(root);
  const all = await linesOf(root, [...PLACES, `${ref}^{commit}`, "--symbolic-full-name", "HEAD"]);
  const [gitDirectory = "", commonDirectory = "", foundTop, commit = "", head] = all;
  if (all.length === 5 && foundTop === top) {
    return { root, gitDirectory, commonDirectory, ref, commit, headRef: head === "HEAD" ? undefined : head };
  }
  // Not everything is there. Asked piece by piece, git tells what is.
  const places = await linesOf(root, PLACES);
  if (places[2] !== top) return `${shown(root, 300)} is no git work tree any more`;
  const symbolic = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: root, accept: [0, 1] });
  const headRef = symbolic.code === 0 ? symbolic.stdout.toString("utf8").trim() : undefined;
  const [found = ""] = await linesOf(root, ["--verify", "--quiet", `${ref}^{commit}`]);
  return { root, gitDirectory: places[0] ?? "", commonDirectory: places[1] ?? "", ref, commit: found, headRef };
}

/** Nothing when there is an answer missing. */
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

function inProgress(gitDirectory: string): string | undefined {
  return SIGNS.find(([file]) => existsSync(join(gitDirectory, file)))?.[1];
}

/**
 * Git lists the main work tree first, and tells its place wrong when the repository is kept elsewhere, as that of a submodule is: so
 * whoever is in the main work tree is not told from the others by the path.
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

/** While a rebase runs HEAD is detached, but at its end git insists on finding the branch, and those it takes along, where they were. */
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
