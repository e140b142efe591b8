import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { LinkFacts, linkFacts } from "../queries/resource-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    project: z.string(),
    resource: z.string(),
    alias: z.string().optional(),
    readOnly: z.boolean().default(false),
  }),
  output: z.strictObject({ linked: z.literal(true), project: z.string(), resource: LinkFacts }),
  run: async (app, { project, resource, alias, readOnly }) => {
    const link = await (await app.resources()).linkResource(project, resource, { alias, readOnly });
    return { linked: true as const, project: link.project, resource: linkFacts(link) };
  },
});
