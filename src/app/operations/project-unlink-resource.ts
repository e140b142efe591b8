import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { LinkFacts, linkFacts } from "../queries/resource-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ project: z.string(), alias: z.string() }),
  output: z.strictObject({ unlinked: z.literal(true), project: z.string(), resource: LinkFacts }),
  run: async (app, { project, alias }) => {
    const link = await (await app.resources()).unlinkResource(project, alias);
    return { unlinked: true as const, project: link.project, resource: linkFacts(link) };
  },
});
