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
