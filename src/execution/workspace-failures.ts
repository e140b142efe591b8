import { relativePathProblem } from "../domain/change-entry.ts";
import { AgentsError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { refused } from "./contained-path.ts";

/** The ways in which work in a sandbox fails. */

/** No failure of the tool: what it changed cannot be recorded, so nobody may go on from there. */
export function unknownBefore(path: string): AgentsError {
  return new AgentsError("resource_failed", `What ${shown(path)} held before the command is not known.`, {
    detail: { path },
  });
}

export function notThere(path: string): AgentsError {
  return new AgentsError("tool_failed", `There is no file ${shown(path)}.`, {
    kept: "Nothing was changed.",
    detail: { path },
  });
}

export function occupied(path: string): AgentsError {
  return new AgentsError("tool_failed", `There is already a file ${shown(path)}.`, {
    kept: "It was not changed.",
    detail: { path },
  });
}

/** A command can make files that no plan can name. */
export function requireRecordable(path: string): void {
  const problem = relativePathProblem(path);
  if (problem !== undefined) throw refused(path, problem);
}

/** A failure of the tool: its caller may go on from the files as they were before. */
export function putBackError(error: unknown): AgentsError {
  const { code, message, next, detail } = asFailure(error);
  const kept = "The files are as they were before the command. What git ignores stays as the command left it.";
  return new AgentsError(code, message, { cause: error, kept, next, detail });
}

/** No failure of the tool: the files are not what is recorded, and only a new execution makes them so. */
export function notPutBackError(error: unknown): AgentsError {
  const { message, next, detail } = asFailure(error);
  const kept = "The recorded steps are kept. The next execute makes the sandbox again from what is recorded.";
  return new AgentsError("resource_failed", message, { cause: error, kept, next, detail });
}

function asFailure(error: unknown): AgentsError {
  if (error instanceof AgentsError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new AgentsError("tool_failed", `What the command left cannot be read: ${why}`);
}
