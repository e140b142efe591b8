import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ProjectFacts, projectFacts } from "../queries/project-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ namespace: z.string().optional() }),
  output: z.strictObject({
    projects: z.array(ProjectFacts),
    filters: z.strictObject({ namespace: z.string().nullable() }),
    summary: z.strictObject({ total: z.int() }),
  }),
  run: async (app, { namespace }) => {
    const projects = await (await app.projects()).listProjects(namespace);
    return {
      projects: projects.map(projectFacts),
      filters: { namespace: namespace ?? null },
      summary: { total: projects.length },
    };
  },
});
