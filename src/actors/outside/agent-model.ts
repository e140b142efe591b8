/**
 * The model of ours to which the gateway sends an agent's questions. The provider must speak the dialect in which the
 * agent asks: nothing is translated.
 */
import type { AcpActorDefinition, AgentDialect } from "../../domain/actor/acp-actor.ts";
import { agentEndpoint } from "../../domain/actor/known-agents.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { isAgentName } from "../../domain/names/agent-names.ts";
import { SPOKEN_BY, USUAL_PROVIDER, type Dialect } from "../gateway/dialects.ts";
import type { ModelRef } from "../models/model.ts";
import { parseModelRef, requireProvider, type Provider } from "../providers/providers.ts";
import { agentSettingOf, type AgentSources } from "./installed-agents.ts";

const GATEWAY_DIALECT: Readonly<Record<AgentDialect, Dialect>> = {
  anthropic: "anthropic",
  "openai-chat": "chat",
  "openai-responses": "responses",
  gemini: "gemini",
};

/**
 * The model that the actor names, else the one that is configured for its agent, else the first one of the provider
 * that its dialect usually means.
 */
export function agentModelOf(
  actor: AcpActorDefinition,
  sources: AgentSources,
  providers: readonly Provider[],
): ModelRef {
  const endpoint = agentEndpoint(actor);
  const named = namedModel(actor, sources);
  if (named === undefined) return usualModel(actor, endpoint, providers);
  const provider = requireProvider(providers, named);
  if (endpoint !== "providers") requireDialect(actor, provider, endpoint);
  return named;
}

function namedModel({ program, provider, model }: AcpActorDefinition, sources: AgentSources): ModelRef | undefined {
  if (provider !== undefined && model !== undefined) return { provider, model };
  const agent = program.agent ?? "";
  const configured = isAgentName(agent) ? agentSettingOf(agent, "model", sources) : undefined;
  return configured === undefined ? undefined : parseModelRef(configured);
}

function usualModel(
  actor: AcpActorDefinition,
  endpoint: AgentDialect | "providers",
  providers: readonly Provider[],
): ModelRef {
  const usual = endpoint === "providers" ? undefined : USUAL_PROVIDER[GATEWAY_DIALECT[endpoint]];
  const provider = providers.find(({ name }) => name === usual);
  const [model] = provider?.models ?? [];
  if (provider !== undefined && model !== undefined) return { provider: provider.name, model };
  const { agent } = actor.program;
  throw new ConfigurationError(`It is not known which model ${actor.name} is to work with.`, {
    kept: "Nothing was started.",
    next: [
      ...(agent === undefined
        ? [nextStep("actor.show", { actor: actor.name })]
        : [nextStep("config.set", { key: `acp.${agent}.model`, value: `${usual ?? "<provider>"}/<model>` })]),
      nextStep("models.list"),
    ],
    detail: { actor: actor.name, endpoint },
  });
}

function requireDialect(actor: AcpActorDefinition, provider: Provider, endpoint: AgentDialect): void {
  const spoken = SPOKEN_BY[GATEWAY_DIALECT[endpoint]];
  if (provider.baseUrl !== undefined && spoken.includes(provider.type)) return;
  throw new ConfigurationError(
    `${actor.name} asks its model by ${endpoint}, and ${provider.name} is a provider of the type ${provider.type}, which does not speak it.`,
    {
      kept: "Nothing was started.",
      next: [nextStep("models.list")],
      detail: { actor: actor.name, endpoint, provider: provider.name },
    },
  );
}
