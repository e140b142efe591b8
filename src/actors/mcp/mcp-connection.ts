/**
 * A connection with one MCP server. The official client speaks the protocol, in the newest version that the server
 * knows; here are the limits, and our words for everything that can go wrong. Nothing of a server ends more than its
 * call: every failure is an `AgentsError` that a tool call may end with.
 */
import type {
  CallToolResult,
  Client,
  OAuthClientProvider,
  Prompt,
  PromptMessage,
  Resource,
  Tool,
  Transport,
} from "@modelcontextprotocol/client";
import type * as Sdk from "@modelcontextprotocol/client";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { NextStep } from "../../domain/errors/next-step.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import { clientSdk, collectingWarnings } from "./client-sdk.ts";
import { ProcessTransport, type ServerProcess } from "./process-transport.ts";
import { oneLine } from "./server-text.ts";

/** How a server is reached. */
export type ServerAddress =
  | { readonly kind: "stdio"; readonly start: () => Promise<ServerProcess> }
  | {
      readonly kind: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly fetch: typeof fetch;
      /** The tokens of a login; undefined without one. */
      readonly login?: OAuthClientProvider | undefined;
    };

export interface ConnectOptions {
  /** As messages call it. */
  readonly name: string;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly connectMs?: number;
  /** How long a server may take to say which versions it knows; then it is taken for an old one. */
  readonly probeMs?: number;
  /** Steps that help when the server wants a login. */
  readonly loginNext?: readonly NextStep[];
}

/** The facts that a server gives about itself. */
export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly protocol: string;
  readonly instructions: string | undefined;
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
}

/** The tools of a server, and why the client refuses some of them. */
export interface ServerTools {
  readonly tools: readonly ListedTool[];
  readonly refused: readonly string[];
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

const CONNECT_MS = 30_000;
const PROBE_MS = 8_000;
/** Of a question about the server itself. */
const LIST_MS = 30_000;
const ALIVE_MS = 3_000;

export class McpConnection implements AsyncDisposable {
  readonly facts: ServerFacts;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #options: ConnectOptions;
  #isClosed = false;
  /** The tools as the client knows them: it checks answers and sets headers by them. */
  #listed: Promise<ServerTools> | undefined;

  constructor(parts: { client: Client; transport: Transport; closed: Promise<void>; options: ConnectOptions }) {
    this.#client = parts.client;
    this.#transport = parts.transport;
    this.#options = parts.options;
    this.closed = parts.closed.then(() => void (this.#isClosed = true));
    // The client forgets its list then.
    parts.client.setNotificationHandler("notifications/tools/list_changed", () => void (this.#listed = undefined));
    const { name = "", version = "" } = parts.client.getServerVersion() ?? {};
    const { tools, resources, prompts } = parts.client.getServerCapabilities() ?? {};
    this.facts = {
      name: oneLine(name, 100),
      version: oneLine(version, 100),
      protocol: parts.client.getNegotiatedProtocolVersion() ?? "",
      instructions: parts.client.getInstructions(),
      tools: tools !== undefined,
      resources: resources !== undefined,
      prompts: prompts !== undefined,
    };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async tools(signal: AbortSignal, timeout = LIST_MS): Promise<ServerTools> {
    if (!this.facts.tools) return { tools: [], refused: [] };
    const listed = (this.#listed ??= this.#listTools(signal, timeout));
    try {
      return await listed;
    } catch (error) {
      if (this.#listed === listed) this.#listed = undefined;
      if (error instanceof AgentsError) throw error;
      // Another caller began the question, and gave up.
      signal.throwIfAborted();
      return this.tools(signal, timeout);
    }
  }

  async #listTools(signal: AbortSignal, timeout: number): Promise<ServerTools> {
    const refused: string[] = [];
    const list = (options: Limits): Promise<{ tools: Tool[] }> => this.#client.listTools(undefined, options);
    const ask = (): Promise<{ tools: Tool[] }> => this.#asked("tools/list", signal, list, timeout);
    const { tools } = await collectingWarnings(refused, ask);
    return { tools: tools.map(listedTool), refused: refused.map((text) => oneLine(text)) };
  }

  async resources(signal: AbortSignal): Promise<Resource[]> {
    if (!this.facts.resources) return [];
    const list = (options: Limits): Promise<{ resources: Resource[] }> =>
      this.#client.listResources(undefined, options);
    return (await this.#asked("resources/list", signal, list)).resources;
  }

  async readResource(uri: string, limits: Limits): Promise<JsonObject> {
    const read = (options: Limits): Promise<object> => this.#client.readResource({ uri }, options);
    return (await this.#asked("resources/read", limits.signal, read, limits.timeout)) as JsonObject;
  }

  async prompts(signal: AbortSignal): Promise<Prompt[]> {
    if (!this.facts.prompts) return [];
    const list = (options: Limits): Promise<{ prompts: Prompt[] }> => this.#client.listPrompts(undefined, options);
    return (await this.#asked("prompts/list", signal, list)).prompts;
  }

  async prompt(name: string, args: Readonly<Record<string, string>>, limits: Limits): Promise<PromptMessage[]> {
    const get = (options: Limits): Promise<{ messages: PromptMessage[] }> =>
      this.#client.getPrompt({ name, arguments: { ...args } }, options);
    return (await this.#asked(`the prompt ${name}`, limits.signal, get, limits.timeout)).messages;
  }

  /** A plan that continues in a new process has its tools from the record: the client asks for them before the call. */
  async call(tool: string, params: JsonObject, limits: Limits): Promise<CallToolResult> {
    await this.tools(limits.signal, limits.timeout);
    const call = (options: Limits): Promise<CallToolResult> =>
      this.#client.callTool({ name: tool, arguments: { ...params } }, options);
    return this.#asked(`the tool ${tool}`, limits.signal, call, limits.timeout);
  }

  async #asked<T>(
    what: string,
    signal: AbortSignal,
    ask: (options: Limits) => Promise<T>,
    timeout = LIST_MS,
  ): Promise<T> {
    try {
      return await ask({ signal, timeout, maxTotalTimeout: timeout });
    } catch (error) {
      signal.throwIfAborted();
      if (isTimeout(error)) await this.#endIfSilent();
      throw failedError(error, this.#options, { what, timeout, transport: this.#transport });
    }
  }

  /** A server that also does not answer the simplest question hangs: it is ended, and the next call starts it again. */
  async #endIfSilent(): Promise<void> {
    const limits = { timeout: ALIVE_MS };
    const modern = this.#client.getProtocolEra() === "modern";
    await (modern ? this.#client.discover(limits) : this.#client.ping(limits)).catch(async (error: unknown) => {
      if (isTimeout(error)) await this.#transport.close().catch(() => undefined);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
  }
}

interface Limits {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly maxTotalTimeout?: number;
}

export async function connect(address: ServerAddress, options: ConnectOptions): Promise<McpConnection> {
  const first = await connectOnce(address, options, undefined);
  if (first instanceof McpConnection) return first;
  // Some older servers end at the question which versions they know: they are started again without it.
  const again = address.kind === "stdio" && first.endedEarly ? await connectOnce(address, options, "legacy") : first;
  if (again instanceof McpConnection) return again;
  throw failedError(again.error, options, { what: "", timeout: limitOf(options), transport: again.transport });
}

interface NotConnected {
  readonly error: unknown;
  readonly transport: Transport | undefined;
  readonly endedEarly: boolean;
}

async function connectOnce(
  address: ServerAddress,
  options: ConnectOptions,
  era: "legacy" | undefined,
): Promise<McpConnection | NotConnected> {
  const sdk = await clientSdk();
  const client = new sdk.Client(
    { name: "cleveragents", version: options.version },
    {
      capabilities: {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: options.probeMs ?? PROBE_MS } },
      listMaxPages: 32,
    },
  );
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  // Errors that it tells are lines that are not messages, and the like: nothing that concerns a call.
  Object.assign(client, { onclose: () => close(), onerror: () => undefined });
  let transport: Transport | undefined;
  try {
    transport = await transportOf(address, sdk);
    const limits = { timeout: limitOf(options), signal: options.signal };
    await client.connect(transport, { ...limits, ...(era === undefined ? {} : { prior: { kind: era } }) });
    return new McpConnection({ client, transport, closed, options });
  } catch (error) {
    const endedEarly = transport instanceof ProcessTransport && transport.isClosed;
    await transport?.close().catch(() => undefined);
    options.signal.throwIfAborted();
    return { error, transport, endedEarly };
  }
}

function limitOf({ connectMs = CONNECT_MS }: ConnectOptions): number {
  return connectMs;
}

async function transportOf(address: ServerAddress, sdk: typeof Sdk): Promise<Transport> {
  if (address.kind === "stdio") return new ProcessTransport(await address.start(), sdk);
  const { url, headers, fetch: send, login } = address;
  return new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch: send,
    requestInit: { headers: { ...headers } },
    ...(login === undefined ? {} : { authProvider: login }),
  });
}

function listedTool({ name, description = "", inputSchema }: Tool): ListedTool {
  const parameters: JsonValue = JSON.parse(JSON.stringify(inputSchema)) as JsonValue;
  return { name, description, parameters: isJsonObject(parameters) ? parameters : { type: "object" } };
}

function isTimeout(error: unknown): boolean {
  return codeOf(error) === "REQUEST_TIMEOUT";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function isUnauthorized(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === "UnauthorizedError" || codeOf(error) === "CLIENT_HTTP_AUTHENTICATION" || statusOf(error) === 401
  );
}

function statusOf(error: Error): unknown {
  return "status" in error ? error.status : undefined;
}

function failedError(
  error: unknown,
  { name, loginNext = [] }: ConnectOptions,
  { what, timeout, transport }: { what: string; timeout: number; transport: Transport | undefined },
): AgentsError {
  if (error instanceof AgentsError) return error;
  const asked = what === "" ? "" : ` (${oneLine(what, 100)})`;
  if (isUnauthorized(error))
    return new AgentsError("tool_failed", `The MCP server "${name}" wants a login${asked}.`, {
      cause: error,
      next: [...loginNext],
    });
  const ended = transport instanceof ProcessTransport ? transport : undefined;
  const said = ended === undefined || ended.complaint === "" ? "" : ` It said: ${ended.complaint}`;
  if (ended?.failure !== undefined)
    return new AgentsError("tool_failed", `The MCP server "${name}" was ended${asked}: ${ended.failure}.${said}`);
  if (ended?.isClosed === true)
    return new AgentsError("tool_failed", `The MCP server "${name}" ended${asked}.${said}`, { cause: error });
  if (isTimeout(error))
    return new AgentsError(
      "tool_failed",
      `The MCP server "${name}" did not answer within ${timeout / 1000} s${asked}.`,
    );
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof AgentsError) return cause;
  const why = error instanceof Error ? error.message : String(error);
  return new AgentsError("tool_failed", `The MCP server "${name}" failed${asked}: ${oneLine(why)}${said}`, {
    cause: error,
  });
}
