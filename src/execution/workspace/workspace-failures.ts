/**
 * The errors of work in a sandbox. Some are failures of the tool, from which its caller may continue; others stop the
 * plan, because the files are not what is recorded.
 */
import { relativePathProblem } from "../../domain/plan/change-entry.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { refusedPathError } from "../../platform/contained-path.ts";

/** The ways in which work in a sandbox fails. */

/** Not a failure of the tool: its changes cannot be recorded, so no caller may continue from there. */
export function unknownBeforeError(path: string): AgentsError {
  return new AgentsError("resource_failed", `The content of ${shown(path)} before the command is not known.`, {
    detail: { path },
  });
}

export function noBackgroundError(): AgentsError {
  return new AgentsError("tool_failed", "A command stays in the background only during a step with several calls.", {
    kept: "It was not run.",
  });
}

export function notThereError(path: string): AgentsError {
  return new AgentsError("tool_failed", `There is no file ${shown(path)}.`, {
    kept: "Nothing was changed.",
    detail: { path },
  });
}

export function occupiedError(path: string): AgentsError {
  return new AgentsError("tool_failed", `There is already a file ${shown(path)}.`, {
    kept: "It was not changed.",
    detail: { path },
  });
}

/** A command can make files that no plan can name. */
export function requireRecordable(path: string): void {
  const problem = relativePathProblem(path);
  if (problem !== undefined) throw refusedPathError(path, problem);
}

/** A failure of the tool: its caller may continue from the files as they were before. */
export function putBackError(error: unknown): AgentsError {
  const { code, message, next, detail } = asAgentsError(error);
  const kept = "The files are as they were before the command. Files that git ignores stay as the command left them.";
  return new AgentsError(code, message, { cause: error, kept, next, detail });
}

/** Not a failure of the tool: the files differ from the record, and only a new execution makes them equal. */
export function notPutBackError(error: unknown): AgentsError {
  const { message, next, detail } = asAgentsError(error);
  const kept = "The recorded steps are kept. The next execute makes the sandbox again from what is recorded.";
  return new AgentsError("resource_failed", message, { cause: error, kept, next, detail });
}

function asAgentsError(error: unknown): AgentsError {
  if (error instanceof AgentsError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new AgentsError("tool_failed", `The files that the command left cannot be read: ${why}`);
}
