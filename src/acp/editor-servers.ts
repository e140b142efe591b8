/**
 * The MCP servers that an editor hands over. They are programs that would run with the user's rights, and plans keep
 * their tools in the record, so they are used only after a yes: then they are servers of the user like any other.
 */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { CallOptions, CleverAgents } from "../app/open.ts";

type Usable = Exclude<McpServer, { type: "sse" } | { type: "acp" }>;

export class EditorServers {
  readonly #agents: CleverAgents;
  readonly #directory: string;
  readonly #given: readonly McpServer[];

  constructor(agents: CleverAgents, directory: string, given: readonly McpServer[]) {
    this.#agents = agents;
    this.#directory = directory;
    this.#given = given;
  }

  /** A sentence about those that plans do not have; undefined where there are none. */
  async unused(): Promise<string | undefined> {
    const names = (await this.#unknown()).map(({ name }) => name);
    if (names.length === 0) return undefined;
    return `The MCP servers of the editor are not used: ${names.join(", ")}. \`/servers\` adds them, after a yes.`;
  }

  /** Asks, and adds those that are not known yet. */
  async add(call: CallOptions): Promise<string> {
    const unknown = await this.#unknown();
    const usable = unknown.filter(isUsable);
    const others = unknown.filter((server) => !isUsable(server)).map(({ name }) => name);
    const left = others.length === 0 ? "" : ` Not understood here: ${others.join(", ")}.`;
    if (usable.length === 0) return `The editor has no MCP servers that could be added.${left}`;
    const mcpServers = Object.fromEntries(usable.map((server) => [server.name, definitionOf(server)]));
    const text = JSON.stringify({ mcpServers });
    const definition = { text, file: "the editor", outside: true };
    const outcome = await this.#agents.run("mcp.server.add", { definition }, call);
    if (!("servers" in outcome)) return `Nothing was added.${left}`;
    const names = outcome.servers.map(({ name }) => name).join(", ");
    return `Added ${names}: plans that begin from now on can use them. \`agents mcp server list\` shows them.${left}`;
  }

  async #unknown(): Promise<readonly McpServer[]> {
    if (this.#given.length === 0) return [];
    const { servers } = await this.#agents.run("mcp.server.list", { directory: this.#directory });
    const known = new Set(servers.map(({ name }) => name.toLowerCase()));
    return this.#given.filter(({ name }) => !known.has(name.toLowerCase()));
  }
}

function isUsable(server: McpServer): server is Usable {
  return !("type" in server) || server.type === "http";
}

/** As a file with servers has it. */
function definitionOf(server: Usable): object {
  if ("type" in server) return { type: "http", url: server.url, headers: valuesOf(server.headers) };
  return { command: server.command, args: server.args, env: valuesOf(server.env) };
}

function valuesOf(given: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}
