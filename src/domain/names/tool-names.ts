import { isMcpToolName, type McpToolName } from "./mcp-tool-name.ts";

/**
 * The names of all tools. Apart from the actors that use them, so that code that needs only the names imports no
 * actors.
 */
export const TOOL_NAMES = [
  "read_file",
  "write_file",
  "edit_file",
  "apply_patch",
  "delete_file",
  "move_file",
  "copy_file",
  "list_directory",
  "search_files",
  "find_files",
  "get_file_info",
  "create_directory",
  "delete_directory",
  "git_status",
  "git_diff",
  "git_log",
  "git_blame",
  "rewrite_code",
  "shell_execute",
  "command_output",
  "command_stop",
  "request_context",
  "query_history",
  "get_context_budget",
  "web_fetch",
] as const;
/** A built-in tool. */
export type ToolName = (typeof TOOL_NAMES)[number];

/** The tool by which a model reads skills; a plan has it that has skills. */
export const SKILL_TOOL = "use_skill";
/** A tool that was added: the user's own, with its namespace; of an MCP server, `mcp__server__tool`; or of skills. */
export type AddedToolName = `${string}/${string}` | McpToolName | typeof SKILL_TOOL;
/** Any tool, as a definition names it. Whether an added one is there is known when a plan uses it. */
export type ToolRef = ToolName | AddedToolName;

/** Those that ask about the plan, and change nothing. */
export const CONTEXT_TOOL_NAMES = [
  "request_context",
  "query_history",
  "get_context_budget",
] as const satisfies readonly ToolName[];

/** A tool's name however it is spelled: with hyphens, or as one that is built in. */
export function toolWord(text: string): string {
  return text.replace(/^builtin\//, "").replaceAll("-", "_");
}

const ADDED_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}(?::[A-Za-z][A-Za-z0-9_-]{0,99})?\/_?[A-Za-z][A-Za-z0-9_./-]{0,126}$/;

export function isAddedToolName(text: string): text is AddedToolName {
  return text === SKILL_TOOL || isMcpToolName(text) || (ADDED_NAME.test(text) && !text.startsWith("builtin/"));
}

/** The tool that a definition names; undefined when it is not built in and has no namespace. */
export function toolRef(text: string): ToolRef | undefined {
  const word = toolWord(text);
  if (word === SKILL_TOOL) return SKILL_TOOL;
  return TOOL_NAMES.find((name) => name === word) ?? (isAddedToolName(text) ? text : undefined);
}
