import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import type { PlanId } from "../domain/ids.ts";
import { git, gitText, PRISTINE_CONFIG, requireRepository } from "./git.ts";

/**
 * Where a plan works: a private copy of a resource under the data directory. For a git checkout it is a repository of its own that
 * borrows the user's objects, so that nothing an agent's shell does (stash, branch, config, worktree) reaches the user's; the
 * user's repository carries one ref that keeps the borrowed commit alive. For a plain directory it is a copy,
 * with a second one beside it that stays as it was at the beginning.
 */
export type SandboxStrategy = "git_worktree" | "filesystem_copy";

export interface SandboxTarget {
  readonly alias: string;
  readonly strategy: SandboxStrategy;
  /** The user's checkout or directory. */
  readonly path: string;
  readonly branch: string | undefined;
  readonly readOnly: boolean;
}

export interface Sandbox extends SandboxTarget {
  /** The directory to work in. */
  readonly root: string;
  /** The commit it started from; undefined for a copy. */
  readonly base: string | undefined;
  /** The branch it started from, in full; undefined for a copy and for a detached HEAD. */
  readonly ref: string | undefined;
  /** Made just now, so that it is as the resource was. */
  readonly fresh: boolean;
}

export interface SandboxPlace {
  /** The directory below which all sandboxes are. */
  readonly directory: string;
  readonly planId: PlanId;
  readonly attempt: number;
}

/** The file that says what a sandbox was made of. */
export const SANDBOX_FACTS = "target.json";

/** Opens the plan's sandbox of this resource, making it if this is the first time. A half-made one is never taken for whole. */
export async function openSandbox(place: SandboxPlace, target: SandboxTarget): Promise<Sandbox> {
  const home = join(place.directory, place.planId, `${place.attempt}`, target.alias);
  const root = join(home, "tree");
  const fresh = !existsSync(home);
  if (fresh) await make(home, place, target);
  if (target.strategy !== "git_worktree") return { ...target, root, base: undefined, ref: undefined, fresh };
  const base = (await readFile(join(home, "commit"), "utf8")).trim();
  const ref = (await readFile(join(home, "ref"), "utf8")).trim();
  return { ...target, root, base, ref: ref === "" ? undefined : ref, fresh };
}

/** One for each sandbox: two of a plan may borrow from one repository, at different commits. */
export function pinningRef({ planId, attempt }: Pick<SandboxPlace, "planId" | "attempt">, alias: string): string {
  return `refs/cleveragents/${planId}/${attempt}/${alias}`;
}

async function make(home: string, place: SandboxPlace, target: SandboxTarget): Promise<void> {
  const temporary = `${home}.${randomUUID()}.tmp`;
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  try {
    if (target.strategy === "git_worktree") await cloneInto(temporary, place, target);
    else await copyInto(temporary, target);
    await writeFile(join(temporary, SANDBOX_FACTS), JSON.stringify(target));
    await rename(temporary, home);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

async function cloneInto(home: string, place: SandboxPlace, target: SandboxTarget): Promise<void> {
  const { ref, base } = await startingPoint(target).catch((error: unknown) => {
    throw new AgentsError("git_failed", `${target.path} has no commit at ${target.branch ?? "HEAD"} to start from.`, {
      cause: error,
      kept: "Nothing was changed.",
    });
  });
  // Kept alive in the user's repository for as long as the sandbox borrows it.
  await git(["update-ref", pinningRef(place, target.alias), base], { cwd: target.path });
  const tree = join(home, "tree");
  await git(["clone", "--quiet", "--shared", "--no-checkout", "--no-tags", target.path, tree], { cwd: home });
  // Without a remote no push can lead back; without conversions the files are the bytes of the commit.
  await git(["remote", "remove", "origin"], { cwd: tree });
  for (const [key, value] of PLAIN) await git(["config", key, value], { cwd: tree });
  await copyFile(join(tree, ".git", "config"), join(home, PRISTINE_CONFIG));
  await git(["checkout", "--quiet", "--detach", base], { cwd: tree, sandbox: true });
  await writeFile(join(home, "commit"), `${base}\n`);
  await writeFile(join(home, "ref"), `${ref ?? ""}\n`);
}

/** Which branch it was is settled with the commit: the user may check out another one before anything is recorded. */
async function startingPoint({ path, branch }: SandboxTarget): Promise<{ ref: string | undefined; base: string }> {
  const head = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: path, accept: [0, 1] });
  const ref = branch === undefined ? head.stdout.toString("utf8").trim() : `refs/heads/${branch}`;
  const revision = `${ref === "" ? "HEAD" : ref}^{commit}`;
  const base = await gitText(["rev-parse", "--verify", "--quiet", revision], { cwd: path });
  return { ref: ref === "" ? undefined : ref, base };
}

const PLAIN: readonly (readonly [string, string])[] = [
  ["core.autocrlf", "false"],
  ["core.hooksPath", "/dev/null"],
  ["gc.auto", "0"],
];

/** Once as it is, which stays, and once to work in. `cp` copies links as links, keeps modes and shares blocks where the file system can; fs.cp measured ten times slower. */
async function copyInto(home: string, target: SandboxTarget): Promise<void> {
  if (home.startsWith(target.path + sep)) {
    throw new AgentsError(
      "tool_failed",
      `${target.path} contains the data directory, and a copy of it would contain itself.`,
      {
        kept: "Nothing was changed.",
        next: ["use a --data-dir outside of it"],
      },
    );
  }
  await copy(target.path, join(home, "base"));
  await copy(join(home, "base"), join(home, "tree"));
}

async function copy(from: string, to: string): Promise<void> {
  const child = spawn("cp", ["-a", "--reflink=auto", "--", `${from}/.`, to], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) {
    throw new AgentsError("tool_failed", `${from} cannot be copied: ${stderr.trim()}`, {
      kept: "Nothing was changed.",
    });
  }
}

/** Back to the beginning. Ignored files, which are no part of a plan, stay. */
export async function resetSandbox(sandbox: Sandbox): Promise<void> {
  if (sandbox.base === undefined) {
    await rm(sandbox.root, { recursive: true, force: true });
    await copy(join(sandbox.root, "..", "base"), sandbox.root);
    return;
  }
  await requireRepository(sandbox.root);
  // What a killed git left locked; and the index goes too, because files marked there as unchanged would be left as they are.
  for (const file of ["index.lock", "HEAD.lock", "index"]) await rm(join(sandbox.root, ".git", file), { force: true });
  const own = { cwd: sandbox.root, sandbox: true };
  await git(["checkout", "--quiet", "--force", "--detach", sandbox.base], own);
  await git(["clean", "--quiet", "-ffd"], own);
}
