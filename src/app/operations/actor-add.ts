import * as z from "zod";
import { configuredProviders } from "../../actors/providers/providers.ts";
import { readActorFile } from "../../catalog/actor-file.ts";
import { actorWants, quotingProblems } from "../../domain/actor/actor-wants.ts";
import { parameterProblems } from "../../execution/tools/step-parameters.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { Document } from "../base/schemas.ts";
import { acceptDefinition } from "../procedures/accept-definition.ts";
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
    const endpoints = await configuredEndpoints(app);
    const { text, file } = source;
    const known = [...endpoints.values()];
    const { definitions, variables } = readActorFile(text, file, app.environment, known, parameterProblems);
    const wants = actorWants(definitions, variables, (name) => endpoints.get(name) ?? `the provider ${name}`);
    if (!(await acceptDefinition(app, { ...source, wants, allowEnv }, call))) return { added: false as const };
    const added = await (await app.actors()).addActors(definitions, { replace });
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

/** By the name of the provider. */
async function configuredEndpoints(app: App): Promise<ReadonlyMap<string, string>> {
  const providers = configuredProviders((await app.config()).global, app.environment);
  return new Map(providers.flatMap(({ name, baseUrl }) => (baseUrl === undefined ? [] : [[name, baseUrl] as const])));
}
