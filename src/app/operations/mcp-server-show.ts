import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { loginStore } from "../procedures/plan-mcp.ts";
import { McpServerFacts, mcpServerFacts } from "../queries/mcp-server-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ server: z.string(), project: z.string().optional() }),
  output: z.strictObject({ server: McpServerFacts, loggedIn: z.boolean().nullable() }),
  run: async (app, { server: name, project }) => {
    const server = await (await app.mcpServers()).getServer(name, project);
    const isHttp = server.transport.kind === "http";
    const loggedIn = isHttp ? loginStore(app.paths.dataDir, server).read()?.tokens !== undefined : null;
    return { server: mcpServerFacts(server), loggedIn };
  },
});
