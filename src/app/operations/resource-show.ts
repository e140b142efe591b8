import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ResourceFacts, resourceFacts } from "../queries/resource-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ resource: z.string() }),
  output: z.strictObject({ resource: ResourceFacts }),
  run: async (app, { resource }) => ({
    resource: resourceFacts(await (await app.resources()).getResource(resource)),
  }),
});
