/**
 * `agents mcp serve`: the server on two streams, until its client closes its end. Only the protocol is written to the
 * output; everything else goes to the log.
 */
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { boundedLines } from "./bounded-lines.ts";
import { servedPlans, type ServedPlansParts } from "./served-plans.ts";

export interface StdioParts extends ServedPlansParts {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** Bytes of one message. */
const LONGEST_MESSAGE: number = 4 * 1024 * 1024;
const INVALID_REQUEST = -32_600;

export async function servePlans(parts: StdioParts): Promise<void> {
  const { input, output, log, signal } = parts;
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  await using served = await servedPlans(parts, true);
  const lines = boundedLines(LONGEST_MESSAGE, () => {
    const message = `A message is longer than ${LONGEST_MESSAGE} bytes, and was not read.`;
    log(message);
    output.write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: INVALID_REQUEST, message } })}\n`);
  });
  const transport = new StdioServerTransport(input.pipe(lines), output);
  const connection = serveStdio(served.factory, { transport, onerror: ({ message }) => log(message) });
  // A client that went away is the usual end.
  await finished(lines, { signal }).catch(() => undefined);
  await connection.close();
  input.unpipe(lines);
}
