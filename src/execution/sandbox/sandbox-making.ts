/**
 * Makes sandboxes. A sandbox is made under a temporary name and renamed when it is whole, so a killed process leaves
 * no half-made one under the real name.
 */
import { mkdir, rename } from "node:fs/promises";
import { join, sep } from "node:path";
import { AgentsError, StoreError } from "../../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { shown } from "../../domain/text/text.ts";
import { checkoutProblem, commitAt } from "../../git/checkout.ts";
import { git, gitText } from "../../git/git.ts";
import { sandboxGit } from "../../git/own-repository.ts";
import { writeFacts, type SandboxBeginning, type SandboxFacts, type SandboxTarget } from "./sandbox-facts.ts";
import { makeRepositories, type Layout } from "./sandbox-repository.ts";
import { copyDirectory } from "../../platform/directory-copy.ts";
import { withTemporaryHome } from "./temporary-home.ts";
import { commitUncommitted } from "../../git/commit-work-tree.ts";

/** Makes a sandbox at `home`: whole, in one step, or not at all. */
export async function makeSandbox(home: string, pin: string, target: SandboxTarget): Promise<SandboxFacts> {
  try {
    return await withTemporaryHome(home, async (temporary) => {
      await mkdir(temporary, { mode: 0o700 });
      const facts =
        target.strategy === "git_worktree"
          ? await borrowInto(temporary, pin, target)
          : await copyInto(temporary, target);
      await rename(temporary, home);
      return facts;
    });
  } catch (error) {
    throw sandboxCreationError(error, home);
  }
}

async function borrowInto(home: string, pin: string, target: SandboxTarget): Promise<SandboxFacts> {
  const { alias, strategy, path, branch, readOnly } = target;
  const beginning = await beginningOf(home, target);
  const { commit: base, ref, dirty = false } = beginning;
  const layout = await layoutOf(path);
  const { objects } = layout;
  const submodules = await submodulesOf(path, base);
  const facts: SandboxFacts = { alias, strategy, path, branch, readOnly, base, ref, dirty, objects, submodules };
  // First, so that a process that finds a half-made sandbox knows in which repository its ref is.
  await writeFacts(home, facts);
  const pinned = await git(["rev-parse", "--verify", "--quiet", pin], { cwd: path, accept: [0, 1] });
  // Kept alive in the user's repository for as long as the sandbox borrows it.
  await git(["update-ref", pin, base], { cwd: path });
  try {
    await makeRepositories(sandboxGit(join(home, "tree"), objects), base, layout);
  } catch (error) {
    if (pinned.code !== 0) await git(["update-ref", "-d", pin], { cwd: path });
    throw error;
  }
  return facts;
}

async function layoutOf(path: string): Promise<Layout> {
  const wanted = ["--git-path", "objects", "--git-path", "shallow", "--show-object-format"];
  const text = await gitText(["rev-parse", "--path-format=absolute", ...wanted], { cwd: path });
  const [objects = "", shallow = "", format = ""] = text.split("\n");
  return { objects, shallow, format };
}

/**
 * Where it starts: where it did, if it was there before; else where the branch is, with what is not committed if that
 * is wanted.
 */
async function beginningOf(home: string, target: SandboxTarget): Promise<SandboxBeginning> {
  const { path, branch, base, includeDirty = false } = target;
  const problem = await checkoutProblem(path, base === undefined ? branch : undefined);
  if (problem !== undefined) throw nothingToStartFromError(`The sandbox cannot be made: ${problem.message}.`);
  const { code, stdout } = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: path, accept: [0, 1] });
  const checkedOut = code === 0 ? stdout.toString("utf8").trimEnd() : undefined;
  const ref = branch === undefined ? checkedOut : `refs/heads/${branch}`;
  const head = await commitAt(path, base?.commit ?? ref ?? "HEAD");
  if (base !== undefined) {
    if (head === undefined) {
      throw nothingToStartFromError(
        `The commit ${base.commit}, which the plan started from, is not in ${path} any more.`,
      );
    }
    return { ref, ...base };
  }
  if (head === undefined) throw nothingToStartFromError(`${path} has no commit at ${branch ?? "HEAD"} to start from.`);
  if (!includeDirty) return { commit: head, ref };
  if (ref !== checkedOut) {
    const now = checkedOut === undefined ? "no branch" : shown(checkedOut.replace(/^refs\/heads\//, ""));
    throw nothingToStartFromError(
      `What is not committed in ${path} cannot be included: it is on ${now}, and the plan is for ${shown(branch ?? "HEAD")}.`,
      [{ text: `git switch ${branch ?? ""}` }, { text: "execute without --include-dirty" }],
    );
  }
  return { commit: await commitUncommitted(path, head, home), ref, dirty: true };
}

function nothingToStartFromError(message: string, next: readonly NextStep[] = []): AgentsError {
  return new AgentsError("git_failed", message, { kept: "Nothing of yours was changed.", next });
}

async function submodulesOf(path: string, base: string): Promise<string[]> {
  const { stdout } = await git(["ls-tree", "-r", "-z", base], { cwd: path });
  const entries = stdout.toString("utf8").split("\0");
  return entries.filter((entry) => entry.startsWith("160000 ")).map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

/** Once as it is, which stays, and once to work in. */
async function copyInto(home: string, target: SandboxTarget): Promise<SandboxFacts> {
  const { alias, strategy, path, branch, readOnly } = target;
  if (home.startsWith(path + sep)) {
    throw new AgentsError(
      "tool_failed",
      `${path} contains the data directory, and a copy of it would contain itself.`,
      {
        kept: "Nothing was changed.",
        next: [{ text: "use a --data-dir outside of it" }],
      },
    );
  }
  const none = { base: undefined, ref: undefined, dirty: false, objects: undefined, submodules: [] };
  const facts: SandboxFacts = { alias, strategy, path, branch, readOnly, ...none };
  await writeFacts(home, facts);
  await copyDirectory(path, join(home, "base"));
  await copyDirectory(join(home, "base"), join(home, "tree"));
  return facts;
}

/** A full or read-only disk is reported as such, also when git was the first to fail. */
function sandboxCreationError(error: unknown, home: string): unknown {
  const text = error instanceof Error ? error.message : "";
  const extras = { cause: error, kept: "Nothing of yours was changed, and the half-made sandbox is removed." };
  if (/ENOSPC|EDQUOT|no space left on device|out of disk ?space|disk quota exceeded/i.test(text)) {
    return new StoreError("store_full", `There is no space left to make the sandbox ${home}.`, {
      ...extras,
      next: [nextStep("cleanup.run"), { text: "free some space" }],
    });
  }
  if (/EROFS|EACCES|EPERM|Read-only file system/.test(text) && !(error instanceof AgentsError)) {
    return new StoreError("store_read_only", `The sandbox ${home} cannot be made: ${text}.`, {
      ...extras,
      next: [{ text: "check the permissions of the data directory" }],
    });
  }
  return error;
}
