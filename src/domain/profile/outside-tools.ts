/**
 * The tools of other makers' agents as our guards know them. Each agent has names of its own; lists, limits and
 * approvals of a profile are written in ours. A name that is not known here counts as a tool that writes.
 */
interface KnownTool {
  /** One of ours, or the agent's own name. */
  readonly tool: string;
  readonly writes: boolean;
}

const KINDS: readonly (readonly [RegExp, KnownTool])[] = [
  [
    /^(?:bash|shell|exec|run|local_?shell|exec_?command|run_?shell_?command|execute|terminal|run_?in_?terminal)$/,
    { tool: "shell_execute", writes: true },
  ],
  [
    /^(?:write|edit|multi_?edit|notebook_?edit|create|replace|write_?file|edit_?file|apply_?patch|str_?replace(?:_?editor|_?based_?edit_?tool)?|insert|patch|delete|delete_?file|move|move_?file|rename)$/,
    { tool: "write_file", writes: true },
  ],
  [/^(?:read|view|cat|read_?file|read_?many_?files|view_?image|notebook_?read)$/, { tool: "read_file", writes: false }],
  [
    /^(?:grep|rg|search|search_?files|search_?file_?content|grep_?search|code_?search)$/,
    { tool: "search_files", writes: false },
  ],
  [/^(?:glob|find|find_?files|ls|list|list_?directory|list_?dir)$/, { tool: "list_directory", writes: false }],
  [/^(?:fetch|web_?fetch|webfetch|web_?search|google_?web_?search)$/, { tool: "web_fetch", writes: false }],
  [
    /^(?:todo_?write|todo_?read|todowrite|todoread|update_?plan|think|write_?todos|exit_?plan_?mode|report_?intent)$/,
    { tool: "plan_notes", writes: false },
  ],
];

const PREFIX = "acp:";

/** The name under which a call of an agent's tool is recorded. */
export function outsideToolName(agent: string, tool: string): string {
  return `${PREFIX}${agent}/${tool}`;
}

/** The tool as guards know it; `recorded` may be the name of one of ours. */
export function guardedTool(recorded: string): KnownTool {
  const outside = recorded.startsWith(PREFIX);
  const tool = outside ? recorded.slice(recorded.indexOf("/") + 1) : recorded;
  if (!outside) return { tool, writes: true };
  const word = tool.replaceAll("-", "_").toLowerCase();
  return KINDS.find(([pattern]) => pattern.test(word))?.[1] ?? { tool, writes: true };
}
