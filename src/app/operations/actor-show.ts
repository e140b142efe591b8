import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ActorAccess, actorAccess, ActorFacts, actorFacts, ActorParts, actorParts } from "../queries/actor-facts.ts";
import { toolWrites } from "../queries/tool-writes.ts";

export const operation = defineOperation({
  input: z.strictObject({ actor: z.string() }),
  output: ActorParts.extend({
    actorDetails: ActorFacts,
    access: ActorAccess,
    usage: z.strictObject({
      referencedByActions: z.array(z.string()).readonly(),
      referencedByGraphs: z.array(z.string()).readonly(),
    }),
  }),
  run: async (app, { actor: named }) => {
    const found = await app.actorNamed(named);
    // A model of a provider is not registered.
    const registered = "version" in found ? await (await app.actors()).getActor(found.name) : undefined;
    const actor = registered ?? found;
    return {
      actorDetails: actorFacts(actor),
      ...actorParts(actor),
      access: actorAccess(actor, toolWrites),
      usage: { referencedByActions: registered?.usedBy ?? [], referencedByGraphs: registered?.neededBy ?? [] },
    };
  },
});
