/**
 * The agents of other makers that are known by name. Each is an actor `acp/<name>` that needs no registration; the
 * namespace belongs to them.
 */
import { nameParts, type QualifiedName } from "./qualified-name.ts";

export const AGENT_NAMES = ["claude", "codex", "opencode", "gemini", "qwen", "pi", "copilot"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

const AGENT_NAMESPACE = "acp";

export function isAgentName(word: string): word is AgentName {
  return AGENT_NAMES.some((name) => name === word);
}

/** The known agent that a name like `acp/claude` stands for; undefined for every other name. */
export function agentNamed(name: string): AgentName | undefined {
  const word = name.toLowerCase();
  const prefix = `${AGENT_NAMESPACE}/`;
  const agent = word.startsWith(prefix) ? word.slice(prefix.length) : "";
  return isAgentName(agent) ? agent : undefined;
}

export function actorNameOf(agent: AgentName): QualifiedName {
  return `${AGENT_NAMESPACE}/${agent}` as QualifiedName;
}

/** Whether a name lies in the namespace of the known agents. */
export function isAgentsNamespace(name: QualifiedName): boolean {
  return nameParts(name).namespace.toLowerCase() === AGENT_NAMESPACE;
}
