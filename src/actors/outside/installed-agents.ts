/** Known agents as they are installed on this machine, and their programs, ready to be started. */
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { AGENT_NAMES, isAgentName, type AgentName } from "../../domain/names/agent-names.ts";
import { agentSetting } from "../../domain/settings/agent-settings.ts";
import { resolveSetting } from "../../domain/settings/settings.ts";
import { searchPath } from "../../platform/programs.ts";
import type { Environment } from "../../domain/values/environment.ts";
import { filledIn, type ProgramValues } from "./agent-program.ts";
import type { AgentProgram } from "./agent-port.ts";
import { installedProgram, nodeDirectory, type InstalledProgram } from "./installed-program.ts";
import { mergedParts, type Recipe, type RecipePart } from "./recipes/recipe.ts";
import { RECIPES } from "./recipes/recipes.ts";

/** The user's settings and variables. */
export interface AgentSources {
  readonly settings: ReadonlyMap<string, string>;
  readonly environment: Environment;
}

export interface InstalledAgent {
  readonly agent: AgentName;
  readonly recipe: Recipe;
  readonly program: InstalledProgram;
  /** The words of its program. */
  readonly words: readonly string[];
  /** The other program that it needs. */
  readonly needed: InstalledProgram | undefined;
}

/** Undefined for an agent of which something is missing. */
function installedAgent(agent: AgentName, sources: AgentSources): InstalledAgent | undefined {
  const recipe = RECIPES[agent];
  const { programs, needs } = recipe;
  const configured = agentSettingOf(agent, "command", sources);
  const [usual] = programs;
  const candidates = configured === undefined ? programs : [{ program: configured, words: usual?.words ?? [] }];
  for (const { program: word, words } of candidates) {
    const program = installedProgram(word, sources.environment);
    if (program === undefined) continue;
    const needed = needs === undefined ? undefined : neededProgram(needs.program, program, sources.environment);
    return needs !== undefined && needed === undefined ? undefined : { agent, recipe, program, words, needed };
  }
  return undefined;
}

export function installedAgents(sources: AgentSources): InstalledAgent[] {
  return AGENT_NAMES.flatMap((agent) => installedAgent(agent, sources) ?? []);
}

export function agentSettingOf(
  agent: AgentName,
  field: "command" | "model",
  { settings, environment }: AgentSources,
): string | undefined {
  const setting = agentSetting(agent, field);
  return resolveSetting(setting, { environment, global: settings, project: new Map() }).value;
}

/** On the PATH, or beside the program that needs it. */
function neededProgram(
  word: string,
  { path }: InstalledProgram,
  environment: Environment,
): InstalledProgram | undefined {
  const beside = path.slice(0, path.lastIndexOf("/") + 1) + word;
  return installedProgram(word, environment) ?? installedProgram(beside, environment);
}

export function requireAgent(actor: AcpActorDefinition, sources: AgentSources): InstalledAgent {
  const name = actor.program.agent ?? "";
  if (!isAgentName(name)) throw new Error(`The agent "${name}" is not known.`);
  const found = installedAgent(name, sources);
  if (found !== undefined) return found;
  const { packages, programs, needs } = RECIPES[name];
  const words = [
    ...programs.slice(0, 1).map(({ program }) => program),
    ...(needs === undefined ? [] : [needs.program]),
  ];
  throw new ConfigurationError(`The agent ${name} is not installed: ${words.join(" and ")} must be on the PATH.`, {
    kept: "Nothing was started.",
    next: [
      { text: `npm install -g ${packages.map((one) => one.name).join(" ")}` },
      nextStep("config.set", { key: `acp.${name}.command`, value: "<path>" }),
    ],
    detail: { agent: name },
  });
}

/** Its program, and the mode its session is to have. */
export function knownProgram(
  { recipe, program, words, needed }: InstalledAgent,
  actor: AcpActorDefinition,
  wish: { readonly asks: boolean; readonly values: ProgramValues; readonly environment: Environment },
): { readonly program: AgentProgram; readonly mode: string | undefined; readonly asks: boolean } {
  const { values } = wish;
  const part = mergedParts([
    recipe.base,
    wish.asks ? recipe.asks : recipe.trusts,
    ...(actor.subAgents ? [] : [recipe.alone]),
  ]);
  const other = needed === undefined ? {} : neededVariables(recipe, needed, wish.environment);
  return {
    program: {
      command: [...program.command, ...words, ...(part.words ?? []).map((word) => filledIn(word, values))],
      environment: { ...texts(part.environment, values), ...other },
      files: texts(part.files, values),
      readable: [...new Set([...program.readable, ...(needed?.readable ?? [])])],
    },
    ...modeOf(recipe, actor, wish.asks),
  };
}

/** In a mode of the user's choice an agent asks for what it likes. */
function modeOf(
  recipe: Recipe,
  { mode, askingMode }: AcpActorDefinition,
  asks: boolean,
): { readonly mode: string | undefined; readonly asks: boolean } {
  if (asks && askingMode !== undefined) return { mode: askingMode, asks: true };
  const own = (asks ? recipe.asks : recipe.trusts).mode;
  return { mode: mode ?? own, asks: asks && recipe.neverAsks !== true && (mode ?? own) === own };
}

/** A script finds our Node first, because the user's own may be too old for it. */
function neededVariables(recipe: Recipe, needed: InstalledProgram, environment: Environment): Record<string, string> {
  const { needs } = recipe;
  if (needs === undefined) return {};
  return { [needs.variable]: needed.path, PATH: `${nodeDirectory()}:${searchPath(environment["PATH"])}` };
}

function texts(given: RecipePart["files"] = {}, values: ProgramValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      filledIn(typeof value === "string" ? value : JSON.stringify(value), values),
    ]),
  );
}
