/**
 * Offers tools to an outside agent as an MCP server (streamable HTTP, without sessions). It serves one path of an HTTP
 * server that already runs, such as the gateway of that agent. Nothing is decided here: the caller says which tools
 * there are, and its `call` goes through the tool pipeline with its guards, its capture and its record.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../domain/values/json.ts";
import type { ModelTool } from "../models/model.ts";

/** The answer that the agent gets. A failure of a tool is an answer too: the agent reads it and goes on. */
interface ServedOutcome {
  readonly text: string;
  readonly failed: boolean;
  readonly image?: { readonly mediaType: string; readonly bytes: Uint8Array } | undefined;
}

export interface ServedTools {
  /** In the order in which they are listed. */
  readonly tools: readonly ModelTool[];
  readonly call: (tool: string, params: JsonObject, signal: AbortSignal) => Promise<ServedOutcome>;
  /** Each request carries it as `Authorization: Bearer …`. */
  readonly token: string;
  /** Hears of failures that are not the agent's. */
  readonly onFailure?: (error: unknown) => void;
}

/** The handler of the path; closing it ends the calls under way. */
export interface ToolHandler extends AsyncDisposable {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

const BODY_BYTES: number = 8 * 1024 * 1024;

export async function serveTools(served: ServedTools): Promise<ToolHandler> {
  const { createMcpHandler, Server } = await import("@modelcontextprotocol/server");
  const closing = new AbortController();
  const known = new Set(served.tools.map(({ name }) => name));
  const factory = (): InstanceType<typeof Server> => {
    const server = new Server({ name: "cleveragents", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: served.tools.map(({ name, description, parameters }) => ({
        name,
        description,
        inputSchema: { ...parameters, type: "object" as const },
      })),
    }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      if (!known.has(params.name)) return answerOf({ text: `There is no tool "${params.name}" here.`, failed: true });
      const signal = AbortSignal.any([mcpReq.signal, closing.signal]);
      try {
        return answerOf(await served.call(params.name, (params.arguments ?? {}) as JsonObject, signal));
      } catch (error) {
        served.onFailure?.(error);
        throw error;
      }
    });
    return server;
  };
  const handler = createMcpHandler(factory, { maxRequestBodySize: BODY_BYTES });
  const token = digest(served.token);
  return {
    handle: async (request, response) => {
      const refused = refusalOf(request, token);
      if (refused !== undefined) {
        response.writeHead(refused, { connection: "close" }).end();
        return;
      }
      const left = new AbortController();
      response.on("close", () => left.abort());
      const body = await bodyOf(request);
      if (body === undefined) {
        response.writeHead(413, { connection: "close" }).end();
        return;
      }
      await send(await handler.fetch(webRequest(request, body, left.signal)), response);
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await handler.close();
    },
  };
}

function answerOf({ text, failed, image }: ServedOutcome): {
  content: ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[];
  isError: boolean;
} {
  const shown =
    image === undefined
      ? []
      : [{ type: "image" as const, data: Buffer.from(image.bytes).toString("base64"), mimeType: image.mediaType }];
  return { content: [{ type: "text", text }, ...shown], isError: failed };
}

/** A page in a browser could otherwise reach the tools under a name that leads here. */
function refusalOf({ headers }: IncomingMessage, token: Buffer): number | undefined {
  if (!/^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i.test(headers.host ?? "")) return 403;
  if (headers.origin !== undefined) return 403;
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given), token) ? undefined : 401;
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Undefined when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const came: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > BODY_BYTES) return undefined;
    came.push(piece);
  }
  return Buffer.concat(came);
}

function webRequest(
  { method = "GET", url = "/", headers }: IncomingMessage,
  body: Buffer,
  signal: AbortSignal,
): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" && name !== "authorization" ? [[name, value] as [string, string]] : [],
  );
  const withBody = method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) };
  return new Request(new URL(url, `http://${headers.host}`), { method, headers: given, signal, ...withBody });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  const reader = answer.body?.getReader();
  if (reader === undefined) {
    response.end();
    return;
  }
  response.on("close", () => void reader.cancel().catch(() => undefined));
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (response.destroyed) return;
    response.write(read.value);
  }
  response.end();
}
