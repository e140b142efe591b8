import { createHash, randomUUID } from "node:crypto";
import { chmod, lstat, open, readdir, readFile, readlink, rename, rm, rmdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { ContainedDirectory, ifCode, missing } from "./contained-path.ts";

/** What a path of a sandbox holds: nothing, or a file or symbolic link with its bytes and mode. */
export interface FileState {
  readonly content: Uint8Array;
  readonly mode: number;
}

export const REGULAR = 0o100644;
export const EXECUTABLE = 0o100755;
export const LINK = 0o120000;

export async function readState(root: string, path: string): Promise<FileState | undefined> {
  const opened = await ContainedDirectory.of(root, path, { create: false }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "tool_failed") return undefined;
    throw error;
  });
  if (opened === undefined) return undefined;
  await using directory = opened.directory;
  return await stateAt(directory.at(opened.name), path);
}

async function stateAt(file: string, path: string): Promise<FileState | undefined> {
  const found = await lstat(file).catch(ifCode("ENOENT"));
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return { content: Buffer.from(await readlink(file, { encoding: "buffer" })), mode: LINK };
  if (!found.isFile()) throw missing(path, found.isDirectory() ? "is a directory" : "is neither a file nor a link");
  return { content: await readFile(file), mode: (found.mode & 0o100) === 0 ? REGULAR : EXECUTABLE };
}

/** Puts the state there, or nothing when it is undefined. The new file takes the old one's place in one step. */
export async function writeState(root: string, path: string, state: FileState | undefined): Promise<void> {
  const { directory: opened, name } = await ContainedDirectory.of(root, path, { create: state !== undefined });
  await using directory = opened;
  if (state === undefined) {
    await rm(directory.at(name));
    return;
  }
  const temporary = directory.at(`.${randomUUID()}.tmp`);
  if (state.mode === LINK) {
    await symlink(Buffer.from(state.content), temporary);
  } else {
    await using handle = await open(temporary, "wx", 0o644);
    await handle.writeFile(state.content);
    await chmod(temporary, state.mode & 0o777);
  }
  await rename(temporary, directory.at(name));
}

/** Takes the file away, and with it the directories that only it kept. */
export async function removeState(root: string, path: string): Promise<void> {
  await writeState(root, path, undefined);
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    const { directory: opened, name } = await ContainedDirectory.of(root, above, { create: false });
    await using directory = opened;
    if ((await readdir(directory.at(name))).length > 0) return;
    await rmdir(directory.at(name));
  }
}

export function sameState(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.mode === b.mode && Buffer.compare(a.content, b.content) === 0;
}

export function stateHash(state: FileState): string {
  return createHash("sha256").update(state.content).digest("hex");
}
