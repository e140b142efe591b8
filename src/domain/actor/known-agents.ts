/** The agents that are known by name: who makes them, and how they ask their models. */
import type { AcpActorDefinition, AgentDialect } from "./acp-actor.ts";
import { actorNameOf, isAgentName, type AgentName } from "../names/agent-names.ts";

interface KnownAgent {
  readonly title: string;
  readonly dialect: AgentDialect;
}

const KNOWN_AGENTS: Readonly<Record<AgentName, KnownAgent>> = {
  claude: { title: "Claude Code", dialect: "anthropic" },
  codex: { title: "Codex", dialect: "openai-responses" },
  opencode: { title: "opencode", dialect: "openai-chat" },
  gemini: { title: "Gemini CLI", dialect: "gemini" },
  qwen: { title: "Qwen Code", dialect: "openai-chat" },
  pi: { title: "pi", dialect: "openai-chat" },
  copilot: { title: "GitHub Copilot CLI", dialect: "openai-chat" },
};

/** The dialect of the agent's questions; "providers" is settled with the agent itself. */
export function agentEndpoint({ program }: AcpActorDefinition): AgentDialect | "providers" {
  if (program.agent === undefined) return program.endpoint;
  if (isAgentName(program.agent)) return KNOWN_AGENTS[program.agent].dialect;
  throw new Error(`The agent "${program.agent}" is not known.`);
}

/** A known agent as an actor: nothing of its own to say, no tools of ours, its usual model. */
export function knownAgentActor(agent: AgentName): AcpActorDefinition {
  return {
    name: actorNameOf(agent),
    type: "acp",
    description: `${KNOWN_AGENTS[agent].title}, as it is installed here`,
    program: { agent },
    provider: undefined,
    model: undefined,
    systemPrompt: "",
    options: {},
    protocol: 1,
    mode: undefined,
    askingMode: undefined,
    tools: undefined,
    subAgents: false,
    limits: DEFAULT_AGENT_LIMITS,
    contextView: undefined,
    unsafe: false,
  };
}

export const DEFAULT_AGENT_LIMITS: AcpActorDefinition["limits"] = { rounds: 60, minutes: 30 };
