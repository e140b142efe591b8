/**
 * The repositories of a sandbox. Ours is `<home>/git`, beside the tree and outside of everything a command can write:
 * our git uses its settings, attributes and index. The `.git` in the tree is made for the commands of the plan, so that
 * git works for them. They may change it in any way: we never read, follow or repair it, and only delete it and make it
 * again.
 */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";

export interface SandboxGit {
  /** The directory around the tree. */
  readonly home: string;
  readonly tree: string;
  /** The git directory to use. */
  readonly repository: string;
  /** The user's objects, which it borrows. */
  readonly objects: string | undefined;
}

/** Where our git is to run: in a sandbox with our own repository, else with the one that git finds there. */
export interface GitPlace {
  readonly cwd: string;
  readonly sandbox: SandboxGit | undefined;
}

/**
 * Overrides the attributes in the tree, which may ask for other line ends, encodings, or filters from the user's own
 * settings.
 */
export const PLAIN_ATTRIBUTES = "* -text -ident -filter !working-tree-encoding\n";

/** The repository of the sandbox whose tree this is. */
export function sandboxGit(tree: string, objects: string | undefined): SandboxGit {
  const home = dirname(tree);
  return { home, tree, repository: repositoryIn(home), objects };
}

function repositoryIn(home: string): string {
  return join(home, "git");
}

/** The variables that make git use this repository and this tree. */
export function ownRepository({ repository, tree }: SandboxGit): NodeJS.ProcessEnv {
  const index = join(repository, "index");
  return { GIT_DIR: repository, GIT_COMMON_DIR: repository, GIT_INDEX_FILE: index, GIT_WORK_TREE: tree };
}

/** A sandbox that an older version made, with its repository in the tree, has none. */
export function hasRepository(home: string): boolean {
  return lstatSync(join(repositoryIn(home), "HEAD"), { throwIfNoEntry: false })?.isFile() === true;
}
