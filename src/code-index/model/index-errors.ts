import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { shown } from "../../domain/text/text.ts";

/** The tree that a scope was made for has changed. The caller that made the scope makes it again and starts over. */
export class IndexMovedError extends AgentsError {
  constructor(resource: string, wanted: number, found: number | undefined) {
    super("conflict", `${MOVED} ${shown(resource)} has changed since this began.`, {
      kept: "Nothing was changed.",
      next: [{ text: "repeat the command" }],
      detail: { resource, expected: wanted, actual: found ?? null },
    });
  }
}

const MOVED = "The index of";

/** Whether a strategy failed for that reason: only the message of an error arrives from its thread. */
export function isIndexMoved(reason: string): boolean {
  return reason.startsWith(`${MOVED} `) && reason.endsWith(" has changed since this began.");
}

/** There is no index, or no such tree in it: no answer is possible, least of all "nothing found". */
export class NotIndexedError extends AgentsError {
  constructor(resource: string) {
    super("not_found", `${shown(resource)} has not been indexed.`, {
      kept: "Nothing was changed.",
      next: [nextStep("project.context.index")],
      detail: { resource },
    });
  }
}

export class IndexDamagedError extends AgentsError {
  constructor(file: string, cause: unknown) {
    super("store_corrupt", `The index ${file} is damaged.`, {
      cause,
      kept: "Your files are untouched; an index can be made again from them at any time.",
      next: [nextStep("project.context.index")],
      detail: { file },
    });
  }
}
