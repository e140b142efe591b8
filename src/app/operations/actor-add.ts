import * as z from "zod";
import { quotingProblems } from "../../domain/actor/actor-wants.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { addActors } from "../procedures/add-definition.ts";
import { actorAccess, ActorAccess, ActorFacts, actorFacts, ActorParts, actorParts } from "../queries/actor-facts.ts";
import { toolWrites } from "../queries/tool-writes.ts";

const Added = ActorParts.omit({ waves: true }).extend({
  actorAdded: ActorFacts,
  actorsAdded: z.array(z.string()),
  /** All actors of the file. */
  actors: z.array(z.strictObject({ ...ActorFacts.shape, ...ActorParts.shape, access: ActorAccess })),
  wants: z.strictObject({
    commands: z.array(z.string()).readonly(),
    endpoints: z.array(z.string()).readonly(),
    variables: z.array(z.strictObject({ name: z.string(), endpoint: z.string() })).readonly(),
    unsafe: z.array(z.string()).readonly(),
  }),
});

export const operation = defineOperation({
  input: z.strictObject({
    definition: Document,
    allowEnv: z.array(z.string()).default([]),
    replace: z.boolean().default(false),
  }),
  output: z.union([Added, z.strictObject({ added: z.literal(false) })]),
  run: async (app, { definition: source, allowEnv, replace }, call) => {
    const result = await addActors(app, { ...source, allowEnv }, { replace }, call);
    if (result === undefined) return { added: false as const };
    const { added, definitions, wants } = result;
    const [first] = added;
    if (first === undefined) throw new Error("The file has no actor.");
    for (const problem of definitions.flatMap(quotingProblems)) {
      call.tell({ type: "notice", level: "warning", text: problem });
    }
    const { waves: _, ...parts } = actorParts(first);
    return {
      ...parts,
      actorAdded: actorFacts(first),
      actorsAdded: added.map(({ name }) => name),
      actors: added.map((actor) => ({
        ...actorFacts(actor),
        ...actorParts(actor),
        access: actorAccess(actor, toolWrites),
      })),
      wants,
    };
  },
});
