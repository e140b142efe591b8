/**
 * The tools of MCP servers in a plan. A plan asks each of its servers once for its tools, and records the answer; a
 * call then starts the server it needs, once for all calls of this process. A server that cannot be started or asked
 * is told, and the plan goes on without its tools.
 */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ListedTool, McpConnection } from "../../actors/mcp/mcp-connection.ts";
import { contentOf } from "../../actors/mcp/server-content.ts";
import { oneLine } from "../../actors/mcp/server-text.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { fitsAny } from "../../domain/mcp/mcp-server.ts";
import { mcpToolName, namesMcpTool } from "../../domain/names/mcp-tool-name.ts";
import type { Tell } from "../../domain/run-event.ts";
import { printable } from "../../domain/text/text.ts";
import type { AddedOutput, AddedToolFacts } from "../../domain/tool/added-tool.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { ParameterSchema } from "../../execution/tools/parameter-schema.ts";
import type { ToolSource, WantedTools } from "../../execution/tools/tool-source.ts";
import type { AddedTool, AskedCall, ToolCall } from "../../execution/tools/tool.ts";
import type { Workspace } from "../../execution/workspace/workspace.ts";
import { alsoMasking, maskedText } from "../../platform/masking.ts";
import { RESOURCE_TOOLS, resourceFacts, ServerResources, type ResourceServer } from "./resource-tools.ts";
import { serverKey, type PlanServer } from "./plan-server.ts";
import { recordedOutput } from "./recorded-output.ts";
import type { McpServers } from "./open-servers.ts";

/** Characters of a description, and of a tool with its schema: more is not worth what it costs in every question. */
const DESCRIPTION_LIMIT = 4_000;
const SCHEMA_LIMIT = 64 * 1024;
const MOST_TOOLS = 512;
/** Of most texts, a token has at least so many characters. */
const CHARACTERS_PER_TOKEN = 3.5;

export class McpTools implements ToolSource {
  readonly source = "mcp";
  readonly #servers: McpServers;
  readonly #tell: Tell;
  /** Tokens that the descriptions of all tools may take together. */
  readonly #tokenLimit: number;

  constructor(parts: { servers: McpServers; tell: Tell; tokenLimit: number }) {
    this.#servers = parts.servers;
    this.#tell = parts.tell;
    this.#tokenLimit = parts.tokenLimit;
  }

  async offered({ names }: WantedTools): Promise<AddedToolFacts[]> {
    const wanted = names?.filter((name) => name.startsWith("mcp_"));
    if (wanted?.length === 0) return [];
    const servers = await this.#servers.ofPlan();
    const asked = await Promise.all(servers.map((server) => this.#asked(server)));
    const taken = new Set<string>();
    const facts = asked.flatMap(({ server, tools }) => tools.map((tool) => factsOf(server, tool, taken)));
    const readable = asked.flatMap(({ server, hasResources }) => (hasResources ? [serverRef(server)] : []));
    const all = [...facts, ...resourceFacts(readable)];
    return wanted === undefined
      ? this.#withinLimit(all)
      : all.filter(({ name }) => wanted.some((given) => namesMcpTool(given, name)));
  }

  bound(facts: AddedToolFacts): AddedTool {
    const { definition, parameters, ...about } = facts;
    const schema = new ParameterSchema(parameters);
    if (RESOURCE_TOOLS.has(facts.name)) {
      const readable = definition["servers"] as unknown as readonly ResourceServer[];
      const resources = new ServerResources(this.#servers, readable);
      return { ...about, schema, ask: (params, call) => resources.ask(facts.name, params, call) };
    }
    const ref = definition as unknown as ToolReference;
    if (ref.place === "outside")
      return { ...about, schema, ask: (params, call) => this.#call(ref, params, call, undefined) };
    return { ...about, schema, run: (params, call) => this.#call(ref, params, call, call.workspace) };
  }

  async #asked(server: PlanServer): Promise<AskedServer> {
    try {
      return await this.#servers.listing(server, async (connection, signal) => {
        const { tools, refused } = await connection.tools(signal);
        const { usable, left } = usableTools(server, tools);
        if (refused.length + left.length > 0) this.#tell(notOfferedNotice(server, [...left, ...refused]));
        const place = this.#servers.placeOf(server);
        return { server, hasResources: connection.facts.resources, tools: usable.map((tool) => ({ ...tool, place })) };
      });
    } catch (error) {
      if (!(error instanceof AgentsError)) throw error;
      this.#tell({
        type: "notice",
        level: "warning",
        text: `${/[.!?]$/.test(error.message) ? error.message : `${error.message}.`} The plan continues without its tools.`,
        next: error.next,
      });
      return { server, tools: [], hasResources: false };
    }
  }

  /** The first ones that fit in, so that the tools of one server do not crowd out the code. */
  #withinLimit(all: readonly AddedToolFacts[]): AddedToolFacts[] {
    let tokens = 0;
    const kept = all.filter(({ name, description, parameters }) => {
      const text = JSON.stringify({ name, description, parameters });
      tokens += Math.ceil(text.length / CHARACTERS_PER_TOKEN);
      return tokens <= this.#tokenLimit;
    });
    if (kept.length < all.length)
      this.#tell({
        type: "notice",
        level: "warning",
        text: `${all.length - kept.length} of ${all.length} MCP tools are not offered: their descriptions take more than ${this.#tokenLimit} tokens (mcp.tool-tokens). Name the tools that you need in the actor's tools, or limit a server's with --only.`,
      });
    return kept;
  }

  async #call(
    ref: ToolReference,
    params: JsonObject,
    call: AskedCall | ToolCall,
    workspace: Workspace | undefined,
  ): Promise<AddedOutput> {
    const server = await this.#servers.named(ref);
    const limits = { signal: call.signal, timeout: server.definition.timeoutMs };
    const masked = this.#servers.maskedOf(server);
    return alsoMasking(masked, async () => {
      const use = (connection: McpConnection): Promise<CallToolResult> => connection.call(ref.tool, params, limits);
      const result =
        ref.place === "sandbox" && workspace !== undefined
          ? await this.#servers.inSandbox(server, workspace, call, use)
          : await use(await this.#servers.connection(server, call.signal, workspace));
      return outputOf(result, ref.tool, call);
    });
  }
}

interface AskedServer {
  readonly server: PlanServer;
  readonly hasResources: boolean;
  readonly tools: readonly (ListedTool & { readonly place: ToolReference["place"] })[];
}

/** The tools of a server that a plan may have, and the others with the reason. */
function usableTools(
  { definition }: PlanServer,
  listed: readonly ListedTool[],
): { readonly usable: readonly ListedTool[]; readonly left: readonly string[] } {
  const wanted = listed.filter(({ name }) => definition.tools === undefined || fitsAny(name, definition.tools));
  const usable = new Map<string, ListedTool>();
  const left = new Set<string>();
  for (const tool of wanted.slice(0, MOST_TOOLS)) {
    const name = oneLine(tool.name, 64);
    if (name === "") left.add("a tool without a name");
    else if (usable.has(tool.name)) left.add(`${name} (listed more than once: the first one is offered)`);
    else if (JSON.stringify(tool.parameters).length > SCHEMA_LIMIT) left.add(`${name} (its schema is too long)`);
    else usable.set(tool.name, tool);
  }
  if (wanted.length > MOST_TOOLS) left.add(`${wanted.length - MOST_TOOLS} after the first ${MOST_TOOLS}`);
  return { usable: [...usable.values()], left: [...left] };
}

const MOST_TOLD = 10;

function notOfferedNotice({ definition }: PlanServer, left: readonly string[]): Parameters<Tell>[0] {
  const more = left.length > MOST_TOLD ? [`${left.length - MOST_TOLD} more`] : [];
  const list = [...left.slice(0, MOST_TOLD), ...more].join("; ");
  const text = `The MCP server "${definition.name}" lists tools that are not offered: ${list}.`;
  return { type: "notice", level: "warning", text };
}

/** How a recorded tool is found again. */
interface ToolReference {
  readonly server: string;
  readonly scope: string;
  readonly tool: string;
  /** Where its program runs: with the user's rights, confined beside the sandbox, or confined in it. */
  readonly place: "outside" | "confined" | "sandbox";
}

function serverRef(server: PlanServer): ResourceServer {
  return { server: server.definition.name, scope: serverKey(server) };
}

function factsOf(server: PlanServer, tool: AskedServer["tools"][number], taken: Set<string>): AddedToolFacts {
  const { name, readOnlyTools } = server.definition;
  const writes = !fitsAny(tool.name, readOnlyTools);
  const definition: ToolReference = { ...serverRef(server), tool: tool.name, place: tool.place };
  return {
    name: mcpToolName(name, tool.name, taken),
    description: maskedText(printable(tool.description)).slice(0, DESCRIPTION_LIMIT).toWellFormed(),
    source: "mcp",
    writes,
    compared: tool.place === "sandbox",
    ...(writes && tool.place !== "sandbox" ? { once: true } : {}),
    parameters: { ...tool.parameters, type: "object" },
    definition: { ...definition },
  };
}

async function outputOf(result: CallToolResult, tool: string, call: AskedCall): Promise<AddedOutput> {
  const { content, structuredContent, isError } = result;
  const { text, image } = contentOf(content as unknown as readonly JsonValue[]);
  const data = structuredContent as JsonObject | undefined;
  // The text of a structured result should say the same; some servers send the structure alone.
  const told = text === "" && data !== undefined ? JSON.stringify(data) : text;
  const output = await recordedOutput({ text: told, image, name: tool, data }, call);
  return isError === true ? { ...output, failure: output.text === "" ? "The tool failed." : output.text } : output;
}
