import * as z from "zod";
import { offeredActors } from "../../actors/providers/built-in-actors.ts";
import { configuredProviders } from "../../actors/providers/providers.ts";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { ActorDefinition, LlmActorDefinition } from "../../domain/actor/actor.ts";
import { knownAgentActor } from "../../domain/actor/known-agents.ts";
import { nameParts } from "../../domain/names/qualified-name.ts";
import { ACTOR_ROLES, type ActorRole } from "../../domain/names/actor-roles.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { defaultActors } from "../procedures/plan-defaults.ts";
import { ActorFacts, actorFacts } from "../queries/actor-facts.ts";
import { ActorsByRole } from "../queries/plan-facts.ts";

const ListedActor = ActorFacts.extend({
  /** How many. */
  steps: z.int().optional(),
  nodes: z.int().optional(),
  defaultFor: z.array(z.enum(ACTOR_ROLES)),
});

export const operation = defineOperation({
  input: z.strictObject({ namespace: z.string().optional() }),
  output: z.strictObject({
    actors: z.array(ListedActor),
    defaults: ActorsByRole,
    filters: z.strictObject({ namespace: z.string().nullable() }),
    summary: z.strictObject({ total: z.int(), builtIn: z.int(), custom: z.int() }),
  }),
  run: async (app, { namespace }) => {
    const actors = await (await app.actors()).listActors(namespace);
    const builtIn = [...(await offeredModels(app, namespace)), ...(await offeredAgents(app, namespace))];
    const defaults = await defaultActors(app);
    const byRole = Object.fromEntries(ACTOR_ROLES.map((role) => [role, defaults[role] ?? null]));
    return {
      actors: [...builtIn, ...actors].map((actor) => listed(actor, defaults)),
      defaults: byRole as z.output<typeof ActorsByRole>,
      filters: { namespace: namespace ?? null },
      summary: { total: builtIn.length + actors.length, builtIn: builtIn.length, custom: actors.length },
    };
  },
});

function listed(
  actor: ActorDefinition,
  defaults: Partial<Record<ActorRole, string | undefined>>,
): z.output<typeof ListedActor> {
  return {
    ...actorFacts(actor),
    ...(actor.type === "tool" ? { steps: actor.steps.length } : {}),
    ...(actor.type === "graph" ? { nodes: actor.route.nodes.length } : {}),
    defaultFor: ACTOR_ROLES.filter((role) => defaults[role]?.toLowerCase() === actor.name.toLowerCase()),
  };
}

/** Never stored either: the agents that are installed now. */
async function offeredAgents(app: App, namespace: string | undefined): Promise<AcpActorDefinition[]> {
  const { installedAgents } = await import("../../actors/outside/installed-agents.ts");
  const actors = installedAgents(await app.agentSources()).map(({ agent }) => knownAgentActor(agent));
  return actors.filter(({ name }) => namespace === undefined || nameParts(name).namespace === namespace.toLowerCase());
}

/** Never stored: the models that can be asked are those configured now. */
async function offeredModels(app: App, namespace: string | undefined): Promise<LlmActorDefinition[]> {
  const offered = offeredActors(configuredProviders((await app.config()).global, app.environment));
  return offered.filter(({ provider }) => namespace === undefined || provider === namespace.toLowerCase());
}
