/** The settings of outside agents: how many run at once, and of those that are known by name `acp.<agent>.<field>`. */
import { AGENT_NAMES, type AgentName } from "../names/agent-names.ts";
import { lineProblem } from "../text/text.ts";
import type { Setting } from "./settings.ts";

export const AGENT_FIELDS = ["command", "model"] as const;
type Field = (typeof AGENT_FIELDS)[number];

const MOST_AT_ONCE = 64;

export const AGENT_SETTINGS: readonly Setting[] = [
  {
    key: "acp.at-once",
    env: "CLEVERAGENTS_ACP_AT_ONCE",
    default: "4",
    description: "How many agents of other makers a process runs at the same time; each takes 0.3 to 1.6 GB of memory",
    perProject: false,
    problem: (value) =>
      agentsAtOnce(value) === undefined ? `must be a whole number from 1 to ${MOST_AT_ONCE}` : undefined,
  },
  ...AGENT_NAMES.flatMap((agent) => AGENT_FIELDS.map((field) => agentSetting(agent, field))),
];

export function agentsAtOnce(value: string | undefined): number | undefined {
  const number = /^\d{1,3}$/.test(value ?? "") ? Number(value) : 0;
  return number >= 1 && number <= MOST_AT_ONCE ? number : undefined;
}

export function agentSetting(agent: AgentName, field: Field): Setting {
  return {
    key: `acp.${agent}.${field}`,
    env: `CLEVERAGENTS_ACP_${agent.toUpperCase()}_${field.toUpperCase()}`,
    default: undefined,
    description:
      field === "command"
        ? `The program of the agent ${agent}, by its absolute path (otherwise it is looked for on the PATH)`
        : `The model that the agent ${agent} works with, as provider/model`,
    perProject: false,
    problem: field === "command" ? commandProblem : modelProblem,
  };
}

function commandProblem(value: string): string | undefined {
  if (!value.startsWith("/")) return "must be the absolute path of a program";
  return lineProblem(value, 4_096);
}

function modelProblem(value: string): string | undefined {
  return /^[a-z][a-z0-9-]{0,39}\/\S{1,200}$/.test(value) ? undefined : "must be of the form provider/model";
}
