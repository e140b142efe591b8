import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";

/**
 * How much one command may change, in bytes. What it changed is read, hashed and kept in the store: by size it is refused before that.
 * The size of a sparse file counts, not what it takes on disk: it would be kept in full.
 */
const FILE_LIMIT = 100 * 1024 * 1024;
const STEP_LIMIT = 1024 * 1024 * 1024;

export class ChangedBytes {
  #sum = 0;

  /** @throws when the file, or all together, is more than can be recorded. */
  add(path: string, size: number): void {
    if (size > FILE_LIMIT) throw tooMuch(`${shown(path)} is a file of ${megabytes(size)} MB, and a step can change`);
    this.#sum += size;
    if (this.#sum <= STEP_LIMIT) return;
    throw tooMuch("More than 1 GB was changed in all, and a step can change");
  }
}

function tooMuch(what: string): AgentsError {
  return new AgentsError("tool_failed", `${what} files of at most 100 MB each, and of 1 GB together.`, {
    next: ["let the command write large files outside of the tree, or where git ignores them"],
    detail: { file_limit: FILE_LIMIT, step_limit: STEP_LIMIT },
  });
}

function megabytes(size: number): string {
  return Math.ceil(size / (1024 * 1024)).toLocaleString("en-US");
}
