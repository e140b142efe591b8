/** A small client of tool servers, by MCP over HTTP, for the tiny agent. */
import type { TinyTool } from "./tiny-dialects.ts";

type Json = Readonly<Record<string, unknown>>;
const VERSION = "2025-11-25";

export class TinyToolServer {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly name: string;
  #asked = 0;

  constructor(given: Json) {
    this.name = String(given["name"]);
    this.#url = String(given["url"]);
    const headers = given["headers"] as readonly { name: string; value: string }[];
    this.#headers = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  }

  /** Named as other agents name them. */
  async tools(): Promise<TinyTool[]> {
    await this.#ask("initialize", {
      protocolVersion: VERSION,
      capabilities: {},
      clientInfo: { name: "tiny-agent", version: "1.0.0" },
    });
    const { tools } = (await this.#ask("tools/list", {})) as { tools: Json[] };
    return tools.map(({ name, description, inputSchema }) => ({
      name: `mcp__${this.name}__${String(name)}`,
      description: String(description),
      parameters: inputSchema as Json,
    }));
  }

  async call(name: string, input: Json): Promise<string> {
    const bare = name.slice(`mcp__${this.name}__`.length);
    const { content } = (await this.#ask("tools/call", { name: bare, arguments: input })) as { content: Json[] };
    return content.map(({ text }) => String(text)).join("\n");
  }

  async #ask(method: string, params: Json): Promise<Json> {
    this.#asked += 1;
    const answer = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(method === "initialize" ? {} : { "mcp-protocol-version": VERSION }),
        ...this.#headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#asked, method, params }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method}: ${answer.status} ${text}`);
    const data = text
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length));
    const { result, error } = JSON.parse(data.at(-1) ?? text) as { result?: Json; error?: Json };
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result;
  }
}
