import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The repositories of a sandbox. Ours is `<home>/git`, beside the tree and outside of everything a command can write: its settings,
 * attributes and index are what our git goes by. What is called `.git` in the tree is made for the commands of the plan, so that git
 * works for them. They may do to it whatever they like: we never read, follow or repair it, and only throw it away and make it again.
 */
export interface SandboxGit {
  /** The directory around the tree. */
  readonly home: string;
  readonly tree: string;
  /** The git directory that is meant. */
  readonly repository: string;
  /** The user's objects, which it borrows. */
  readonly objects: string | undefined;
}

/** Wins over the attributes in the tree, which may ask for other line ends, encodings, or filters that the user has set up for all. */
export const PLAIN_ATTRIBUTES = "* -text -ident -filter !working-tree-encoding\n";

/** Of the sandbox whose tree this is. */
export function sandboxGit(tree: string, objects: string | undefined): SandboxGit {
  const home = dirname(tree);
  return { home, tree, repository: repositoryIn(home), objects };
}

function repositoryIn(home: string): string {
  return join(home, "git");
}

/** What makes git take this repository and this tree, and no other. */
export function ownRepository({ repository, tree }: SandboxGit): NodeJS.ProcessEnv {
  const index = join(repository, "index");
  return { GIT_DIR: repository, GIT_COMMON_DIR: repository, GIT_INDEX_FILE: index, GIT_WORK_TREE: tree };
}

/** A sandbox that an older version made, with its repository in the tree, has none. */
export function hasRepository(home: string): boolean {
  return lstatSync(join(repositoryIn(home), "HEAD"), { throwIfNoEntry: false })?.isFile() === true;
}
