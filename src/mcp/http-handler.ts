/**
 * The server for an HTTP server that already runs: a web-standard request in, a response out. The caller authenticates
 * each request and refuses wrong hosts and origins before it comes here.
 */
import type { McpHandlerRequestOptions } from "@modelcontextprotocol/server";
import { servedPlans, type ServedPlansParts } from "./served-plans.ts";

/** The handler of one path; closing it stops the plans that its clients began. */
export interface McpHandler extends AsyncDisposable {
  readonly fetch: (request: Request, options?: McpHandlerRequestOptions) => Promise<Response>;
}

const LONGEST_MESSAGE: number = 4 * 1024 * 1024;

/** @example const { fetch } = await mcpHandler({ agents, environment, spell, log, readOnly, options, directory }); */
export async function mcpHandler(parts: ServedPlansParts): Promise<McpHandler> {
  const served = await servedPlans(parts, false);
  const handler = served.protocol.createMcpHandler(served.factory, {
    maxRequestBodySize: LONGEST_MESSAGE,
    onerror: ({ message }) => parts.log(message),
  });
  return {
    fetch: handler.fetch,
    [Symbol.asyncDispose]: async () => {
      await handler.close();
      await served[Symbol.asyncDispose]();
    },
  };
}
