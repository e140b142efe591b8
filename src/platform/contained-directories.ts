import { lstat, mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { relativePathProblem } from "../domain/plan/change-entry.ts";
import { ContainedDirectory, ifCode, missingPathError, refusedPathError } from "./contained-path.ts";

/** Whole directories inside a sandbox, gone along the same way as single files: never through a symbolic link. */
export async function requireDirectory(root: string, path: string): Promise<void> {
  const { directory: opened, name } = await ContainedDirectory.of(root, path, { create: false });
  await using directory = opened;
  const found = await lstat(directory.at(name)).catch(ifCode("ENOENT"));
  if (found === undefined) throw missingPathError(path, "does not exist");
  if (found.isSymbolicLink()) throw refusedPathError(path, "is a symbolic link");
  if (!found.isDirectory()) throw missingPathError(path, "is not a directory");
}

/** Refuses a path that leads through something else than directories; missing ones would be made. */
export async function requireRoom(root: string, path: string): Promise<void> {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    const { directory: opened, name } = await ContainedDirectory.of(root, path.slice(0, end), { create: false });
    await using directory = opened;
    const found = await lstat(directory.at(name)).catch(ifCode("ENOENT"));
    if (found === undefined) return;
    if (found.isSymbolicLink()) throw refusedPathError(path, "goes through a symbolic link");
    if (!found.isDirectory()) throw missingPathError(path, "goes through something that is not a directory");
  }
}

/** Takes away the directory and those below it that hold nothing but directories. */
export async function removeEmptyDirectories(root: string, path: string): Promise<void> {
  const { directory: opened, name } = await ContainedDirectory.of(root, path, { create: false });
  await using directory = opened;
  for (const entry of await readdir(directory.at(name), { withFileTypes: true })) {
    // An entry that a plan cannot name, such as a nested `.git`, is not part of the plan and stays.
    if (!entry.isDirectory() || relativePathProblem(entry.name) !== undefined) continue;
    await removeEmptyDirectories(root, `${path}/${entry.name}`);
  }
  await rmdir(directory.at(name)).catch(ifCode("ENOTEMPTY"));
}

/** Removes everything at the path, and puts an empty directory in its place. */
export async function emptyDirectory(root: string, path: string): Promise<void> {
  const { directory: opened, name } = await ContainedDirectory.of(root, path, { create: true });
  await using directory = opened;
  await rm(directory.at(name), { recursive: true, force: true });
  await mkdir(directory.at(name));
}
