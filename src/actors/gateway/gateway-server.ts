/**
 * The gateway: a server on loopback between an agent program and its provider. Every request must carry the token of
 * this run, which is worth nothing elsewhere, and is put through one exchange. The provider's real key is added behind
 * the gateway, so the agent never has it.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Server as SocketServer } from "node:net";
import { serveTools, type ServedTools, type ToolHandler } from "../mcp/serve-tools.ts";
import { dialectOf, routeOf, type Dialect } from "./dialects.ts";
import { passBilled, passFreely, type ExchangeParts } from "./exchange.ts";
import { refusal, RefusedRequestError } from "./refusals.ts";

interface GatewayLimits {
  /** Bytes of one request. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** Until a request has come completely. */
  readonly requestMs: number;
  /** Requests under way at the same time. */
  readonly open: number;
}

const LIMITS: GatewayLimits = { bodyBytes: 32 * 1024 * 1024, headerBytes: 32 * 1024, requestMs: 60_000, open: 64 };

export interface GatewayOptions extends Omit<ExchangeParts, "nextId"> {
  readonly limits?: Partial<GatewayLimits>;
  /** A socket that listens elsewhere, such as in the network of a confined agent; else one on loopback here. */
  readonly socket?: SocketServer | undefined;
  /** Tools that the agent may call, by MCP at `/mcp/<server>`. */
  readonly tools?: ReadonlyMap<string, Omit<ServedTools, "token">>;
  /** Hears of failures that are not the client's or the provider's, such as a full disk. */
  readonly onFailure?: (error: unknown) => void;
}

export interface Gateway extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string;
  readonly token: string;
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const limits = { ...LIMITS, ...options.limits };
  const token = `gateway-${randomBytes(24).toString("base64url")}`;
  await using tools = new AsyncDisposableStack();
  const served = new Map<string, ToolHandler>();
  for (const [name, one] of options.tools ?? [])
    served.set(`${TOOLS_PATH}${name}`, tools.use(await serveTools({ ...one, token })));
  const door = new Door(options, limits, token, served);
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(limits.requestMs, 10_000),
  });
  server.on("request", (request, response) => void door.serve(request, response));
  if (options.socket === undefined) server.listen(0, "127.0.0.1");
  else server.listen(options.socket);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const open = tools.move();
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    [Symbol.asyncDispose]: async () => {
      await closed(server, door);
      await open.disposeAsync();
    },
  };
}

/** Requests under way are cut off, and the port hears of their end before this resolves. */
async function closed(server: Server, door: Door): Promise<void> {
  const stopped = once(server, "close");
  server.close();
  server.closeAllConnections();
  await stopped;
  await door.idle();
}

/** Where the tools are, below the url of a gateway. */
export const TOOLS_PATH = "/mcp/";
/** So that the path of a request can be read. */
const BASE = "http://gateway";

class Door {
  readonly #options: GatewayOptions;
  readonly #limits: GatewayLimits;
  readonly #token: Buffer;
  /** By their path. */
  readonly #tools: ReadonlyMap<string, ToolHandler>;
  readonly #open = new Set<Promise<void>>();
  #requests = 0;

  constructor(options: GatewayOptions, limits: GatewayLimits, token: string, tools: ReadonlyMap<string, ToolHandler>) {
    this.#tools = tools;
    this.#options = options;
    this.#limits = limits;
    this.#token = digest(token);
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    const url = new URL(URL.canParse(path, BASE) ? path : "/", BASE);
    const dialect = dialectOf(url.pathname, request.headers);
    const left = new AbortController();
    response.on("close", () => left.abort());
    const exchange =
      this.#tools.get(url.pathname)?.handle(request, response) ?? this.#pass(request, response, url, left.signal);
    this.#open.add(exchange);
    try {
      await exchange;
    } catch (error) {
      this.#refuse(response, dialect, error);
    } finally {
      this.#open.delete(exchange);
    }
  }

  async #pass(request: IncomingMessage, response: ServerResponse, url: URL, signal: AbortSignal): Promise<void> {
    const { headers, method = "" } = request;
    if (!isLoopback(headers.host)) throw new RefusedRequestError(403, "The gateway serves this machine only.");
    if (!this.#isKnown(request, url))
      throw new RefusedRequestError(401, "The key is not the token of this run of the gateway.");
    const route = routeOf(method, url.pathname, headers);
    if (route === undefined)
      throw new RefusedRequestError(404, `The gateway does not serve ${method} ${url.pathname.slice(0, 200)}.`);
    // This one is not among them yet.
    if (this.#open.size >= this.#limits.open)
      throw new RefusedRequestError(429, `${this.#limits.open} requests are under way; try again.`);
    const text = await this.#text(request);
    const parts = { ...this.#options, nextId: () => String((this.#requests += 1)) };
    const incoming = { route, query: url.searchParams, headers, text, response, signal };
    await (route.kind === "ask" ? passBilled(incoming, parts) : passFreely(incoming, parts));
  }

  /** Each dialect has another place for its key. */
  #isKnown({ headers }: IncomingMessage, url: URL): boolean {
    const given = [
      headers["x-api-key"],
      headers["x-goog-api-key"],
      headers.authorization?.replace(/^Bearer /i, ""),
      url.searchParams.get("key"),
    ];
    return given.some((one) => typeof one === "string" && timingSafeEqual(digest(one), this.#token));
  }

  async #text(request: IncomingMessage): Promise<string> {
    const packed = request.headers["content-encoding"] ?? "identity";
    if (packed !== "identity")
      throw new RefusedRequestError(415, `The gateway does not read ${packed}: send plain JSON.`);
    const most = this.#limits.bodyBytes;
    const tooLargeError = (): RefusedRequestError =>
      new RefusedRequestError(413, `The request is larger than ${most / 1024 / 1024} MiB.`);
    if (Number(request.headers["content-length"] ?? 0) > most) throw tooLargeError();
    const came: Buffer[] = [];
    let bytes = 0;
    for await (const piece of request as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > most) throw tooLargeError();
      came.push(piece);
    }
    return Buffer.concat(came).toString("utf8");
  }

  #refuse(response: ServerResponse, dialect: Dialect, error: unknown): void {
    const known = error instanceof RefusedRequestError;
    if (!known && !response.destroyed) this.#options.onFailure?.(error);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const reason = known ? error : { status: 500 as const, message: "The gateway failed." };
    const { status, body } = refusal(dialect, reason);
    // The libraries of Anthropic and OpenAI would send the same request again.
    const again = reason.status === 429 ? { "retry-after": "1" } : { "x-should-retry": "false" };
    // The rest of a body that was not read would be taken for the next request.
    response.writeHead(status, { "content-type": "application/json", connection: "close", ...again });
    response.end(JSON.stringify(body));
  }
}

/** A page in a browser could otherwise reach the gateway under a name that leads here. */
function isLoopback(host: string | undefined): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(host ?? "");
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
