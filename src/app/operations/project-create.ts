import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ProjectFacts, projectFacts } from "../queries/project-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({
    project: z.string(),
    description: z.string().optional(),
    resources: z.array(z.string()).default([]),
  }),
  output: z.strictObject({ project: ProjectFacts }),
  run: async (app, { project: name, description, resources }) => {
    const project = await (await app.projects()).createProject({ name, description, resources });
    return { project: projectFacts(project) };
  },
});
