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
    { name: "stat", kind: "flag", about: "only which files, and by which steps" },
    { name: "output", value: "file", about: "write the patch to a file, every byte as it is, for git apply" },
  ],
};

/** Commands that are not operations of the application. */
const OWN_COMMANDS: readonly Command[] = [
  {
    path: "completion",
    name: "completion",
    summary: "Print a completion script for your shell",
    role: "reader",
    writes: false,
    parameters: [{ name: "shell", about: "bash, zsh or fish", positional: true, required: true }],
    ownOptions: [],
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

/** The groups of commands, as help shows them. */
export const GROUPS: Readonly<Record<string, { readonly summary: string; readonly heading: string }>> = {
  init: { summary: "", heading: "Define:" },
  actor: { summary: "Register actors, which plan and do the work", heading: "Define:" },
  action: { summary: "Define and manage actions, the templates of plans", heading: "Define:" },
  resource: { summary: "Manage resources, the things plans work on", heading: "Define:" },
  project: { summary: "Manage projects, the scopes of plans", heading: "Define:" },
  validation: { summary: "Register checks of what plans make, and attach them", heading: "Define:" },
  "automation-profile": { summary: "Set how far plans may go without asking", heading: "Define:" },
  config: { summary: "Read and change the configuration", heading: "Define:" },
  run: { summary: "", heading: "Run:" },
  plan: { summary: "Make plans, watch and steer them", heading: "Run:" },
  gateway: { summary: "", heading: "Run:" },
  cleanup: { summary: "See and remove sandboxes that are no longer needed", heading: "Run:" },
  context: { summary: "See what a model would see of a code base, and why", heading: "Inspect:" },
  audit: { summary: "Read and verify the audit log", heading: "Inspect:" },
  info: { summary: "", heading: "Inspect:" },
  diagnostics: { summary: "", heading: "Inspect:" },
  version: { summary: "", heading: "Inspect:" },
  completion: { summary: "", heading: "Inspect:" },
};

/** Groups inside groups. */
export const SUBGROUPS: Readonly<Record<string, string>> = {
  "resource type": "Show the types of resources",
  "context breakers": "See which strategies are switched off, and switch them on",
  "project context": "Set what models see of a project, and look at it",
};
