/** Everything that plans with outside agents need: the way to a model, the budget, and how such an agent is opened. */
import { agentModelOf } from "../../actors/outside/agent-model.ts";
import { outsideAgents } from "../../actors/outside/outside-agents.ts";
import { secretsToMask } from "../../actors/providers/providers.ts";
import { agentsAtOnce } from "../../domain/settings/agent-settings.ts";
import type { OutsideParts } from "../../runs/outside/outside-parts.ts";
import type { App } from "../base/app.ts";

export async function outsideParts(app: App): Promise<OutsideParts> {
  const models = await app.models();
  const sources = await app.agentSources();
  return {
    budget: (lease) => app.budget(lease),
    providers: models.providers,
    modelOf: (actor) => agentModelOf(actor, sources, models.providers),
    costOf: (model, usage) => models.costOf(model, usage),
    count: await app.countTokens(),
    known: secretsToMask(models.providers, app.environment),
    atOnce: agentsAtOnce((await app.setting("acp.at-once")).value) ?? 1,
    openAgent: outsideAgents(sources),
  };
}
