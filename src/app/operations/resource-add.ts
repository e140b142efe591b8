import * as z from "zod";
import { RESOURCE_TYPES, type ResourceTypeArgument } from "../../domain/resource/resource.ts";
import { defineOperation } from "../base/operation.ts";
import { ResourceFacts, resourceFacts } from "../queries/resource-facts.ts";

/** The arguments of all types; those that are not of the type at hand are refused with the reason. */
const TypeArguments = Object.fromEntries(
  RESOURCE_TYPES.flatMap((type) => type.arguments.map(({ name }) => [name, z.string().optional()] as const)),
) as Record<ResourceTypeArgument["name"], z.ZodOptional<z.ZodString>>;

export const operation = defineOperation({
  input: z.strictObject({
    type: z.string(),
    resource: z.string(),
    ...TypeArguments,
    description: z.string().optional(),
  }),
  output: z.strictObject({ resource: ResourceFacts }),
  run: async (app, { type, resource: name, description, ...given }) => {
    const resource = await (await app.resources()).addResource({ type, name, description, arguments: given });
    return { resource: resourceFacts(resource) };
  },
});
