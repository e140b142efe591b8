/** Starts the outside agent of an actor: a known one by its recipe, another one by its command. */
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import { ACP_LIMITS, openAcpAgent, type AcpLimits, type AcpStart } from "./acp-agent.ts";
import { ownProgram } from "./agent-program.ts";
import type { OpenAgent } from "./agent-port.ts";
import { openRunAgent } from "./run-agent.ts";
import { knownProgram, requireAgent, type AgentSources } from "./installed-agents.ts";

export function outsideAgents(sources: AgentSources, limits: AcpLimits = ACP_LIMITS): OpenAgent {
  return async (surroundings) => {
    const { actor, gateway, home, asks, start } = surroundings;
    const values = { ...gateway, home };
    const { environment } = sources;
    if (actor.program.agent === undefined && actor.program.speaks === "run")
      return openRunAgent(surroundings, actor.program, environment);
    const opened =
      actor.program.agent === undefined
        ? { program: ownProgram(actor, actor.program, values, environment), ...ownMode(actor, asks) }
        : knownProgram(requireAgent(actor, sources), actor, { asks, values, environment });
    return openAcpAgent(surroundings, { ...opened, pipes: await start(opened.program), limits });
  };
}

function ownMode({ mode, askingMode }: AcpActorDefinition, asks: boolean): Pick<AcpStart, "mode" | "asks"> {
  return asks && askingMode !== undefined ? { mode: askingMode, asks: true } : { mode, asks: false };
}
