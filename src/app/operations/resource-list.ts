import * as z from "zod";
import { RESOURCE_TYPE_NAMES } from "../../domain/resource/resource.ts";
import { defineOperation } from "../base/operation.ts";
import { ResourceFacts, resourceFacts } from "../queries/resource-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ type: z.enum(RESOURCE_TYPE_NAMES).optional(), namespace: z.string().optional() }),
  output: z.strictObject({
    resources: z.array(ResourceFacts),
    filters: z.strictObject({ type: z.string().nullable(), namespace: z.string().nullable() }),
    summary: z.strictObject({ total: z.int(), byType: z.record(z.string(), z.int()) }),
  }),
  run: async (app, { type, namespace }) => {
    const resources = await (await app.resources()).listResources({ type, namespace });
    const ofType = (name: string): number => resources.filter((resource) => resource.type === name).length;
    return {
      resources: resources.map(resourceFacts),
      filters: { type: type ?? null, namespace: namespace ?? null },
      summary: {
        total: resources.length,
        byType: Object.fromEntries(RESOURCE_TYPE_NAMES.map((name) => [name, ofType(name)])),
      },
    };
  },
});
