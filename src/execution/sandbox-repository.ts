import { copyFile, lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import { ifCode } from "./contained-path.ts";

/**
 * The repository inside a sandbox. A command may do to it whatever it likes; our own git, which is not confined, must neither run nor
 * obey what it finds there.
 */

/** A copy of the sandbox's git configuration as it was made, kept beside it. */
export const PRISTINE_CONFIG = "git-config";

/** Wins over the repository's own attributes, which may ask for other line ends, filters or encodings. */
export const PLAIN_ATTRIBUTES = "* -text -ident -filter !working-tree-encoding\n";

/** Takes away the filters, exclusions and settings that a command may have written there. */
export async function disarm(root: string): Promise<void> {
  await requireRepository(root);
  await requireOwn(root);
  const own = join(root, ".git");
  for (const name of ["config", "info"]) await removeLink(join(own, name));
  await mkdir(join(own, "info"), { recursive: true });
  for (const name of ["attributes", "exclude", "sparse-checkout", "grafts"])
    await rm(join(own, "info", name), { recursive: true, force: true });
  await rm(join(own, "config.worktree"), { recursive: true, force: true });
  await writeFile(join(own, "info", "attributes"), PLAIN_ATTRIBUTES);
  await rm(join(own, "config"), { recursive: true, force: true });
  await copyFile(join(root, "..", PRISTINE_CONFIG), join(own, "config"));
}

/** A repository without that copy beside it is none of ours, and what is set in it is somebody's. */
async function requireOwn(root: string): Promise<void> {
  const pristine = await lstat(join(root, "..", PRISTINE_CONFIG)).catch(ifCode("ENOENT"));
  if (pristine?.isFile() === true) return;
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
  const found = await lstat(join(root, ".git")).catch(ifCode("ENOENT"));
  return found?.isDirectory() === true;
}

async function removeLink(path: string): Promise<void> {
  const found = await lstat(path).catch(ifCode("ENOENT"));
  if (found?.isSymbolicLink() === true) await rm(path);
}
