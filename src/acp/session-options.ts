/**
 * The settings of an editor's session: how far its plans may go (its mode), who does the work (its model), and what a
 * plan may cost. They hold for the plans that are made from then on: a plan that exists keeps those it was made with.
 */
import type { SessionConfigOption, SessionConfigSelectOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { CleverAgents } from "../app/open.ts";
import { NotFoundError, UsageError } from "../domain/errors/errors.ts";
import { DEFAULT_PROFILE } from "../domain/profile/automation-profile.ts";
import { capProblem } from "../domain/settings/budget-settings.ts";

/** Undefined: as configured. */
export interface ChosenOptions {
  readonly profile: string | undefined;
  readonly actor: string | undefined;
  readonly budget: string | undefined;
}

const CONFIGURED = "configured";
const BUDGETS = ["0.50", "1.00", "2.00", "5.00", "10.00", "20.00", "none"];
/** An editor shows them in a menu. */
const MOST_ACTORS = 200;

export async function modesOf(agents: CleverAgents, { profile }: ChosenOptions): Promise<SessionModeState> {
  const { profiles } = await agents.run("automation-profile.list", {});
  const configured = (await agents.setting("core.automation-profile")).value ?? DEFAULT_PROFILE;
  return {
    currentModeId: profile ?? configured,
    availableModes: profiles.map(({ name, description }) => ({ id: name, name, description })),
  };
}

export async function configOptionsOf(agents: CleverAgents, chosen: ChosenOptions): Promise<SessionConfigOption[]> {
  const { currentModeId, availableModes } = await modesOf(agents, chosen);
  return [
    {
      type: "select",
      id: "profile",
      name: "Automation profile",
      description: "How far a plan may go without asking",
      category: "mode",
      currentValue: currentModeId,
      options: availableModes.map(({ id, name, description = null }) => ({ value: id, name, description })),
    },
    {
      type: "select",
      id: "actor",
      name: "Actor",
      description: "Who does the work",
      category: "model",
      currentValue: chosen.actor ?? CONFIGURED,
      options: await actorOptions(agents, chosen.actor),
    },
    {
      type: "select",
      id: "budget",
      name: "Budget",
      description: "Dollars that the models of one plan may cost",
      category: "_budget",
      currentValue: chosen.budget ?? CONFIGURED,
      options: withCurrent(BUDGETS, chosen.budget).map((value) => ({ value, name: budgetName(value) })),
    },
  ];
}

async function actorOptions(agents: CleverAgents, current: string | undefined): Promise<SessionConfigSelectOption[]> {
  const { actors, defaults } = await agents.run("actor.list", {});
  const names = actors.map(({ name }) => name).slice(0, MOST_ACTORS);
  const usual = defaults.execution === null ? "as configured" : `as configured (${defaults.execution})`;
  return withCurrent(names, current).map((value) => ({ value, name: value === CONFIGURED ? usual : value }));
}

function withCurrent(values: readonly string[], current: string | undefined): string[] {
  return [...new Set([CONFIGURED, ...(current === undefined ? [] : [current]), ...values])];
}

function budgetName(value: string): string {
  if (value === CONFIGURED) return "as configured";
  return value === "none" ? "no limit" : `$${value}`;
}

/** The options with this one chosen; a value that could not be used is an error before anything is done with it. */
export async function withOption(
  agents: CleverAgents,
  chosen: ChosenOptions,
  id: string,
  value: string,
): Promise<ChosenOptions> {
  const given = value === CONFIGURED ? undefined : value;
  switch (id) {
    case "profile":
      return { ...chosen, profile: given === undefined ? undefined : await knownProfile(agents, given) };
    case "actor":
      if (given !== undefined) await agents.run("actor.show", { actor: given });
      return { ...chosen, actor: given };
    case "budget":
      return { ...chosen, budget: given === undefined ? undefined : knownBudget(given) };
    default:
      throw new NotFoundError("option", id);
  }
}

async function knownProfile(agents: CleverAgents, name: string): Promise<string> {
  return (await agents.run("automation-profile.show", { profile: name })).profile.name;
}

export function knownBudget(text: string): string {
  const problem = capProblem(text);
  if (problem === undefined) return text;
  throw new UsageError(`A budget ${problem}, not "${text}".`, { kept: "Nothing was changed." });
}
