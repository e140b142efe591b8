import * as z from "zod";
import { removeServerCredentials } from "../../platform/settings/credentials.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { credentialKey, loginStore } from "../procedures/plan-mcp.ts";

export const operation = defineOperation({
  input: z.strictObject({ server: z.string(), project: z.string().optional() }),
  output: z.discriminatedUnion("removed", [
    z.strictObject({ removed: z.literal(true), server: z.string() }),
    z.strictObject({ removed: z.literal(false) }),
  ]),
  run: async (app, { server: name, project }, call) => {
    const service = await app.mcpServers();
    const server = await service.getServer(name, project);
    if (!(await confirmed(call, `Remove the MCP server ${server.name}, with its login and secrets?`)))
      return { removed: false as const };
    await service.removeServer(server);
    // Under its lock: a plan that renews it now would keep it for the next server of this name.
    await loginStore(app.paths.dataDir, server).forget();
    await removeServerCredentials(app.paths.dataDir, credentialKey(server));
    return { removed: true as const, server: server.name };
  },
});
