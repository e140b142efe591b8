/** Logs in at an MCP server by OAuth, and keeps the tokens with the API keys. */
import * as z from "zod";
import { loginAt } from "../../actors/mcp/server-login.ts";
import { serverFetch } from "../../actors/mcp/server-fetch.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { credentialsFile } from "../../platform/settings/credentials.ts";
import { filledTransport } from "../../runs/mcp/plan-server.ts";
import type { App } from "../base/app.ts";
import { defineOperation } from "../base/operation.ts";
import { addedServer, loginStore } from "../procedures/plan-mcp.ts";

export const operation = defineOperation({
  input: z.strictObject({
    server: z.string(),
    project: z.string().optional(),
    clientId: z.string().min(1).optional(),
    clientSecretEnv: z.string().min(1).optional(),
    port: z.int().min(1).max(65_535).optional(),
  }),
  output: z.strictObject({ server: z.string(), path: z.string() }),
  run: async (app, { server: name, project, clientId, clientSecretEnv, port }, call) => {
    const server = addedServer(app, await (await app.mcpServers()).getServer(name, project));
    const filled = filledTransport(server, app.environment);
    if (filled.kind !== "http") {
      throw new UsageError(`The MCP server "${name}" is a program on this machine; it has no login here.`, {
        kept: "Nothing was sent.",
        next: [nextStep("mcp.server.show", { server: name })],
      });
    }
    const secret = clientSecret(app, clientId, clientSecretEnv);
    const { dataDir } = app.paths;
    await loginAt({
      url: filled.url,
      fetch: await serverFetch(filled.url),
      store: loginStore(dataDir, server.definition),
      open: (url) => call.tell({ type: "notice", level: "info", text: `Open ${url.href}` }),
      signal: call.signal,
      client: clientId === undefined ? undefined : { id: clientId, secret },
      port,
    });
    return { server: server.definition.name, path: credentialsFile(dataDir) };
  },
});

/** A secret is named, not given: what stands on a command line is seen by others on the machine. */
function clientSecret(app: App, clientId: string | undefined, variable: string | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const value = app.environment[variable] ?? "";
  const problem =
    clientId === undefined
      ? "A client secret belongs to a client: give its --client-id too."
      : value === ""
        ? `Your environment has no ${variable} with the client secret.`
        : undefined;
  if (problem !== undefined) throw new UsageError(problem, { kept: "Nothing was sent." });
  return value;
}
