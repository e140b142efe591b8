/**
 * How much one command may change, in bytes. Its changes are read, hashed and kept in the store; too large ones are
 * refused by their size before that. The size of a sparse file counts, not the space it takes on disk: it would be
 * kept in full.
 */
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";

const FILE_LIMIT = 100 * 1024 * 1024;
const STEP_LIMIT = 1024 * 1024 * 1024;

export class ChangedBytes {
  #sum = 0;

  /** @throws when the file, or all together, is more than can be recorded. */
  add(path: string, size: number): void {
    if (size > FILE_LIMIT)
      throw tooMuchError(`${shown(path)} is a file of ${megabytes(size)} MB, and a step can change`);
    this.#sum += size;
    if (this.#sum <= STEP_LIMIT) return;
    throw tooMuchError("More than 1 GB was changed in all, and a step can change");
  }
}

function tooMuchError(what: string): AgentsError {
  return new AgentsError("tool_failed", `${what} files of at most 100 MB each, and of 1 GB together.`, {
    next: [{ text: "let the command write large files outside of the tree, or where git ignores them" }],
    detail: { file_limit: FILE_LIMIT, step_limit: STEP_LIMIT },
  });
}

function megabytes(size: number): string {
  return Math.ceil(size / (1024 * 1024)).toLocaleString("en-US");
}
