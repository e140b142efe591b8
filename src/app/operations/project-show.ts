import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { ProjectFacts, projectFacts } from "../queries/project-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ project: z.string() }),
  output: z.strictObject({ project: ProjectFacts }),
  run: async (app, { project }) => ({ project: projectFacts(await (await app.projects()).getProject(project)) }),
});
