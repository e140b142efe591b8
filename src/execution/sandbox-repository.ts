import { copyFileSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentsError } from "../domain/errors.ts";

/**
 * The repository inside a sandbox. A command may do to it whatever it likes; our own git, which is not confined, must neither run nor
 * obey what it finds there.
 */

/** A copy of the sandbox's git configuration as it was made, kept beside it. */
export const PRISTINE_CONFIG = "git-config";

/** Wins over the repository's own attributes, which may ask for other line ends, filters or encodings. */
export const PLAIN_ATTRIBUTES = "* -text -ident -filter !working-tree-encoding\n";

/**
 * Takes away the filters, exclusions and settings that a command may have written there. Synchronously: these are ten small calls
 * before each git, and as promises they would each wait for whatever else is being done.
 */
export async function disarm(root: string): Promise<void> {
  await requireRepository(root);
  requireOwn(root);
  const own = join(root, ".git");
  for (const name of ["config", "info"]) removeLink(join(own, name));
  mkdirSync(join(own, "info"), { recursive: true });
  for (const name of ["attributes", "exclude", "sparse-checkout", "grafts"])
    rmSync(join(own, "info", name), { recursive: true, force: true });
  rmSync(join(own, "config.worktree"), { recursive: true, force: true });
  writeFileSync(join(own, "info", "attributes"), PLAIN_ATTRIBUTES);
  rmSync(join(own, "config"), { recursive: true, force: true });
  copyFileSync(join(root, "..", PRISTINE_CONFIG), join(own, "config"));
}

/** A repository without that copy beside it is none of ours, and what is set in it is somebody's. */
function requireOwn(root: string): void {
  if (lstatSync(join(root, "..", PRISTINE_CONFIG), { throwIfNoEntry: false })?.isFile() === true) return;
  throw new AgentsError("git_failed", `${root} is not known as a sandbox: there is no ${PRISTINE_CONFIG} beside it.`, {
    kept: "Nothing of yours was changed.",
    detail: { sandbox: root },
  });
}

/** What makes git take this repository and this tree, and no other. */
export function ownRepository(root: string): NodeJS.ProcessEnv {
  return { GIT_DIR: join(root, ".git"), GIT_WORK_TREE: root };
}

/** Without it, or through a link, git would go and find somebody else's. */
export async function requireRepository(root: string): Promise<void> {
  if (await hasRepository(root)) return;
  throw new AgentsError("git_failed", `The sandbox ${root} has lost its git repository.`, {
    kept: "Nothing of yours was changed. The next execute makes the sandbox again from what is recorded.",
    detail: { sandbox: root },
  });
}

export async function hasRepository(root: string): Promise<boolean> {
  return lstatSync(join(root, ".git"), { throwIfNoEntry: false })?.isDirectory() === true;
}

function removeLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(path);
}
