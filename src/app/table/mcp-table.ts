/** Servers of the Model Context Protocol, whose tools plans use. */
import type { Parameter, TableEntry } from "../base/operation.ts";

const SERVER: Parameter = { name: "server", about: "the server's name", positional: true, required: true };
const PROJECT: Parameter = { name: "project", about: "the server of this project", value: "name" };
const HERE: Parameter = { name: "directory", about: "the directory of the command", kind: "here" };

export const MCP_TABLE = {
  "mcp.server.add": {
    summary: "Add an MCP server: its command after --, or its url, or a file with mcpServers",
    role: "admin",
    writes: true,
    asks: true,
    parameters: [
      { name: "server", about: "the name that its tools get: mcp__NAME__tool", positional: true },
      { name: "command", about: "the program and its words, after --", kind: "command", positional: true },
      {
        name: "definition",
        about: 'JSON with "mcpServers", as other programs use it ("-" reads standard input)',
        value: "file",
        kind: "document",
        word: "file",
      },
      { name: "project", about: "only for plans of this project", value: "name" },
      { name: "url", about: "the address of a server with streamable HTTP", value: "url" },
      {
        name: "env",
        about: "a variable of the program; ${NAME} in it is filled in from your environment",
        value: "name=value",
        kind: "pairs",
      },
      { name: "pass", about: "a variable of your environment that the program gets", value: "name", many: true },
      { name: "cwd", about: "where the program starts", value: "path", kind: "path" },
      {
        name: "headers",
        about: "a header of each request; ${NAME} in it is filled in from your environment",
        value: "name=value",
        kind: "pairs",
        word: "header",
      },
      {
        name: "worksIn",
        about: "sandbox: the program works on the files of the plan, and its changes are recorded",
        value: "place",
        choices: ["outside", "sandbox"],
      },
      { name: "confined", about: "run the program confined, like the commands of plans", kind: "flag" },
      { name: "only", about: "offer only these tools (* for any characters)", value: "tool", many: true },
      { name: "readOnly", about: "these tools change nothing (* for all)", value: "tool", many: true },
      { name: "timeout", about: "the longest that a call may take", value: "seconds", kind: "number" },
    ],
    example: { server: "memory", command: ["npx", "-y", "@modelcontextprotocol/server-memory"] },
    load: () => import("../operations/mcp-server-add.ts"),
  },
  "mcp.server.list": {
    summary: "List MCP servers, and those that the repository here brings along",
    role: "reader",
    writes: false,
    parameters: [{ name: "project", about: "only those that plans of this project have", value: "name" }, HERE],
    example: {},
    load: () => import("../operations/mcp-server-list.ts"),
  },
  "mcp.server.show": {
    summary: "Show how an MCP server is started or reached, without its secrets",
    role: "reader",
    writes: false,
    parameters: [SERVER, PROJECT],
    example: { server: "memory" },
    load: () => import("../operations/mcp-server-show.ts"),
  },
  "mcp.server.test": {
    summary: "Start an MCP server and list its tools; the exit code tells whether it works",
    role: "operator",
    writes: false,
    parameters: [SERVER, PROJECT, HERE],
    example: { server: "memory" },
    load: () => import("../operations/mcp-server-test.ts"),
  },
  "mcp.server.remove": {
    summary: "Remove an MCP server with its login and secrets",
    role: "admin",
    writes: true,
    asks: true,
    parameters: [SERVER, PROJECT],
    example: { server: "memory" },
    load: () => import("../operations/mcp-server-remove.ts"),
  },
  "mcp.server.accept": {
    summary: "Accept the MCP servers of a repository's .mcp.json, as it is now, for its plans",
    role: "admin",
    writes: true,
    asks: true,
    parameters: [
      {
        name: "directory",
        about: "the repository; the current directory unless given",
        kind: "path",
        positional: true,
      },
      { name: "refuse", about: "never use them, and do not ask again", kind: "flag" },
      { name: "here", about: "the directory of the command", kind: "here" },
    ],
    example: {},
    load: () => import("../operations/mcp-server-accept.ts"),
  },
  "mcp.server.login": {
    summary: "Log in at an MCP server in your browser (OAuth)",
    role: "admin",
    writes: true,
    local: true,
    parameters: [
      SERVER,
      PROJECT,
      { name: "clientId", about: "a client that you registered, where the server registers none", value: "id" },
      { name: "clientSecretEnv", about: "the variable of your environment that has its secret", value: "variable" },
      { name: "port", about: "the port on this machine that the page leads back to", value: "number", kind: "integer" },
    ],
    example: { server: "docs" },
    load: () => import("../operations/mcp-server-login.ts"),
  },
  "mcp.server.logout": {
    summary: "Remove the login at an MCP server",
    role: "admin",
    writes: true,
    parameters: [SERVER, PROJECT],
    example: { server: "docs" },
    load: () => import("../operations/mcp-server-logout.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
