import * as z from "zod";
import { offeredActors } from "../../actors/providers/built-in-actors.ts";
import { configuredProviders } from "../../actors/providers/providers.ts";
import type { ActorDefinition, LlmActorDefinition } from "../../domain/actor/actor.ts";
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
    const models = await offeredModels(app, namespace);
    const defaults = await defaultActors(app);
    const byRole = Object.fromEntries(ACTOR_ROLES.map((role) => [role, defaults[role] ?? null]));
    return {
      actors: [...models, ...actors].map((actor) => listed(actor, defaults)),
      defaults: byRole as z.output<typeof ActorsByRole>,
      filters: { namespace: namespace ?? null },
      summary: { total: models.length + actors.length, builtIn: models.length, custom: actors.length },
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

/** Never stored: the models that can be asked are those configured now. */
async function offeredModels(app: App, namespace: string | undefined): Promise<LlmActorDefinition[]> {
  const offered = offeredActors(configuredProviders((await app.config()).global, app.environment));
  return offered.filter(({ provider }) => namespace === undefined || provider === namespace.toLowerCase());
}
