/** Makes a commit of the user's checkout as it is, for plans that start from uncommitted files. */
import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AgentsError } from "../domain/errors/errors.ts";
import { ifCode } from "../platform/contained-path.ts";
import { git, gitText } from "./git.ts";
import { EMAIL, NAME } from "./git-objects.ts";

/**
 * A commit on top of `parent` with the staged, changed and new files of the checkout, but not the ignored ones. It is
 * made with a separate index in `scratch`; the user's index, stash, branches and files are only read.
 */
export async function commitUncommitted(path: string, parent: string, scratch: string): Promise<string> {
  const unmerged = await gitText(["ls-files", "--unmerged"], { cwd: path });
  if (unmerged !== "") {
    throw new AgentsError("git_failed", `${path} has unresolved conflicts, so a plan cannot start from it.`, {
      kept: "Nothing was changed.",
      next: [{ text: "resolve the conflicts, or execute without --include-dirty" }],
    });
  }
  const index = join(scratch, "index");
  // A copy of the user's index knows which files git need not read again.
  const own = resolve(path, await gitText(["rev-parse", "--git-path", "index"], { cwd: path }));
  await copyFile(own, index).catch(ifCode("ENOENT"));
  await git(["add", "--all"], { cwd: path, index });
  const tree = await gitText(["write-tree"], { cwd: path, index });
  const identity = ["-c", `user.name=${NAME}`, "-c", `user.email=${EMAIL}`];
  const message = "The checkout with its uncommitted files";
  return gitText([...identity, "commit-tree", tree, "-p", parent, "-m", message], { cwd: path });
}
