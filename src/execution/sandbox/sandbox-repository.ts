/**
 * The two repositories of a git sandbox. Ours, beside the tree, stays at the commit the plan began with; a copy of it
 * in the tree is for commands, which may damage it.
 */
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { appendFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { git, WHOLE_TREE_MS } from "../../git/git.ts";
import { PLAIN_ATTRIBUTES, type SandboxGit } from "../../git/own-repository.ts";
import { removeTree } from "../../platform/remove-tree.ts";
import { JUNK_RULES } from "./junk-files.ts";

/** Without conversions, so that the files hold the bytes of the commit. */
const PLAIN_CONFIG = "[core]\n\tautocrlf = false\n\thooksPath = /dev/null\n[gc]\n\tauto = 0\n";

export interface Layout {
  readonly objects: string;
  /** The file with the commits at which a shallow history ends; most repositories have none. */
  readonly shallow: string;
  readonly format: string;
}

/**
 * Makes both repositories. Not by a clone: that would copy the user's branches, and all objects where the history is
 * shallow.
 */
export async function makeRepositories(place: SandboxGit, base: string, layout: Layout): Promise<void> {
  const { home, tree, repository: own } = place;
  const { objects, shallow, format } = layout;
  // In the tree, because there git probes the file system, for example whether it tells upper from lower case.
  await git(["init", "--quiet", "--template=", `--object-format=${format}`, tree], { cwd: home });
  await rename(join(tree, ".git"), own);
  for (const directory of ["info", join("objects", "info")]) mkdirSync(join(own, directory), { recursive: true });
  writeFileSync(join(own, "objects", "info", "alternates"), `${objects}\n`);
  if (existsSync(shallow)) copyFileSync(shallow, join(own, "shallow"));
  await appendFile(join(own, "config"), PLAIN_CONFIG);
  writeFileSync(join(own, "info", "attributes"), PLAIN_ATTRIBUTES);
  writeFileSync(join(own, "info", "exclude"), JUNK_RULES);
  await git(["checkout", "--quiet", "--detach", base], { cwd: tree, sandbox: place, timeoutMs: WHOLE_TREE_MS });
  copyRepository(place, join(tree, ".git"));
}

/** Resets the tree to the commit, with a new repository for the commands. Ignored files stay. */
export async function resetRepositories(place: SandboxGit, base: string): Promise<void> {
  const { tree, repository } = place;
  await removeTree(join(tree, ".git"));
  // The locks that a killed git left; and the index, because with some settings of the user's git compares files only
  // by facts that a command can forge.
  for (const file of ["index.lock", "HEAD.lock", "index"]) rmSync(join(repository, file), { force: true });
  const own = { cwd: tree, sandbox: place, timeoutMs: WHOLE_TREE_MS };
  await git(["checkout", "--quiet", "--force", "--detach", base], own);
  await git(["clean", "--quiet", "-ffd"], own);
  copyRepository(place, join(tree, ".git"));
}

/**
 * Copies our repository for commands and hooks; the copy borrows the same objects, and its index has the times of the
 * files.
 */
export function copyRepository({ repository: own }: SandboxGit, to: string): void {
  for (const directory of ["refs", "info", join("objects", "info")])
    mkdirSync(join(to, directory), { recursive: true });
  const files = ["HEAD", "config", "index", join("info", "attributes"), join("objects", "info", "alternates")];
  for (const file of files) copyFileSync(join(own, file), join(to, file));
  // Git reads a file again when it is as young as the index. A younger copy of the index would hide a change that was
  // made in the second of the checkout and left the size as it was. A second rounded down only makes git read more.
  const written = Math.floor(statSync(join(own, "index")).mtimeMs / 1000);
  utimesSync(join(to, "index"), written, written);
  if (existsSync(join(own, "shallow"))) copyFileSync(join(own, "shallow"), join(to, "shallow"));
}
