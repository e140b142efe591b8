import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../../domain/errors/errors.ts";
import type { Io } from "../terminal/io.ts";

interface ReadDocument {
  readonly text: string;
  readonly file: string;
  readonly outside: boolean;
  readonly directory?: string;
}

/** A file of definitions as an operation takes it; "-" is standard input. */
export async function readDocument(io: Io, file: string): Promise<ReadDocument> {
  try {
    if (file === "-") return { text: await io.readInput(), file: "standard input", outside: true };
    const path = io.path(file);
    return { text: readFileSync(path, "utf8"), file, outside: isOutside(path), directory: dirname(path) };
  } catch (error) {
    if (isMissing(error)) {
      throw new UsageError(`There is no file ${file}.`, { kept: "Nothing was written." });
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The file ${file} cannot be read: ${why}.`, { kept: "Nothing was written." });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/**
 * A file may come from another person if it is not a file of the user (standard input, or another owner), or lies in a
 * repository that has a remote, where others write.
 */
function isOutside(file: string): boolean {
  const { uid } = statSync(file);
  if (process.getuid !== undefined && uid !== process.getuid()) return true;
  return isInClone(dirname(realpathSync(file)));
}

function isInClone(directory: string): boolean {
  const git = join(directory, ".git");
  if (existsSync(git)) return hasRemote(git);
  const parent = dirname(directory);
  return parent !== directory && isInClone(parent);
}

/** A working tree of another repository has a file there; its repository may have a remote. */
function hasRemote(git: string): boolean {
  if (!statSync(git).isDirectory()) return true;
  try {
    return /^\s*\[\s*remote\b/im.test(readFileSync(join(git, "config"), "utf8"));
  } catch {
    return true;
  }
}
