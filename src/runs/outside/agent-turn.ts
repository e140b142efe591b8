/** One turn of an outside agent: a new process of it, one prompt, and everything it does until it ends. */
import type {
  AgentGateway,
  AgentListener,
  OfferedToolServer,
  OutsideAgent,
  TurnEnd,
} from "../../actors/outside/agent-port.ts";
import type { ModelRef } from "../../actors/models/model.ts";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import { StuckError } from "../../domain/errors/errors.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { Tell } from "../../domain/run-event.ts";
import { TOOLS_PATH } from "../../actors/gateway/gateway-server.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { AgentPlace } from "./agent-place.ts";
import type { AgentRounds } from "./agent-rounds.ts";
import type { OutsideParts } from "./outside-parts.ts";

export interface AgentTurn {
  readonly actor: AcpActorDefinition;
  readonly plan: Plan;
  readonly step: string;
  readonly prompt: string;
  readonly place: AgentPlace;
  readonly outside: OutsideParts;
  /** The profile has guards that must be asked. */
  readonly asks: boolean;
  readonly rounds: AgentRounds;
  readonly offered: OfferedTools;
  readonly permission: AgentListener["permission"];
  readonly minutes: number;
  /** Aborted when the plan is stopped, or the turn is ended from here. */
  readonly signal: AbortSignal;
  readonly tell: Tell;
  readonly opened: (agent: OutsideAgent) => void;
}

export async function runTurn(turn: AgentTurn): Promise<TurnEnd> {
  const { actor, plan, prompt, place, outside, asks, rounds, offered, minutes, step, signal } = turn;
  const model = outside.modelOf(actor);
  await using gateway = await place.gateway({
    providers: outside.providers,
    count: outside.count,
    known: outside.known,
    port: rounds,
    tools: offered.servedTo(rounds),
    model,
    maxOutputTokens: actor.options.maxOutputTokens,
    network: plan.profile.network === "on",
    onFailure: (error) => rounds.fail(error instanceof Error ? error : new Error(String(error))),
  });
  const timer = setTimeout(() => rounds.fail(tooLongError(step, minutes)), minutes * 60_000);
  try {
    await using agent = await outside.openAgent({
      actor,
      gateway: gatewayFor(gateway, model),
      start: (program) => place.start(program),
      home: place.home,
      cwd: place.cwd,
      directories: place.directories,
      asks,
      toolServers: offered.servers.map((name) => serverAt(gateway, name)),
      listener: listenerOf(turn),
      signal,
    });
    turn.opened(agent);
    return await agent.turn(prompt, signal);
  } finally {
    clearTimeout(timer);
    // All that it started ends with it.
    await place.end();
  }
}

/** Only what is confined with the agent reaches it, and only with the token of the run. */
function serverAt({ url, token }: Pick<AgentGateway, "url" | "token">, name: string): OfferedToolServer {
  return { name, url: `${url}${TOOLS_PATH}${name}`, headers: { Authorization: `Bearer ${token}` } };
}

function gatewayFor({ url, token }: Pick<AgentGateway, "url" | "token">, { model }: ModelRef): AgentGateway {
  return { url, token, model };
}

/** News for a person who watches. */
function listenerOf({ step, tell, permission }: AgentTurn): AgentListener {
  const begun = new Map<string, { readonly tool: string; readonly target: string; readonly at: number }>();
  return {
    text: (text) => tell({ type: "text", step, text }),
    thought: () => undefined,
    tool: ({ id, title, kind, status }) => {
      const known = begun.get(id);
      const about = known ?? { tool: kind, target: title, at: performance.now() };
      if (known === undefined) {
        begun.set(id, about);
        tell({ type: "tool_started", step, key: id, tool: about.tool, target: about.target });
      }
      if (status !== "completed" && status !== "failed") return;
      begun.delete(id);
      const durationMs = performance.now() - about.at;
      const error = status === "failed" ? { error: title } : {};
      tell({ type: "tool_ended", step, key: id, tool: about.tool, target: about.target, durationMs, ...error });
    },
    plan: (items) => tell({ type: "checklist", step, items }),
    permission,
  };
}

function tooLongError(step: string, minutes: number): StuckError {
  return new StuckError(`The agent worked on the step "${step}" for ${minutes} minutes, which is its limit.`, {
    kept: "Everything that is recorded stays.",
    detail: { step, minutes },
  });
}
