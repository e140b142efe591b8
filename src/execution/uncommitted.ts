import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import { ifCode } from "./contained-path.ts";
import { git, gitText } from "./git.ts";

/**
 * The user's checkout as it is, as a commit on top of `parent`: what is staged, changed and new, but not what is ignored. It is made
 * with an index of its own in `scratch`; the user's index, stash, branches and files are only read.
 */
export async function commitUncommitted(path: string, parent: string, scratch: string): Promise<string> {
  const unmerged = await gitText(["ls-files", "--unmerged"], { cwd: path });
  if (unmerged !== "") {
    throw new AgentsError("git_failed", `${path} has unresolved conflicts, which cannot be a beginning.`, {
      kept: "Nothing was changed.",
      next: ["resolve the conflicts, or execute without --include-dirty"],
    });
  }
  const index = join(scratch, "index");
  // A copy of the user's knows which files it need not read again.
  const own = resolve(path, await gitText(["rev-parse", "--git-path", "index"], { cwd: path }));
  await copyFile(own, index).catch(ifCode("ENOENT"));
  await git(["add", "--all"], { cwd: path, index });
  const tree = await gitText(["write-tree"], { cwd: path, index });
  const identity = ["-c", "user.name=CleverAgents", "-c", "user.email=cleveragents@localhost"];
  const message = "The checkout with what was not committed";
  return gitText([...identity, "commit-tree", tree, "-p", parent, "-m", message], { cwd: path });
}
