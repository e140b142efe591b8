/** The kinds of files that a user writes. */
export const FILE_KINDS = [
  "actor",
  "action",
  "automation-profile",
  "validation",
  "tool",
  "skill",
  "mcp-servers",
  "config",
] as const;
export type FileKind = (typeof FILE_KINDS)[number];

export interface AboutKind {
  readonly title: string;
  readonly description: string;
  /** The command that reads such a file. */
  readonly command: string;
}

export const ABOUT_KINDS: Readonly<Record<FileKind, AboutKind>> = {
  actor: {
    title: "Actor",
    description: "Who does the work of a plan: a model with tools, a graph, a fixed list of tool calls, or an agent",
    command: "agents actor add --config FILE",
  },
  action: {
    title: "Action",
    description: "A template of plans: what should become true, with its arguments",
    command: "agents action create --config FILE",
  },
  "automation-profile": {
    title: "Automation profile",
    description: "How far plans may go without asking: thresholds, safety, guards, budget",
    command: "agents automation-profile add --config FILE",
  },
  validation: {
    title: "Validation",
    description: "A check of what a plan made: a command or a read-only tool",
    command: "agents validation add --config FILE",
  },
  tool: {
    title: "Tool",
    description: "A tool of your own: a program with a JSON Schema for its parameters",
    command: "agents tool add --config FILE",
  },
  skill: {
    title: "Skill",
    description: "A set of tools under one name",
    command: "agents skill add --config FILE",
  },
  "mcp-servers": {
    title: "MCP servers",
    description: "MCP servers as most programs write them, in JSON",
    command: "agents mcp server add --file FILE",
  },
  config: {
    title: "Configuration",
    description: "The configuration file: settings for everything and for single projects",
    command: "agents config list",
  },
};
