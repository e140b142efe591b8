/** Two tools for the resources of all servers of a plan. Reading a resource changes nothing, by the protocol. */
import { contentOf, resourceText } from "../../actors/mcp/server-content.ts";
import type { McpToolName } from "../../domain/names/mcp-tool-name.ts";
import { AgentsError, ValidationError } from "../../domain/errors/errors.ts";
import { printable } from "../../domain/text/text.ts";
import type { AddedOutput, AddedToolFacts } from "../../domain/tool/added-tool.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { AskedCall } from "../../execution/tools/tool.ts";
import { alsoMasking, maskedText } from "../../platform/masking.ts";
import type { McpServers } from "./open-servers.ts";
import { recordedOutput } from "./recorded-output.ts";

const LIST: McpToolName = "mcp_list_resources";
const READ: McpToolName = "mcp_read_resource";

export const RESOURCE_TOOLS: ReadonlySet<string> = new Set([LIST, READ]);

/** A server that has resources. */
export interface ResourceServer {
  readonly server: string;
  readonly scope: string;
}

/** None when no server has resources. */
export function resourceFacts(servers: readonly ResourceServer[]): AddedToolFacts[] {
  if (servers.length === 0) return [];
  const names = servers.map(({ server }) => server);
  const server = { type: "string", enum: names, description: "the MCP server" };
  const about = { source: "mcp", writes: false, compared: false } as const;
  const definition = { servers: servers.map((one) => ({ ...one })) };
  const object = { type: "object", additionalProperties: false } as const;
  return [
    {
      ...about,
      name: LIST,
      description: "List the resources that MCP servers offer, with their URIs",
      parameters: { ...object, properties: { server: { ...server, description: "only of this MCP server" } } },
      definition,
    },
    {
      ...about,
      name: READ,
      description: "Read a resource of an MCP server by its URI",
      parameters: {
        ...object,
        properties: { server, uri: { type: "string", description: "as mcp_list_resources or a tool names it" } },
        required: ["server", "uri"],
      },
      definition,
    },
  ];
}

const MOST_LISTED = 500;

export class ServerResources {
  readonly #servers: McpServers;
  readonly #readable: readonly ResourceServer[];

  constructor(servers: McpServers, readable: readonly ResourceServer[]) {
    this.#servers = servers;
    this.#readable = readable;
  }

  async ask(tool: string, params: JsonObject, call: AskedCall): Promise<AddedOutput> {
    const { server, uri } = params;
    const chosen = server === undefined ? this.#readable : this.#readable.filter((one) => one.server === server);
    if (tool === LIST) return this.#list(chosen, call);
    const [one] = chosen;
    if (one === undefined || typeof uri !== "string") {
      const message = "name one of the servers, and the uri of a resource";
      throw new ValidationError(message, [{ path: "server", message }]);
    }
    return this.#read(one, uri, call);
  }

  async #list(chosen: readonly ResourceServer[], call: AskedCall): Promise<AddedOutput> {
    const texts: string[] = [];
    for (const one of chosen) {
      try {
        texts.push(...(await this.#listed(one, call)));
      } catch (error) {
        if (!(error instanceof AgentsError)) throw error;
        texts.push(error.message);
      }
    }
    const text = printable(texts.join("\n"));
    return recordedOutput({ text: text === "" ? "There are no resources." : text, name: LIST }, call);
  }

  /** Masked here, where the values of the server are known. */
  async #listed(one: ResourceServer, call: AskedCall): Promise<string[]> {
    const server = await this.#servers.named(one);
    return alsoMasking(this.#servers.maskedOf(server), async () => {
      const connection = await this.#servers.connection(server, call.signal, undefined);
      const resources = await connection.resources(call.signal);
      const texts = resources.slice(0, MOST_LISTED).map(({ uri, name, description }) => {
        const about = description === undefined ? "" : `: ${description}`;
        return maskedText(`${one.server} ${uri} ${name}${about}`);
      });
      const left = resources.length - texts.length;
      return left > 0 ? [...texts, `… ${left} more of ${one.server}`] : texts;
    });
  }

  async #read(one: ResourceServer, uri: string, call: AskedCall): Promise<AddedOutput> {
    const server = await this.#servers.named(one);
    return alsoMasking(this.#servers.maskedOf(server), async () => {
      const connection = await this.#servers.connection(server, call.signal, undefined);
      const { contents } = await connection.readResource(uri, {
        signal: call.signal,
        timeout: server.definition.timeoutMs,
      });
      const parts = Array.isArray(contents) ? (contents as readonly JsonValue[]) : [];
      const images = parts.flatMap((part) => imageBlock(part));
      const { image } = contentOf(images);
      const texts = parts.filter((part) => imageBlock(part).length === 0).map(resourceText);
      return recordedOutput({ text: printable(texts.join("\n")), image, name: uri }, call);
    });
  }
}

function imageBlock(part: JsonValue): JsonObject[] {
  if (!isJsonObject(part)) return [];
  const { blob, mimeType } = part;
  if (typeof blob !== "string" || typeof mimeType !== "string" || !mimeType.startsWith("image/")) return [];
  return [{ type: "image", data: blob, mimeType }];
}
