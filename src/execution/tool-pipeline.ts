import type * as z from "zod";
import { AgentsError, ValidationError, type ValidationIssue } from "../domain/errors.ts";
import { nearest } from "../domain/suggest.ts";
import { shown } from "../domain/text.ts";
import type { JsonValue } from "../domain/json.ts";
import type { Tool } from "./tool.ts";
import { FILE_TOOLS } from "./tools/file-tools.ts";
import { GIT_TOOLS } from "./tools/git-tools.ts";
import { REWRITE_TOOL } from "./tools/rewrite-tool.ts";
import { SHELL_TOOL } from "./tools/shell-tool.ts";
import type { Workspace } from "./workspace.ts";

/** The one way a tool is called: resolve, check the parameters, check that it is allowed, bind the resource, run, record. */
export const TOOLS: ReadonlyMap<string, Tool> = new Map(
  [...FILE_TOOLS, ...GIT_TOOLS, REWRITE_TOOL, SHELL_TOOL].map((tool) => [tool.name, tool]),
);

export interface ToolRequest {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whom changes are credited to. */
  readonly by: string;
}

export interface ToolEnvironment {
  readonly workspaces: ReadonlyMap<string, Workspace>;
  readonly readOnly: boolean;
  readonly signal: AbortSignal;
}

export async function callTool(request: ToolRequest, environment: ToolEnvironment): Promise<JsonValue> {
  const tool = resolveTool(request.tool);
  const { resource, ...given } = request.params;
  const parsed = tool.parameters.safeParse(given);
  if (!parsed.success) throw unfit(tool, parsed.error);
  if (tool.writes && environment.readOnly) {
    throw new AgentsError("tool_failed", `"${tool.name}" writes, and the plan is read-only.`, {
      kept: "Nothing was changed.",
    });
  }
  const workspace = bind(resource, environment.workspaces);
  environment.signal.throwIfAborted();
  return tool.run(parsed.data, { workspace, by: request.by, signal: environment.signal });
}

function resolveTool(name: string): Tool {
  const tool = TOOLS.get(name.replaceAll("-", "_"));
  if (tool !== undefined) return tool;
  const suggestion = nearest(name, TOOLS.keys());
  const message = `There is no tool ${shown(name)}.`;
  throw new ValidationError(message, [{ path: "tool", message, ...(suggestion === undefined ? {} : { suggestion }) }]);
}

/** The alias may be left out when there is only one. */
function bind(alias: unknown, workspaces: ReadonlyMap<string, Workspace>): Workspace {
  const known = [...workspaces.keys()];
  const [only] = workspaces.values();
  if (alias === undefined && workspaces.size === 1 && only !== undefined) return only;
  const found = typeof alias === "string" ? workspaces.get(alias) : undefined;
  if (found !== undefined) return found;
  const message =
    alias === undefined
      ? `Which resource? The plan has ${known.length === 0 ? "none" : known.join(", ")}.`
      : `The plan has no resource ${shown(alias)} (it has: ${known.join(", ") || "none"}).`;
  throw new ValidationError(message, [{ path: "resource", message }]);
}

function unfit(tool: Tool, error: z.ZodError): ValidationError {
  const issues: ValidationIssue[] = error.issues.map((issue) => ({
    path: issue.path.join("."),
    message: issue.message,
  }));
  const list = issues.map(({ path, message }) => `${path === "" ? "" : `${path}: `}${message}`).join("; ");
  return new ValidationError(`The parameters of ${tool.name} do not fit: ${list}.`, issues);
}
