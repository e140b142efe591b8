/**
 * The commands: the operations of the application, spelled as words, and the few words that only a command line has.
 * Nothing here loads an operation: help and completion must not pay for zod or the database.
 */
import { OPERATIONS } from "../../app/table/operation-table.ts";
import type { Parameter, TableEntry } from "../../app/base/operation.ts";

export type Command = Omit<TableEntry, "load" | "parameters"> & {
  /** "plan use". */
  readonly path: string;
  /** "plan.use". */
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** Parameters that only the command line has. */
  readonly ownOptions: readonly Parameter[];
};

const YES: Parameter = { name: "yes", kind: "flag", short: "y", about: "do not ask" };

/** Options that say how the command line shows or stores a result. */
const OWN_OPTIONS: Readonly<Record<string, readonly Parameter[]>> = {
  "plan.diff": [
    { name: "stat", kind: "flag", about: "only which files, how many lines, and by which steps" },
    { name: "pager", kind: "flag", on: true, about: "print it at once, also on a terminal" },
    { name: "output", value: "file", about: "write the patch to a file, every byte as it is, for git apply" },
  ],
  "plan.use": [{ name: "quiet", kind: "flag", short: "q", about: "print the plan's id and nothing else" }],
  schema: [{ name: "output", value: "file", about: "write it to this file" }],
  "session.export": [{ name: "output", value: "file", about: "write it to this file" }],
};

/** Commands that are not operations of the application. */
const OWN_COMMANDS: readonly Command[] = [
  {
    path: "acp",
    name: "acp",
    summary: "Serve an editor that speaks the Agent Client Protocol, on standard input and output",
    role: "operator",
    writes: true,
    parameters: [
      { name: "automationProfile", about: "how far plans may go without asking", value: "profile" },
      { name: "actor", about: "who does the work, such as ollama/qwen3", value: "actor" },
      { name: "budget", about: "what the models of one plan may cost at most, such as 1.50", value: "dollars" },
    ],
    ownOptions: [],
    example: { budget: "2.50" },
  },
  {
    path: "mcp serve",
    name: "mcp.serve",
    summary: "Serve plans to other agents by the Model Context Protocol, on standard input and output",
    role: "operator",
    writes: true,
    parameters: [
      { name: "readOnly", about: "only the tools that change nothing", kind: "flag" },
      { name: "automationProfile", about: "how far plans may go without asking", value: "profile" },
      { name: "actor", about: "who does the work, such as ollama/qwen3", value: "actor" },
      { name: "budget", about: "what the models of one plan may cost at most, such as 1.50", value: "dollars" },
    ],
    ownOptions: [],
    example: { budget: "2.50" },
  },
  {
    path: "jobs work",
    name: "jobs.work",
    summary: "Carry out queued plans until Ctrl-C; they go as far as they may without asking",
    role: "operator",
    writes: true,
    parameters: [
      { name: "workers", about: "so many plans at once; 2 unless given", value: "count", kind: "integer" },
      { name: "perProject", about: "so many of one project at once", value: "count", kind: "integer" },
      { name: "untilEmpty", about: "end when nothing is queued any more", kind: "flag" },
    ],
    ownOptions: [],
    example: { workers: 4 },
  },
  {
    path: "server start",
    name: "server.start",
    summary: "Serve the operations over HTTP, with a token for each caller, until Ctrl-C",
    role: "owner",
    writes: true,
    parameters: [
      { name: "host", about: "the address to listen on (127.0.0.1 unless given)", value: "address" },
      { name: "port", about: "the port (4400 unless given); 0 takes a free one", value: "number", kind: "integer" },
      { name: "socket", about: "a socket file that only you can open, instead", value: "path", kind: "path" },
      {
        name: "allowHosts",
        about: "a name by which requests may come, such as a proxy's",
        value: "name",
        many: true,
        word: "allow-host",
      },
      {
        name: "logFormat",
        about: "how the log on standard error looks",
        value: "format",
        choices: ["plain", "json"],
      },
      {
        name: "logLevel",
        about: "the least that is logged",
        value: "level",
        choices: ["debug", "info", "warning", "error"],
      },
      {
        name: "workers",
        about: "carry so many queued plans out at once (2 unless given); 0 leaves them to others",
        value: "count",
        kind: "integer",
      },
      {
        name: "patience",
        about: "seconds that operations may go on at the end (10 unless given)",
        value: "seconds",
        kind: "integer",
      },
    ],
    ownOptions: [],
    example: { port: 4400 },
  },
  {
    path: "watch",
    name: "watch",
    summary: "Show what needs you, what works and what is ready, live; reply, apply, undo by a key",
    role: "operator",
    writes: true,
    parameters: [{ name: "directory", about: "plans of the repository here come first", kind: "here" }],
    ownOptions: [{ name: "once", kind: "flag", about: "print the list once and end" }],
    example: {},
  },
  {
    path: "help",
    name: "help",
    summary: "Show a page on how to do something, or the help of a command",
    role: "reader",
    writes: false,
    parameters: [
      { name: "topic", about: "a page or a command; none lists the pages", positional: true, kind: "words" },
    ],
    ownOptions: [],
    example: { topic: ["two-repositories"] },
  },
  {
    path: "completion",
    name: "completion",
    summary: "Print a completion script for your shell, or install it",
    role: "reader",
    writes: false,
    parameters: [
      { name: "shell", about: "bash, zsh or fish", positional: true, required: true },
      { name: "install", about: "put it where the shell finds it", kind: "flag" },
      { name: "values", about: "print the names of this kind, as the scripts do", value: "kind" },
    ],
    ownOptions: [YES],
    example: { shell: "bash" },
  },
];

export const COMMANDS: readonly Command[] = [
  ...Object.entries<TableEntry>(OPERATIONS)
    .filter(([, entry]) => entry.hidden !== true)
    .map(([name, entry]) => ({
      ...entry,
      name,
      path: name.replaceAll(".", " "),
      parameters: entry.parameters ?? [],
      ownOptions: [...(OWN_OPTIONS[name] ?? []), ...(entry.asks === true ? [YES] : [])],
    })),
  ...OWN_COMMANDS,
];

/**
 * The option's word: `--strategy-actor` for `strategyActor`, `--no-verify` for a flag that holds unless switched off.
 */
export function optionWord({ name, word, on }: Parameter): string {
  const spelled = word ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return on === true ? `no-${spelled}` : spelled;
}

/** The groups of commands, in the order in which help shows them. */
export const GROUPS: Readonly<Record<string, { readonly summary: string; readonly heading: string }>> = {
  run: { summary: "", heading: "Run:" },
  tell: { summary: "", heading: "Run:" },
  watch: { summary: "", heading: "Run:" },
  plan: { summary: "Make plans, watch and steer them", heading: "Run:" },
  jobs: { summary: "Carry plans out in the background, and see the queue", heading: "Run:" },
  session: { summary: "Continue conversations over several plans", heading: "Run:" },
  gateway: { summary: "", heading: "Run:" },
  acp: { summary: "", heading: "Run:" },
  server: { summary: "Serve the operations over HTTP, and manage who may call them", heading: "Run:" },
  cleanup: { summary: "See and remove sandboxes that are no longer needed", heading: "Run:" },
  init: { summary: "", heading: "Define:" },
  config: { summary: "Read and change the configuration", heading: "Define:" },
  edit: { summary: "", heading: "Define:" },
  schema: { summary: "", heading: "Define:" },
  login: { summary: "Log in at a provider of models", heading: "Define:" },
  logout: { summary: "", heading: "Define:" },
  models: { summary: "See which models can be used, and what they cost", heading: "Define:" },
  actor: { summary: "Register actors, which plan and do the work", heading: "Define:" },
  action: { summary: "Define and manage actions, the templates of plans", heading: "Define:" },
  resource: { summary: "Manage resources, the things plans work on", heading: "Define:" },
  project: { summary: "Manage projects, the scopes of plans", heading: "Define:" },
  validation: { summary: "Register checks of what plans make, and attach them", heading: "Define:" },
  "automation-profile": { summary: "Set how far plans may go without asking", heading: "Define:" },
  tool: { summary: "Add tools of your own, and try them", heading: "Define:" },
  skill: {
    summary: "Skills: instructions for a kind of task, that models read when they need them",
    heading: "Define:",
  },
  mcp: { summary: "Use the tools of MCP servers in plans, and serve plans to other agents", heading: "Define:" },
  help: { summary: "", heading: "Inspect:" },
  context: { summary: "See what a model would see of a code base, and why", heading: "Inspect:" },
  audit: { summary: "Read and verify the audit log", heading: "Inspect:" },
  info: { summary: "", heading: "Inspect:" },
  diagnostics: { summary: "", heading: "Inspect:" },
  version: { summary: "", heading: "Install:" },
  completion: { summary: "", heading: "Install:" },
  upgrade: { summary: "", heading: "Install:" },
  uninstall: { summary: "", heading: "Install:" },
};

/** Groups inside groups. */
export const SUBGROUPS: Readonly<Record<string, string>> = {
  "resource type": "Show the types of resources",
  "context breakers": "See which strategies are switched off, and switch them on",
  "server token": "Create, list and revoke the tokens of callers",
  "mcp server": "Add, test and remove MCP servers, and log in at them",
  "project context": "Set what models see of a project, and look at it",
};
