/** The JSON Schema of a file of MCP servers. Other keys are named when the file is read, and ignored. */
import type { JsonObject } from "../values/json.ts";

const text = { type: "string" };
const texts = { type: "array", items: text };
const record = { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };

const server = {
  type: "object",
  properties: {
    type: {
      description: "stdio or http; told from url unless given.",
      enum: ["stdio", "http", "streamable-http", "streamableHttp"],
    },
    command: { ...text, description: "The program that is started." },
    args: { ...texts, description: "Its arguments." },
    env: { ...record, description: "Its variables; ${NAME} takes one from your environment." },
    cwd: { ...text, description: "Its directory." },
    pass: { ...texts, description: "Variables of your environment that it gets under their own names." },
    url: { ...text, description: "The address of a server that is reached by streamable HTTP." },
    headers: { ...record, description: "Headers of each request; ${NAME} takes a variable from your environment." },
    works_in: { description: "sandbox: it works on the files of a plan.", enum: ["outside", "sandbox"] },
    confined: { type: "boolean", description: "It runs confined, like the commands of a plan." },
    tools: { ...texts, description: "Patterns of the tools that are offered; all unless given." },
    read_only_tools: { ...texts, description: "Patterns of the tools that change nothing." },
    timeout: { type: "number", description: "Seconds that one call may take." },
    envFile: { not: {} },
  },
};

export function serversForm(): JsonObject {
  const servers = { type: "object", additionalProperties: server };
  return {
    type: "object",
    properties: { mcpServers: servers, servers: { ...servers, deprecated: true } },
    anyOf: [{ required: ["mcpServers"] }, { required: ["servers"] }],
  };
}
