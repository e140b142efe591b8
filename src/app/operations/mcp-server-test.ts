/** Starts or reaches a server and asks it about itself. A server that does not work is an error, for the exit code. */
import type { Prompt } from "@modelcontextprotocol/client";
import * as z from "zod";
import { oneLine } from "../../actors/mcp/server-text.ts";
import { defineOperation } from "../base/operation.ts";
import { addedServer, singleServer } from "../procedures/plan-mcp.ts";

function promptFacts({ name, description = "", arguments: all = [] }: Prompt) {
  return {
    name: oneLine(name, 128),
    description: oneLine(description, 200),
    arguments: all.map(({ name: argument, required = false }) => ({ name: oneLine(argument, 128), required })),
  };
}

export const operation = defineOperation({
  input: z.strictObject({ server: z.string(), project: z.string().optional(), directory: z.string() }),
  output: z.strictObject({
    server: z.string(),
    name: z.string(),
    version: z.string(),
    protocol: z.string(),
    tools: z.array(z.strictObject({ name: z.string(), description: z.string() })),
    resources: z.int(),
    prompts: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        arguments: z.array(z.strictObject({ name: z.string(), required: z.boolean() })),
      }),
    ),
    startMs: z.int(),
    listMs: z.int(),
  }),
  run: async (app, { server: name, project, directory }, call) => {
    await app.commandPolicy();
    const server = addedServer(app, await (await app.mcpServers()).getServer(name, project));
    await using servers = singleServer(app, server, directory, call.signal);
    call.tell({ type: "progress", doing: `asking the MCP server ${name}` });
    const began = performance.now();
    return await servers.listing(server, async (connection, signal) => {
      const startMs = Math.round(performance.now() - began);
      const { tools } = await connection.tools(signal);
      const { facts } = connection;
      return {
        server: server.definition.name,
        name: facts.name,
        version: facts.version,
        protocol: facts.protocol,
        tools: tools.map((tool) => ({ name: oneLine(tool.name, 128), description: oneLine(tool.description, 200) })),
        resources: (await connection.resources(signal)).length,
        prompts: (await connection.prompts(signal)).map(promptFacts),
        startMs,
        listMs: Math.round(performance.now() - began) - startMs,
      };
    });
  },
});
