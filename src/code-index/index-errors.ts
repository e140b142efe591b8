import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";

/** The tree a scope speaks of is another one by now. Whoever made the scope makes it again and starts over. */
export class IndexMovedError extends AgentsError {
  constructor(resource: string, wanted: number, found: number | undefined) {
    super("conflict", `${MOVED} ${shown(resource)} is not the one this began with any more.`, {
      kept: "Nothing was changed.",
      next: ["repeat the command"],
      detail: { resource, expected: wanted, actual: found ?? null },
    });
  }
}

const MOVED = "The index of";

/** Whether a strategy failed for that reason: from its thread only the words of an error arrive. */
export function isIndexMoved(reason: string): boolean {
  return reason.startsWith(`${MOVED} `) && reason.endsWith("is not the one this began with any more.");
}

/** There is no index, or no such tree in it: nothing may be answered, least of all "nothing found". */
export class NotIndexedError extends AgentsError {
  constructor(resource: string) {
    super("not_found", `${shown(resource)} has not been indexed.`, {
      kept: "Nothing was changed.",
      next: ["agents project context index"],
      detail: { resource },
    });
  }
}

export class IndexDamagedError extends AgentsError {
  constructor(file: string, cause: unknown) {
    super("store_corrupt", `The index ${file} is damaged.`, {
      cause,
      kept: "Your files are untouched; an index can be made again from them at any time.",
      next: ["agents project context index"],
      detail: { file },
    });
  }
}
