/** The names that a completion script offers, each with a few words about it. */
import type { CleverAgents } from "../../app/open.ts";
import { oneLine } from "../terminal/terminal-text.ts";
import type { ValueKind } from "./completion-table.ts";

const MOST = 100;

type Value = readonly [name: string, about: string];

/** Nothing where there is no data yet: a press of a key does not make a database. */
export async function completionValues(kind: ValueKind, agents: CleverAgents, directory: string): Promise<string> {
  if (kind !== "key" && !(await agents.hasStore())) return "";
  const values = await named(kind, agents, directory);
  return values.map(([name, about]) => `${name}\t${oneLine(about).replaceAll("\t", " ").slice(0, 80)}\n`).join("");
}

async function named(kind: ValueKind, agents: CleverAgents, directory: string): Promise<readonly Value[]> {
  switch (kind) {
    case "plan":
    case "plan-id": {
      const { plans } = await agents.run("plan.list", { directory, limit: MOST });
      return plans.map((plan) => [
        kind === "plan" ? String(plan.number) : plan.planId,
        `${plan.standing}: ${plan.request}`,
      ]);
    }
    case "actor":
      return (await agents.run("actor.list", {})).actors.map(({ name, description }) => [name, description]);
    case "action":
      return (await agents.run("action.list", {})).actions.map(({ name, state }) => [name, state]);
    case "project":
      return (await agents.run("project.list", {})).projects.map(({ name, description }) => [name, description ?? ""]);
    case "resource":
      return (await agents.run("resource.list", {})).resources.map(({ name, path }) => [name, path]);
    case "validation":
      return (await agents.run("validation.list", {})).validations.map(({ name }) => [name, ""]);
    case "profile":
      return (await agents.run("automation-profile.list", {})).profiles.map(({ name, description }) => [
        name,
        description,
      ]);
    case "tool":
      return (await agents.run("tool.list", { directory })).tools.map(({ name, description }) => [name, description]);
    case "skill":
      return (await agents.run("skill.list", { directory })).skills.map(({ name, description }) => [name, description]);
    case "session":
      return (await agents.run("session.list", { directory })).sessions.map(({ number, title }) => [
        String(number),
        title,
      ]);
    case "server":
      return (await agents.run("mcp.server.list", { directory })).servers.map(({ name }) => [name, ""]);
    case "key":
      return (await agents.run("config.list", {})).settings.map(({ key, description }) => [key, description]);
  }
}
