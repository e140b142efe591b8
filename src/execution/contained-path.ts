import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { relativePathProblem } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";

/**
 * Paths inside a sandbox. A path is checked by its segments, then gone along directory by directory, each opened relative to the one
 * before (`/proc/self/fd/N/name`, which is what `openat` is) and never through a symbolic link; what is done then is done relative
 * to the last one. A symbolic link put in between check and use changes nothing.
 */
export class ContainedDirectory implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Opens the directory of `path`; with `create`, makes the missing ones. */
  static async of(
    root: string,
    path: string,
    options: { create: boolean },
  ): Promise<{ directory: ContainedDirectory; name: string }> {
    const problem = relativePathProblem(path);
    if (problem !== undefined) throw refused(path, problem);
    const segments = path.split("/");
    const name = segments.pop() ?? "";
    // Where sandboxes are kept may be reached by links; the sandbox itself must be a directory.
    let current = await ContainedDirectory.#open(join(await realpath(dirname(root)), basename(root)), path);
    for (const segment of segments) {
      await using parent = current;
      const next = parent.at(segment);
      if (options.create) await mkdir(next).catch(ifCode("EEXIST"));
      current = await ContainedDirectory.#open(next, path);
    }
    return { directory: current, name };
  }

  /** A directory on the way must be a real one: a symbolic link could lead anywhere. */
  static async #open(directory: string, path: string): Promise<ContainedDirectory> {
    try {
      const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      return new ContainedDirectory(handle, directory);
    } catch (error) {
      const found = await lstat(directory).catch(() => undefined);
      if (found === undefined) throw missing(path, `${shown(dirname(path))} does not exist`);
      if (found.isSymbolicLink()) throw refused(path, "goes through a symbolic link");
      if (!found.isDirectory()) throw missing(path, "goes through something that is no directory");
      throw error;
    }
  }

  /** Names something in this directory, whatever happens to the path that led here. */
  at(name: string): string {
    return join(process.platform === "linux" ? `/proc/self/fd/${this.#handle.fd}` : this.#path, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

export function refused(path: string, why: string): AgentsError {
  return new AgentsError("contained", `The path ${shown(path)} ${why}.`, {
    kept: "Nothing was changed.",
    detail: { path },
  });
}

export function missing(path: string, why: string): AgentsError {
  return new AgentsError("tool_failed", `${shown(path)}: ${why}.`, { kept: "Nothing was changed.", detail: { path } });
}

/** Swallows exactly these failures. */
export function ifCode(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && "code" in error && codes.some((code) => code === error.code)) return undefined;
    throw error;
  };
}
