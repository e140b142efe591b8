import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { repositoryState, RepositoryState } from "../procedures/repository-servers.ts";
import { McpServerFacts, mcpServerFacts } from "../queries/mcp-server-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ directory: z.string(), project: z.string().optional() }),
  output: z.strictObject({
    servers: z.array(McpServerFacts),
    /** The servers that the `.mcp.json` of the directory defines; null without one. */
    repository: RepositoryState.nullable(),
    total: z.int(),
  }),
  run: async (app, { directory, project }) => {
    const service = await app.mcpServers();
    const wanted = project === undefined ? undefined : await service.scopeOf(project);
    const all = await service.listServers();
    const listed = all.filter(
      ({ scope }) =>
        wanted === undefined ||
        scope.kind === "user" ||
        (wanted.kind === "project" && scope.project.toLowerCase() === wanted.project.toLowerCase()),
    );
    return {
      servers: listed.map(mcpServerFacts),
      repository: repositoryState(app, directory) ?? null,
      total: listed.length,
    };
  },
});
