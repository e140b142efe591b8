/** The tools by which each agent writes a file and runs a command, for scripts that mean all of them. */
import type { AgentName } from "../src/domain/names/agent-names.ts";
import type { JsonObject } from "../src/domain/values/json.ts";

interface Call {
  readonly name: string;
  readonly input: JsonObject;
}

interface AgentTools {
  readonly run: (command: string) => Call;
  /** `path` is absolute. */
  readonly write: (path: string, content: string) => Call;
  /** The tool that starts sub-agents, as far as the agent has one. */
  readonly sub: readonly string[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const bash =
  (name: string, more: JsonObject = {}): AgentTools["run"] =>
  (command) => ({
    name,
    input: { command, ...more },
  });

export const AGENT_TOOLS: Readonly<Record<AgentName, AgentTools>> = {
  claude: {
    run: bash("Bash", { description: "runs it" }),
    write: (path, content) => ({ name: "Write", input: { file_path: path, content } }),
    sub: ["Agent", "Task"],
  },
  codex: {
    run: (cmd) => ({ name: "exec_command", input: { cmd } }),
    write: (path, content) => ({
      name: "exec_command",
      input: { cmd: `mkdir -p "$(dirname ${quoted(path)})" && printf %s ${quoted(content)} > ${quoted(path)}` },
    }),
    sub: ["spawn_agent"],
  },
  opencode: {
    run: bash("bash", { description: "runs it" }),
    write: (path, content) => ({ name: "write", input: { filePath: path, content } }),
    sub: ["task"],
  },
  gemini: {
    run: bash("run_shell_command"),
    write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
    sub: ["codebase_investigator", "invoke_agent", "generalist"],
  },
  qwen: {
    run: bash("run_shell_command", { is_background: false }),
    write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
    sub: ["agent", "task"],
  },
  pi: {
    run: bash("bash"),
    write: (path, content) => ({ name: "write", input: { path, content } }),
    sub: [],
  },
  copilot: {
    run: bash("bash", { description: "runs it" }),
    write: (path, content) => ({ name: "create", input: { path, file_text: content } }),
    sub: ["task"],
  },
};
