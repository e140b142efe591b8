/**
 * Finds the hooks of a user's repository, and makes the repository in which they run: HEAD where the plan began, and
 * the plan's changes in the index.
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { git, gitText, WHOLE_TREE_MS } from "../../git/git.ts";
import type { NetChange } from "../../changes/net-changes.ts";
import { sandboxGit } from "../../git/own-repository.ts";
import { copyRepository } from "../sandbox/sandbox-repository.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** The hooks of a user's repository that speak about a commit, in the order in which git runs them. */
export const HOOK_NAMES = ["pre-commit", "commit-msg"] as const;
export type HookName = (typeof HOOK_NAMES)[number];

/** Where the user's repository keeps its hooks, and which of them are there and executable, as git wants them. */
export async function findHooks(
  checkout: string,
): Promise<{ directory: string; programs: ReadonlyMap<HookName, string> }> {
  const directory = await hooksDirectory(checkout);
  const programs = new Map<HookName, string>();
  for (const name of HOOK_NAMES) {
    const program = join(directory, name);
    if (await isExecutable(program)) programs.set(name, program);
  }
  return { directory, programs };
}

/**
 * The value of `core.hooksPath`, relative to the top of the checkout; else the directory that all its worktrees
 * share.
 */
async function hooksDirectory(checkout: string): Promise<string> {
  const query = ["config", "--show-scope", "--null", "--type=path", "--get-all", "core.hooksPath"];
  const { stdout } = await git(query, { cwd: checkout, accept: [0, 1] });
  const words = stdout.toString("utf8").split("\0");
  // Pairs of scope and value; "command" is what our own git is told, for itself.
  const values = words.filter((_, index) => index % 2 === 1 && words[index - 1] !== "command");
  const configured = values.at(-1);
  if (configured !== undefined && configured !== "") return resolve(checkout, configured);
  return join(resolve(checkout, await gitText(["rev-parse", "--git-common-dir"], { cwd: checkout })), "hooks");
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/**
 * Makes a repository in `directory` that looks as it does to a hook of `git commit`: HEAD at the commit the plan
 * started from, and exactly the plan's changes in the index. It is for the hook alone: once the hook has run, nothing
 * in it is read.
 */
export async function stageChanges(
  sandbox: Sandbox,
  changes: ReadonlyMap<string, NetChange>,
  directory: string,
): Promise<void> {
  const place = sandboxGit(sandbox.root, sandbox.objects);
  copyRepository(place, directory);
  const own = { cwd: place.tree, sandbox: { ...place, repository: directory }, timeoutMs: WHOLE_TREE_MS };
  const paths = (wanted: "gone" | "there"): string =>
    [...changes]
      .flatMap(([path, { after }]) => ((after === undefined) === (wanted === "gone") ? [`${path}\0`] : []))
      .join("");
  await git(["update-index", "--force-remove", "-z", "--stdin"], { ...own, input: paths("gone") });
  await git(["update-index", "--add", "--replace", "-z", "--stdin"], { ...own, input: paths("there") });
  // Without it, a hook that asks which files differ from the index would be told of all files that git has not looked
  // at yet.
  await git(["update-index", "-q", "--refresh"], { ...own, accept: [0, 1] });
}

/** The name and address of the user's commits: some hooks make commits or stashes of their own. */
export async function identityOf(checkout: string): Promise<Record<string, string>> {
  const ask = (key: string): Promise<string> => gitText(["config", "--get", key], { cwd: checkout, accept: [0, 1] });
  const [name, email] = [await ask("user.name"), await ask("user.email")];
  return {
    ...(name === "" ? {} : { GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name }),
    ...(email === "" ? {} : { GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_EMAIL: email }),
  };
}
