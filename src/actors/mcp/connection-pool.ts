/**
 * The connections of one process. Each server is started once, however many calls want it at the same time: they share
 * one promise. One that died is started again by the next call, after a pause that grows, and not for ever.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { McpConnection } from "./mcp-connection.ts";

interface Server {
  connection: Promise<McpConnection> | undefined;
  /** How often in a row it could not be started, or died soon after. */
  failures: number;
  notBefore: number;
  last: unknown;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
const MOST_FAILURES = 5;
/** One that lived longer did not die because of its start. */
const SETTLED_MS = 10_000;

export class ConnectionPool implements AsyncDisposable {
  readonly #servers = new Map<string, Server>();
  readonly #clock: () => number;
  readonly #ending = new AbortController();

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** The connection of this key; `open` starts it, and is called by one of any number of callers. */
  async connection(
    key: string,
    signal: AbortSignal,
    open: (signal: AbortSignal) => Promise<McpConnection>,
  ): Promise<McpConnection> {
    const server = this.#servers.get(key) ?? { connection: undefined, failures: 0, notBefore: 0, last: undefined };
    this.#servers.set(key, server);
    server.connection ??= this.#open(server, open);
    // A caller that gives up does not end the start, for which others may wait.
    return untilAborted(server.connection, signal);
  }

  async #open(server: Server, open: (signal: AbortSignal) => Promise<McpConnection>): Promise<McpConnection> {
    try {
      if (server.failures >= MOST_FAILURES) throw gaveUpError(server);
      const pause = server.notBefore - this.#clock();
      if (pause > 0) await sleep(pause, undefined, { signal: this.#ending.signal });
      const connection = await open(this.#ending.signal);
      const began = this.#clock();
      void connection.closed.then(() => this.#gone(server, this.#clock() - began));
      return connection;
    } catch (error) {
      if (server.failures < MOST_FAILURES) this.#failed(server, error);
      server.connection = undefined;
      throw error;
    }
  }

  #gone(server: Server, livedMs: number): void {
    server.connection = undefined;
    if (livedMs < SETTLED_MS) this.#failed(server, undefined);
    else Object.assign(server, { failures: 0, notBefore: 0 });
  }

  #failed(server: Server, error: unknown): void {
    server.last = error ?? server.last;
    server.notBefore = this.#clock() + Math.min(FIRST_PAUSE_MS * 2 ** server.failures, LONGEST_PAUSE_MS);
    server.failures += 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    const open = [...this.#servers.values()].map(({ connection }) => connection);
    this.#servers.clear();
    await Promise.all(
      open.map(async (one) => {
        const connection = await one?.catch(() => undefined);
        await connection?.[Symbol.asyncDispose]();
      }),
    );
  }
}

function gaveUpError({ last }: Server): AgentsError {
  const why = last instanceof Error ? ` The last time: ${last.message}` : "";
  return new AgentsError(
    "tool_failed",
    `The MCP server ended ${MOST_FAILURES} times in a row and is left alone.${why}`,
  );
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
