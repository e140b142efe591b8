import { RESOURCE_TYPE_NAMES, RESOURCE_TYPES } from "../domain/resource.ts";
import { PHASES, STATES } from "../domain/transitions.ts";
import type { CommandSpec, OptionSpec } from "./command-spec.ts";

/** The command tree. Code is imported only when its command is called: `agents version` must not pay for the database. */
export const GROUPS: Readonly<Record<string, { readonly summary: string; readonly heading: string }>> = {
  init: { summary: "", heading: "Define:" },
  actor: { summary: "Register actors, which carry out the steps of plans", heading: "Define:" },
  action: { summary: "Define and manage actions, the templates of plans", heading: "Define:" },
  resource: { summary: "Manage resources, the things plans work on", heading: "Define:" },
  project: { summary: "Manage projects, the scopes of plans", heading: "Define:" },
  config: { summary: "Read and change the configuration", heading: "Define:" },
  plan: { summary: "Make plans, watch and steer them", heading: "Run:" },
  cleanup: { summary: "See and remove sandboxes that are no longer needed", heading: "Run:" },
  audit: { summary: "Read and verify the audit log", heading: "Inspect:" },
  info: { summary: "", heading: "Inspect:" },
  diagnostics: { summary: "", heading: "Inspect:" },
  version: { summary: "", heading: "Inspect:" },
  completion: { summary: "", heading: "Inspect:" },
};

/** Groups inside groups. */
export const SUBGROUPS: Readonly<Record<string, string>> = {
  "resource type": "Show the types of resources",
};

const LIMIT: OptionSpec = { flags: "-n, --limit <count>", description: "show at most this many, the newest first" };
const YES: OptionSpec = { flags: "-y, --yes", description: "do not ask" };
const REASON: OptionSpec = { flags: "-r, --reason <text>", description: "why; recorded in the audit log" };
const READ_ONLY: OptionSpec = { flags: "--read-only", description: "its plans may read but not change it" };

/** The flags of all types of resources; the parser refuses those that are not of the type at hand. */
const RESOURCE_FLAGS: readonly OptionSpec[] = [
  ...new Set(RESOURCE_TYPES.flatMap((type) => type.arguments.map(({ name }) => name))),
].map((name) => {
  const takers = RESOURCE_TYPES.filter((type) => type.arguments.some((argument) => argument.name === name));
  const argument = takers.flatMap((type) => [...type.arguments]).find((candidate) => candidate.name === name);
  const only = takers.length === RESOURCE_TYPES.length ? "" : ` (${takers.map((type) => type.name).join(", ")})`;
  return {
    flags: `--${name} <${argument?.type === "path" ? "path" : "text"}>`,
    description: `${argument?.description}${only}`,
  };
});

export const COMMANDS: readonly CommandSpec[] = [
  {
    path: "init",
    summary: "Create the data directory, configuration and database where missing",
    example: "agents init",
    run: async (context) => (await import("./commands/system.ts")).init(context),
  },
  {
    path: "actor add",
    summary: "Register a tool actor from a YAML file",
    options: [{ flags: "-c, --config <file>", description: 'the actor in YAML ("-" reads standard input)' }],
    example: "agents actor add --config greeter.yaml",
    run: async (context, input) => (await import("./commands/actor.ts")).actorAdd(context, input),
  },
  {
    path: "actor list",
    summary: "List actors",
    options: [{ flags: "--namespace <name>", description: "only of this namespace" }],
    example: "agents actor list",
    run: async (context, input) => (await import("./commands/actor.ts")).actorList(context, input),
  },
  {
    path: "actor show",
    summary: "Show an actor's steps and which of them run at the same time",
    arguments: "<actor>",
    example: "agents actor show local/greeter",
    run: async (context, input) => (await import("./commands/actor.ts")).actorShow(context, input),
  },
  {
    path: "actor remove",
    summary: "Remove an actor that no available action uses",
    arguments: "<actor>",
    options: [YES],
    example: "agents actor remove local/greeter --yes",
    run: async (context, input) => (await import("./commands/actor.ts")).actorRemove(context, input),
  },
  {
    path: "action create",
    summary: "Create an action from a YAML file",
    options: [{ flags: "-c, --config <file>", description: 'the action in YAML ("-" reads standard input)' }],
    example: "agents action create --config fix-bug.yaml",
    run: async (context, input) => (await import("./commands/action.ts")).actionCreate(context, input),
  },
  {
    path: "action list",
    summary: "List actions",
    options: [
      { flags: "--namespace <name>", description: "only of this namespace" },
      { flags: "--state <state>", description: "only in this state", choices: ["available", "archived"] },
    ],
    example: "agents action list --state available",
    run: async (context, input) => (await import("./commands/action.ts")).actionList(context, input),
  },
  {
    path: "action show",
    summary: "Show an action with its arguments",
    arguments: "<action>",
    example: "agents action show local/fix-bug",
    run: async (context, input) => (await import("./commands/action.ts")).actionShow(context, input),
  },
  {
    path: "action archive",
    summary: "Take an action out of use; its plans go on",
    arguments: "<action>",
    example: "agents action archive local/fix-bug",
    run: async (context, input) => (await import("./commands/action.ts")).actionArchive(context, input),
  },
  {
    path: "resource add",
    summary: "Register something that plans work on",
    arguments: "<type> <resource>",
    options: [...RESOURCE_FLAGS, { flags: "-d, --description <text>", description: "what it is" }],
    example: "agents resource add git-checkout api --path . --branch main",
    run: async (context, input) => (await import("./commands/resource.ts")).resourceAdd(context, input),
  },
  {
    path: "resource list",
    summary: "List resources",
    options: [
      { flags: "--type <type>", description: "only of this type", choices: RESOURCE_TYPE_NAMES },
      { flags: "--namespace <name>", description: "only of this namespace" },
    ],
    example: "agents resource list --type git-checkout",
    run: async (context, input) => (await import("./commands/resource.ts")).resourceList(context, input),
  },
  {
    path: "resource show",
    summary: "Show a resource and the projects that have it",
    arguments: "<resource>",
    example: "agents resource show api",
    run: async (context, input) => (await import("./commands/resource.ts")).resourceShow(context, input),
  },
  {
    path: "resource remove",
    summary: "Forget a resource that no project has; its files stay",
    arguments: "<resource>",
    options: [YES],
    example: "agents resource remove api --yes",
    run: async (context, input) => (await import("./commands/resource.ts")).resourceRemove(context, input),
  },
  {
    path: "resource type list",
    summary: "List the types of resources",
    example: "agents resource type list",
    run: async () => (await import("./commands/resource-type.ts")).resourceTypeList(),
  },
  {
    path: "resource type show",
    summary: "Show a type of resources with its flags",
    arguments: "<type>",
    example: "agents resource type show git-checkout",
    run: async (_, input) => (await import("./commands/resource-type.ts")).resourceTypeShow(input),
  },
  {
    path: "project create",
    summary: "Create a project",
    arguments: "<project>",
    options: [
      { flags: "-d, --description <text>", description: "what it is" },
      { flags: "--resource <name>", description: "link this resource to it at once", repeatable: true },
    ],
    example: 'agents project create shop -d "The web shop"',
    run: async (context, input) => (await import("./commands/project.ts")).projectCreate(context, input),
  },
  {
    path: "project list",
    summary: "List projects",
    options: [{ flags: "--namespace <name>", description: "only of this namespace" }],
    example: "agents project list",
    run: async (context, input) => (await import("./commands/project.ts")).projectList(context, input),
  },
  {
    path: "project show",
    summary: "Show a project",
    arguments: "<project>",
    example: "agents project show shop",
    run: async (context, input) => (await import("./commands/project.ts")).projectShow(context, input),
  },
  {
    path: "project link-resource",
    summary: "Give a project a resource to work on",
    arguments: "<project> <resource>",
    options: [
      { flags: "--alias <alias>", description: "what its plans call it (its own name unless given)" },
      READ_ONLY,
    ],
    example: "agents project link-resource shop api --alias backend",
    run: async (context, input) => (await import("./commands/project-resources.ts")).linkResource(context, input),
  },
  {
    path: "project unlink-resource",
    summary: "Take a resource, by alias or name, from a project without active plans",
    arguments: "<project> <alias>",
    example: "agents project unlink-resource shop backend",
    run: async (context, input) => (await import("./commands/project-resources.ts")).unlinkResource(context, input),
  },
  {
    path: "project delete",
    summary: "Delete a project without active plans; its resources stay",
    arguments: "<project>",
    options: [{ flags: "--force", description: "cancel its active plans first" }, YES],
    example: "agents project delete shop --yes",
    run: async (context, input) => (await import("./commands/project.ts")).projectDelete(context, input),
  },
  {
    path: "config get",
    summary: "Show one value and the level it comes from",
    arguments: "<key>",
    options: [{ flags: "-p, --project <name>", description: "as this project sees it" }],
    example: "agents -v config get core.automation-profile --project shop",
    run: async (context, input) => (await import("./commands/config.ts")).configGet(context, input),
  },
  {
    path: "config set",
    summary: "Set one value, for everything or for one project",
    arguments: "<key> <value>",
    options: [{ flags: "-p, --project <name>", description: "only for this project" }],
    example: "agents config set core.automation-profile manual --project shop",
    run: async (context, input) => (await import("./commands/config.ts")).configSet(context, input),
  },
  {
    path: "config list",
    summary: "Show all keys with their values",
    options: [{ flags: "-p, --project <name>", description: "as this project sees them" }],
    example: "agents config list",
    run: async (context, input) => (await import("./commands/config.ts")).configList(context, input),
  },
  {
    path: "plan use",
    aliases: ["start"],
    summary: "Make a plan of an action for one or more projects",
    arguments: "<action> <project...>",
    options: [
      { flags: "-a, --arg <name=value>", description: "a value for an argument of the action", repeatable: true },
      { flags: "--automation-profile <name>", description: "how far it may go without asking" },
      { flags: "--strategy-actor <name>", description: "instead of the action's" },
      { flags: "--execution-actor <name>", description: "instead of the action's" },
      { flags: "--estimation-actor <name>", description: "instead of the action's" },
      { flags: "--review-actor <name>", description: "instead of the action's" },
      { flags: "--apply-actor <name>", description: "instead of the action's" },
      { flags: "--invariant-actor <name>", description: "instead of the action's" },
    ],
    example: "agents plan use fix-bug shop --arg issue=42",
    run: async (context, input) => (await import("./commands/plan-use.ts")).planUse(context, input),
  },
  {
    path: "plan execute",
    summary: "Carry out a plan in its sandboxes; goes on where it stopped",
    arguments: "<plan>",
    options: [{ flags: "--include-dirty", description: "start from what is not committed in the checkouts too" }],
    example: "agents plan execute 01JABCDE",
    run: async (context, input) => (await import("./commands/plan-execute.ts")).planExecute(context, input),
  },
  {
    path: "plan diff",
    summary: "Show what a plan changed, as git diff does",
    arguments: "<plan>",
    options: [{ flags: "--stat", description: "only which files, and by which steps" }],
    example: "agents plan diff 01JABCDE --stat",
    run: async (context, input) => (await import("./commands/plan-diff.ts")).planDiff(context, input),
  },
  {
    path: "plan artifacts",
    summary: "List the files a plan made, changed and deleted",
    arguments: "<plan>",
    example: "agents plan artifacts 01JABCDE",
    run: async (context, input) => (await import("./commands/plan-diff.ts")).planArtifacts(context, input),
  },
  {
    path: "plan list",
    summary: "List plans, the newest first",
    arguments: "[regex]",
    options: [
      { flags: "--phase <phase>", description: "only in this phase", choices: PHASES },
      { flags: "--state <state>", description: "only in this state", choices: STATES },
      { flags: "--project <name>", description: "only of this project" },
      { flags: "--action <name>", description: "only of this action" },
      LIMIT,
    ],
    example: "agents plan list --state errored",
    run: async (context, input) => (await import("./commands/plan-list.ts")).planList(context, input),
  },
  {
    path: "plan status",
    aliases: ["show"],
    summary: "Show a plan; exits 1 while it is errored",
    arguments: "<plan>",
    example: "agents plan status 01JABCDE",
    run: async (context, input) => (await import("./commands/plan-status.ts")).planStatus(context, input),
  },
  {
    path: "plan cancel",
    summary: "Stop a plan for good; what it recorded is kept",
    arguments: "<plan>",
    options: [REASON],
    example: 'agents plan cancel 01JABCDE -r "not needed any more"',
    run: async (context, input) => (await import("./commands/plan-steer.ts")).planCancel(context, input),
  },
  {
    path: "plan revert",
    summary: "Send a plan back to strategize for another attempt",
    arguments: "<plan>",
    options: [REASON, { flags: "--to-phase <phase>", description: "where to", choices: ["strategize"] }],
    example: 'agents plan revert 01JABCDE -r "the tests need another approach"',
    run: async (context, input) => (await import("./commands/plan-steer.ts")).planRevert(context, input),
  },
  {
    path: "plan errors",
    summary: "Show why a plan stopped, and what can be done",
    arguments: "<plan>",
    example: "agents plan errors 01JABCDE",
    run: async (context, input) => (await import("./commands/plan-errors.ts")).planErrors(context, input),
  },
  {
    path: "cleanup list",
    summary: "List sandboxes and which of them nobody needs any more",
    example: "agents cleanup list",
    run: async (context) => (await import("./commands/cleanup.ts")).cleanupList(context),
  },
  {
    path: "cleanup run",
    summary: "Remove the sandboxes of finished plans; what they changed stays recorded",
    options: [YES],
    example: "agents cleanup run --yes",
    run: async (context, input) => (await import("./commands/cleanup.ts")).cleanupRun(context, input),
  },
  {
    path: "audit list",
    summary: "List audit entries, the newest first",
    options: [{ flags: "--plan <plan>", description: "only of this plan" }, LIMIT],
    example: "agents audit list --plan 01JABCDE",
    run: async (context, input) => (await import("./commands/audit.ts")).auditList(context, input),
  },
  {
    path: "audit verify",
    summary: "Check the whole audit log; exits 1 at the first broken entry",
    options: [{ flags: "--expect <head>", description: "also check that this earlier head is part of it" }],
    example: "agents audit verify --expect 2c6868565c18c47d…",
    run: async (context, input) => (await import("./commands/audit.ts")).auditVerify(context, input),
  },
  {
    path: "info",
    summary: "Show where everything is and how much of it there is",
    example: "agents info",
    run: async (context) => (await import("./commands/system.ts")).info(context),
  },
  {
    path: "diagnostics",
    summary: "Check that everything needed works",
    example: "agents diagnostics",
    run: async (context) => (await import("./commands/diagnostics.ts")).diagnostics(context),
  },
  {
    path: "version",
    summary: "Print the version",
    example: "agents version --format json",
    run: async () => (await import("./commands/version.ts")).version(),
  },
  {
    path: "completion",
    summary: "Print a completion script for your shell",
    arguments: "<shell>",
    example: 'eval "$(agents completion bash)"',
    run: async (_, input) => (await import("./commands/completion.ts")).completion(input),
  },
];
