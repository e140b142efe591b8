import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { loginStore } from "../procedures/plan-mcp.ts";

export const operation = defineOperation({
  input: z.strictObject({ server: z.string(), project: z.string().optional() }),
  output: z.strictObject({ server: z.string(), wasLoggedIn: z.boolean() }),
  run: async (app, { server: name, project }) => {
    const server = await (await app.mcpServers()).getServer(name, project);
    return { server: server.name, wasLoggedIn: await loginStore(app.paths.dataDir, server).forget() };
  },
});
