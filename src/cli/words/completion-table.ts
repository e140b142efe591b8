/**
 * The offers of a shell at each place of a command line, from the table of commands: words, files, or names of things
 * that the program is asked for.
 */
import { OUTPUT_FORMATS } from "../../domain/settings/settings.ts";
import { ACTOR_ROLES } from "../../domain/names/actor-roles.ts";
import { RESOURCE_TYPE_NAMES } from "../../domain/resource/resource.ts";
import type { Parameter } from "../../app/base/operation.ts";
import { COMMANDS, GROUPS, optionWord, SUBGROUPS, type Command } from "./command-table.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** Kinds of names that the program lists for a completion script. */
export const VALUE_KINDS = [
  "plan",
  "plan-id",
  "actor",
  "action",
  "project",
  "resource",
  "validation",
  "profile",
  "tool",
  "skill",
  "session",
  "server",
  "key",
] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

/** `=a b` are words, `@plan` names of a kind; `none` is free text. */
type Offer = `=${string}` | `@${ValueKind}` | "files" | "directories" | "none";

export interface Offered {
  readonly word: string;
  readonly about: string;
}

/** Everything that can follow a command or a group. */
export interface CommandPlace {
  readonly path: string;
  readonly subcommands: readonly Offered[];
  readonly options: readonly Offered[];
  /** By the words of options that take a value. */
  readonly values: ReadonlyMap<string, Offer>;
  readonly positions: readonly { readonly offer: Offer; readonly many: boolean }[];
}

const KIND_OF: Readonly<Record<string, ValueKind>> = {
  plan: "plan",
  id: "plan",
  actor: "actor",
  strategyActor: "actor",
  executionActor: "actor",
  stepActors: "actor",
  judge: "actor",
  action: "action",
  project: "project",
  projects: "project",
  resource: "resource",
  resources: "resource",
  validation: "validation",
  profile: "profile",
  automationProfile: "profile",
  tool: "tool",
  denyTools: "tool",
  skill: "skill",
  session: "session",
  server: "server",
  key: "key",
};

const WORDS_OF: Readonly<Record<string, readonly string[]>> = {
  effort: ["off", "low", "medium", "high"],
  role: ACTOR_ROLES,
  type: RESOURCE_TYPE_NAMES,
  shell: SHELLS,
};

const GLOBAL_OPTIONS: readonly (Offered & { readonly offer?: Offer })[] = [
  { word: "--format", about: "how output looks", offer: `=${OUTPUT_FORMATS.join(" ")}` },
  { word: "-f", about: "how output looks", offer: `=${OUTPUT_FORMATS.join(" ")}` },
  { word: "--data-dir", about: "where everything is kept", offer: "directories" },
  { word: "--store", about: "a PostgreSQL database that machines share", offer: "none" },
  { word: "--config-path", about: "the configuration file", offer: "files" },
  { word: "--verbose", about: "say more; shows the cause of errors" },
  { word: "--help", about: "show help" },
];

/** The program itself, each group, and each command. */
export function places(): CommandPlace[] {
  const found = new Map<string, Offered[]>();
  for (const { path, summary, aliases = [] } of COMMANDS) {
    const words = path.split(" ");
    for (const depth of words.keys()) {
      const parent = words.slice(0, depth).join(" ");
      const own = words.slice(0, depth + 1).join(" ");
      const about = own === path ? summary : (GROUPS[own]?.summary ?? SUBGROUPS[own] ?? "");
      const before = found.get(parent) ?? [];
      const word = words[depth] ?? "";
      if (!before.some((one) => one.word === word)) before.push({ word, about });
      if (own === path) before.push(...aliases.map((alias) => ({ word: alias, about: summary })));
      found.set(parent, before);
    }
  }
  const groups = [...found].map(([path, subcommands]) => placeOf({ path, subcommands }));
  const commands = COMMANDS.flatMap((command) => {
    const parent = command.path.split(" ").slice(0, -1);
    const paths = [command.path, ...(command.aliases ?? []).map((alias) => [...parent, alias].join(" "))];
    return paths.map((path) => placeOf({ path, subcommands: found.get(path) ?? [], command }));
  });
  const named = new Set(commands.map(({ path }) => path));
  return [...groups.filter(({ path }) => !named.has(path)), ...commands];
}

function placeOf({
  path,
  subcommands,
  command,
}: {
  readonly path: string;
  readonly subcommands: readonly Offered[];
  readonly command?: Command;
}): CommandPlace {
  const parameters = command?.parameters.filter(({ kind }) => kind !== "here") ?? [];
  const options = [...parameters.filter(({ positional }) => positional !== true), ...(command?.ownOptions ?? [])];
  const values = new Map<string, Offer>();
  for (const { word, offer } of GLOBAL_OPTIONS) if (offer !== undefined) values.set(word, offer);
  for (const option of options) {
    if (option.kind === "flag") continue;
    values.set(`--${optionWord(option)}`, offerOf(option));
    if (option.short !== undefined) values.set(`-${option.short}`, offerOf(option));
  }
  const own = options.map((option) => ({ word: `--${optionWord(option)}`, about: option.about }));
  return {
    path,
    subcommands,
    options: [...own, ...GLOBAL_OPTIONS.filter(({ word }) => word.startsWith("--")), ...(path === "" ? VERSION : [])],
    values,
    positions: parameters
      .filter(({ positional }) => positional === true)
      .map((parameter) => ({ offer: offerOf(parameter), many: parameter.many === true })),
  };
}

const VERSION: readonly Offered[] = [{ word: "--version", about: "print the version" }];

function offerOf({ name, kind, value, choices }: Parameter): Offer {
  const words = choices ?? WORDS_OF[name];
  if (words !== undefined) return `=${words.join(" ")}`;
  if (kind === "path") return "directories";
  if (kind === "document" || value === "file") return "files";
  const named = KIND_OF[name];
  return named === undefined || (kind !== undefined && kind !== "text") ? "none" : `@${named}`;
}
