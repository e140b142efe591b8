import { hash, randomUUID } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ContainedDirectory, missingPathError } from "./contained-path.ts";

/** The content of a path in a sandbox: nothing, or a file or symbolic link with its bytes and mode. */
export interface FileState {
  readonly content: Uint8Array;
  readonly mode: number;
}

export const REGULAR = 0o100644;
export const EXECUTABLE = 0o100755;
export const LINK = 0o120000;

/** Larger contents are read and written without keeping everybody else waiting. */
const AT_ONCE = 1024 * 1024;

export async function readState(root: string, path: string): Promise<FileState | undefined> {
  const opened = await existingPlace(root, path);
  if (opened === undefined) return undefined;
  using directory = opened.directory;
  return await stateAt(directory.at(opened.name), path);
}

/** Where the path is, if its directory is there; refuses one that leads out of the sandbox or through a link. */
export async function existingPlace(
  root: string,
  path: string,
): Promise<{ directory: ContainedDirectory; name: string } | undefined> {
  return ContainedDirectory.of(root, path, { create: false }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "tool_failed") return undefined;
    throw error;
  });
}

async function stateAt(file: string, path: string): Promise<FileState | undefined> {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return { content: readlinkSync(file, { encoding: "buffer" }), mode: LINK };
  if (!found.isFile())
    throw missingPathError(path, found.isDirectory() ? "is a directory" : "is neither a file nor a link");
  const content = found.size <= AT_ONCE ? readFileSync(file) : await readFile(file);
  return { content, mode: (found.mode & 0o100) === 0 ? REGULAR : EXECUTABLE };
}

/** Puts the state there, or nothing when it is undefined. The new file takes the old one's place in one step. */
export async function writeState(root: string, path: string, state: FileState | undefined): Promise<void> {
  const { directory: opened, name } = await ContainedDirectory.of(root, path, { create: state !== undefined });
  using directory = opened;
  if (state === undefined) {
    rmSync(directory.at(name));
    return;
  }
  const temporary = directory.at(`.${randomUUID()}.tmp`);
  try {
    if (state.mode === LINK) symlinkSync(Buffer.from(state.content), temporary);
    else await writeNew(temporary, state);
    renameSync(temporary, directory.at(name));
  } catch (error) {
    // The tool's caller may continue, so no change may be left without a record.
    rmSync(temporary, { force: true });
    throw error;
  }
}

async function writeNew(file: string, { content, mode }: FileState): Promise<void> {
  if (content.byteLength > AT_ONCE) {
    await using handle = await open(file, "wx", 0o644);
    await handle.writeFile(content);
    await handle.chmod(mode & 0o777);
    return;
  }
  const descriptor = openSync(file, "wx", 0o644);
  try {
    writeFileSync(descriptor, content);
    fchmodSync(descriptor, mode & 0o777);
  } finally {
    closeSync(descriptor);
  }
}

/** Takes the file away, and with it the directories that only it kept. */
export async function removeState(root: string, path: string): Promise<void> {
  await writeState(root, path, undefined);
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    const { directory: opened, name } = await ContainedDirectory.of(root, above, { create: false });
    using directory = opened;
    if (readdirSync(directory.at(name)).length > 0) return;
    rmdirSync(directory.at(name));
  }
}

export function sameState(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.mode === b.mode && sameBytes(a, b);
}

export function sameBytes(a: FileState | undefined, b: FileState | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a.content, b.content) === 0;
}

export function stateHash(state: FileState): string {
  return hash("sha256", state.content);
}

/** Of two states that differ. */
export function operationOf(
  before: { readonly mode: number } | undefined,
  after: { readonly mode: number } | undefined,
  sameBytes: boolean,
): "create" | "delete" | "modify" | "mode" {
  if (before === undefined) return "create";
  if (after === undefined) return "delete";
  return sameBytes && (before.mode === LINK) === (after.mode === LINK) ? "mode" : "modify";
}
