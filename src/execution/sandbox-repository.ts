import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { appendFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { git, WHOLE_TREE_MS } from "./git.ts";
import { PLAIN_ATTRIBUTES, type SandboxGit } from "./own-repository.ts";
import { removeTree } from "./remove-tree.ts";

/** Without conversions the files are the bytes of the commit. */
const PLAIN_CONFIG = "[core]\n\tautocrlf = false\n\thooksPath = /dev/null\n[gc]\n\tauto = 0\n";

export interface Layout {
  readonly objects: string;
  /** Where it says at which commits a shallow history ends; often not there. */
  readonly shallow: string;
  readonly format: string;
}

/** Not a clone: that would bring the user's branches along, and copy everything where the history is shallow. */
export async function makeRepositories(place: SandboxGit, base: string, layout: Layout): Promise<void> {
  const { home, tree, repository: own } = place;
  const { objects, shallow, format } = layout;
  // Git finds out what the file system can, such as telling upper from lower case, in the tree.
  await git(["init", "--quiet", "--template=", `--object-format=${format}`, tree], { cwd: home });
  await rename(join(tree, ".git"), own);
  for (const directory of ["info", join("objects", "info")]) mkdirSync(join(own, directory), { recursive: true });
  writeFileSync(join(own, "objects", "info", "alternates"), `${objects}\n`);
  if (existsSync(shallow)) copyFileSync(shallow, join(own, "shallow"));
  await appendFile(join(own, "config"), PLAIN_CONFIG);
  writeFileSync(join(own, "info", "attributes"), PLAIN_ATTRIBUTES);
  await git(["checkout", "--quiet", "--detach", base], { cwd: tree, sandbox: place, timeoutMs: WHOLE_TREE_MS });
  copyRepository(place, join(tree, ".git"));
}

/** Puts the tree back to the commit, with a new repository for the commands. Ignored files stay. */
export async function resetRepositories(place: SandboxGit, base: string): Promise<void> {
  const { tree, repository } = place;
  await removeTree(join(tree, ".git"));
  // What a killed git left locked; and the index, because a setting of the user's may have git compare files by fewer facts than a
  // command can forge.
  for (const file of ["index.lock", "HEAD.lock", "index"]) rmSync(join(repository, file), { force: true });
  const own = { cwd: tree, sandbox: place, timeoutMs: WHOLE_TREE_MS };
  await git(["checkout", "--quiet", "--force", "--detach", base], own);
  await git(["clean", "--quiet", "-ffd"], own);
  copyRepository(place, join(tree, ".git"));
}

/** A repository with the state of ours, that borrows the same objects: for commands and hooks. Its index knows the files by their times. */
export function copyRepository({ repository: own }: SandboxGit, to: string): void {
  for (const directory of ["refs", "info", join("objects", "info")])
    mkdirSync(join(to, directory), { recursive: true });
  const files = ["HEAD", "config", "index", join("info", "attributes"), join("objects", "info", "alternates")];
  for (const file of files) copyFileSync(join(own, file), join(to, file));
  if (existsSync(join(own, "shallow"))) copyFileSync(join(own, "shallow"), join(to, "shallow"));
}
