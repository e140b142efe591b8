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
  const asked = ["--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"];
  const { code, stdout } = await git(["rev-parse", ...asked], { cwd: root, accept: [0, 128] });
  const [gitDirectory = "", commonDirectory = "", top = ""] = stdout.toString("utf8").split("\n");
  if (code !== 0 || top !== (await realpath(root))) return `${shown(root, 300)} is no git work tree any more`;
  const head = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: root, accept: [0, 1] });
  const headRef = head.code === 0 ? head.stdout.toString("utf8").trim() : undefined;
  if (ref === undefined && headRef !== undefined) {
    return `the plan started from a detached HEAD, and ${shortRef(headRef)} is checked out now`;
  }
  const target = ref ?? "HEAD";
  const found = await git(["rev-parse", "--verify", "--quiet", `${target}^{commit}`], {
    cwd: root,
    accept: [0, 1, 128],
  });
  if (found.code !== 0) return `the branch ${shortRef(target)} is gone`;
  const facts = { root, gitDirectory, commonDirectory, ref: target, commit: found.stdout.toString("utf8").trim() };
  const checkedOut = headRef === ref;
  const busy = checkedOut ? inProgress(gitDirectory) : undefined;
  if (busy !== undefined) return `a ${busy} is in progress in ${shown(root, 300)}`;
  if (ref === undefined) return { ...facts, checkedOut };
  const elsewhere = await checkedOutElsewhere(root, ref, { gitDirectory, commonDirectory });
  if (elsewhere !== undefined)
    return `${shortRef(ref)} is checked out in ${shown(elsewhere, 300)}${checkedOut ? " too" : ""}`;
  if (await isRebased(commonDirectory, ref)) return `${shortRef(ref)} is being rebased`;
  return { ...facts, checkedOut };
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
