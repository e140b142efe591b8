/**
 * Where a plan works: a private copy of a resource under the data directory. For a git checkout it is a repository of
 * its own that borrows the user's objects, so that nothing an agent's shell does (stash, branch, config, worktree)
 * reaches the user's repository, which carries one ref that keeps the borrowed commit alive. For a plain directory it
 * is a copy, with a second one beside it that stays as it was at the beginning. With the strategy `none` there is no
 * copy: see in-place-sandbox.ts.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { worksInPlace, type SandboxStrategy } from "../../domain/resource/resource.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { sandboxGit, type GitPlace } from "../../git/own-repository.ts";

export type { SandboxStrategy } from "../../domain/resource/resource.ts";

export interface SandboxTarget {
  readonly alias: string;
  readonly strategy: SandboxStrategy;
  /** The user's checkout or directory. */
  readonly path: string;
  readonly branch: string | undefined;
  readonly readOnly: boolean;
  /** With the strategy `none`: it is a git checkout, and git's rules say what is part of it. */
  readonly versioned?: boolean;
  /** Start from the checkout as it is, with what is not committed. One that is made again starts where it did. */
  readonly includeDirty?: boolean;
  /** Where it started when it was made before: made again it starts there, and not where the branch is now. */
  readonly base?: SandboxBeginning;
}

export interface SandboxBeginning {
  readonly commit: string;
  readonly ref?: string | undefined;
  readonly dirty?: boolean;
}

/** The facts of a sandbox, known since it was made and kept beside it. */
export interface SandboxFacts extends Omit<SandboxTarget, "includeDirty" | "base"> {
  /** The commit it started from; undefined for a copy. */
  readonly base: string | undefined;
  /** The full name of the branch it started from; undefined for a copy, and where HEAD was detached. */
  readonly ref: string | undefined;
  /** `base` holds what was not committed; its parent is where the branch was. */
  readonly dirty: boolean;
  /** The directory of the objects it borrows. */
  readonly objects: string | undefined;
  /** Paths of submodules, whose content is not part of a plan. */
  readonly submodules: readonly string[];
}

/** Whether the files that git ignores there are not part of a plan. */
export function isVersioned({ strategy, versioned = false }: Pick<SandboxTarget, "strategy" | "versioned">): boolean {
  return strategy === "git_worktree" || versioned;
}

/** Where our git is to run: in place that is the user's own repository, and what is set there is the user's. */
export function gitIn(place: GitSandbox): GitPlace {
  const { root, objects } = place;
  return { cwd: root, sandbox: worksInPlace(place) ? undefined : sandboxGit(root, objects) };
}

type GitSandbox = Pick<SandboxFacts, "strategy" | "objects"> & { readonly root: string };

/** A sandbox's files, to be listed by git's rules. */
export interface ReadTree {
  readonly root: string;
  /** Whose rules count. */
  readonly repository: "found" | "none" | { readonly gitDir: string };
}

/** Where commands can write, what git finds may be their work: the repository is one beside the tree, or none. */
export function readTreeOf(place: { readonly root: string; readonly strategy: SandboxStrategy }): ReadTree {
  const { root, strategy } = place;
  if (worksInPlace(place)) return { root, repository: "found" };
  if (strategy === "git_worktree") return { root, repository: { gitDir: sandboxGit(root, undefined).repository } };
  const copied = join(root, "..", "base", ".git");
  return { root, repository: existsSync(copied) ? { gitDir: copied } : "none" };
}

const FILE = "target.json";

/** Undefined for anything that is not a sandbox of ours, and for one whose facts a command has damaged. */
export async function readFacts(home: string): Promise<SandboxFacts | undefined> {
  const text = await readFile(join(home, FILE), "utf8").catch(ifCode("ENOENT"));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as SandboxFacts);
  } catch {
    return undefined;
  }
}

export async function writeFacts(home: string, facts: SandboxFacts): Promise<void> {
  await writeFile(join(home, FILE), JSON.stringify(facts));
}
