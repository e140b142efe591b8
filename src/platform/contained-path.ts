import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { relativePathProblem } from "../domain/plan/change-entry.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { shown } from "../domain/text/text.ts";

/**
 * Paths inside a sandbox. A path is checked by its segments, then gone along directory by directory, each opened
 * relative to the one before (`/proc/self/fd/N/name`, which is what `openat` is) and never through a symbolic link;
 * what is done then is done relative to the last one. A symbolic link put in between check and use changes nothing. It
 * is done synchronously: the kernel answers in about 2 µs each time, and handing it to a thread takes 10 to 40.
 */
export class ContainedDirectory implements Disposable, AsyncDisposable {
  readonly #descriptor: number;
  readonly #path: string;

  private constructor(descriptor: number, path: string) {
    this.#descriptor = descriptor;
    this.#path = path;
  }

  /** Opens the directory of `path`; with `create`, makes the missing ones. */
  static async of(
    root: string,
    path: string,
    options: { create: boolean },
  ): Promise<{ directory: ContainedDirectory; name: string }> {
    const problem = relativePathProblem(path);
    if (problem !== undefined) throw refusedPathError(path, problem);
    const segments = path.split("/");
    const name = segments.pop() ?? "";
    // Where sandboxes are kept may be reached by links; the sandbox itself must be a directory.
    let current = ContainedDirectory.#open(join(realpathSync.native(dirname(root)), basename(root)), path);
    for (const segment of segments) {
      using parent = current;
      const next = parent.at(segment);
      if (options.create) makeDirectory(next);
      current = ContainedDirectory.#open(next, path);
    }
    return { directory: current, name };
  }

  /** A directory on the way must be a real one: a symbolic link could lead anywhere. */
  static #open(directory: string, path: string): ContainedDirectory {
    try {
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
      return new ContainedDirectory(openSync(directory, flags), directory);
    } catch (error) {
      const found = kindOf(directory);
      if (found === undefined) throw missingPathError(path, `${shown(dirname(path))} does not exist`);
      if (found.isSymbolicLink()) throw refusedPathError(path, "goes through a symbolic link");
      if (!found.isDirectory()) throw missingPathError(path, "goes through something that is not a directory");
      throw error;
    }
  }

  /** Names an entry of this directory, even if another process moves a directory of the path that led here. */
  at(name: string): string {
    return join(process.platform === "linux" ? `/proc/self/fd/${this.#descriptor}` : this.#path, name);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    ifCode("EEXIST")(error);
  }
}

function kindOf(file: string): Stats | undefined {
  try {
    return lstatSync(file);
  } catch {
    return undefined;
  }
}

export function refusedPathError(path: string, why: string): AgentsError {
  return new AgentsError("contained", `The path ${shown(path)} ${why}.`, {
    kept: "Nothing was changed.",
    detail: { path },
  });
}

export function missingPathError(path: string, why: string): AgentsError {
  return new AgentsError("tool_failed", `${shown(path)}: ${why}.`, { kept: "Nothing was changed.", detail: { path } });
}

/** Swallows exactly these failures. */
export function ifCode(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && "code" in error && codes.some((code) => code === error.code)) return undefined;
    throw error;
  };
}
