/**
 * Our server of the Model Context Protocol behind HTTP on a free port of this machine, with one plan in a repository:
 * the official conformance suite wants an address. Requests under a foreign name or from a foreign page are refused here,
 * as every HTTP server has to that mounts the handler.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { calls, FIX, LoopWorld, step, strategy } from "../../src/app/testing/loop-world.ts";
import { mcpHandler, type McpHandler } from "../../src/mcp/http-handler.ts";
import { serverParts } from "../../src/mcp/testing/plan-client.ts";

export interface ServerFront extends AsyncDisposable {
  readonly url: string;
}

export async function serverFront(): Promise<ServerFront> {
  await using cleanup = new AsyncDisposableStack();
  const world = cleanup.use(new LoopWorld());
  world.script(
    strategy(FIX),
    step("fix", { match: { tool: "write_file" }, text: "Done." }),
    step("fix", calls("write_file", { path: "b.txt", content: "b\n" })),
  );
  await world.run("write b.txt");
  const handler = cleanup.use(await mcpHandler({ ...serverParts(world), agents: await world.agents() }));
  const http = createServer((request, response) => void answer(handler, request, response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  cleanup.defer(() => {
    http.closeAllConnections();
    http.close();
  });
  const owned = cleanup.move();
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

async function answer(handler: McpHandler, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url = "/", headers } = incoming;
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as [string, string]] : [],
  );
  const body = await buffer(incoming);
  const left = new AbortController();
  response.on("close", () => left.abort());
  const request = new Request(new URL(url, "http://127.0.0.1"), {
    method,
    headers: given,
    signal: left.signal,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
  const refused =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  const made = refused ?? (await handler.fetch(request));
  response.writeHead(made.status, Object.fromEntries(made.headers));
  if (made.body === null) response.end();
  // A client that leaves early breaks the pipe.
  else await pipeline(Readable.fromWeb(made.body), response).catch(() => undefined);
}
