/**
 * `agents server start`: the operations of the application over HTTP, until it is told to stop. Then it takes no more,
 * ends the streams, lets what runs end for a while, and stops the rest where it can go on: leases are handed back.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { asOnlyServer } from "../app/procedures/server-file.ts";
import type { CleverAgents } from "../app/open.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Environment } from "../domain/values/environment.ts";
import { Authority } from "./authority.ts";
import { EventHub } from "./event-hub.ts";
import { httpApp } from "./http-app.ts";
import { listen, type ListenPlace } from "./listen.ts";
import { RequestCounts } from "./metrics.ts";
import { hostRule, isLoopback } from "./request-guard.ts";
import { ServerLog, type LogFormat, type LogLevel } from "./request-log.ts";
import { OngoingWork } from "./ongoing-work.ts";

export interface HttpServerParts {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly place: ListenPlace;
  /** Names besides its own by which requests may reach it, such as that of a proxy. */
  readonly allowedHosts: readonly string[];
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
  readonly log: (line: string) => void;
  /** Called once, when requests are answered. */
  readonly ready: (url: string) => void;
  /** Runs in the same process from then on, until the signal, and says things in the server's log. */
  readonly beside: (say: (level: "info" | "warning", text: string) => void) => Promise<void>;
  readonly signal: AbortSignal;
  /** How long operations may go on when the server stops. */
  readonly patienceMs: number;
  /** How often streams get a sign of life, and their tokens are looked at again. */
  readonly heartbeatMs?: number;
  /** Limits of one connection; those of the tests are shorter. */
  readonly limits?: Partial<ConnectionLimits>;
}

interface ConnectionLimits {
  readonly requestTimeout: number;
  readonly headersTimeout: number;
  readonly connectionsCheckingInterval: number;
}

const HEARTBEAT_MS = 15_000;

export async function serveHttp(parts: HttpServerParts): Promise<void> {
  const { agents, place } = parts;
  await requireTokenFor(agents, place);
  await asOnlyServer(agents.paths.dataDir, async (announce) => {
    const log = new ServerLog({
      write: parts.log,
      format: parts.logFormat,
      level: parts.logLevel,
      environment: parts.environment,
    });
    const [authority, work] = [new Authority(agents), new OngoingWork()];
    const failed = (error: unknown): void => log.say("error", `the events failed: ${String(error)}`);
    const hub = new EventHub({
      agents,
      isValid: async (token) => (await authority.check(token)) !== undefined,
      failed,
    });
    await hub.start();
    const bearers = new WeakMap<IncomingMessage, string>();
    const counts = new RequestCounts();
    const hosts = hostRule({ host: place.kind === "port" ? place.host : undefined, allowed: parts.allowedHosts });
    const app = httpApp({ ...parts, authority, bearers, counts, hub, hosts, log, work });
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    const server = nodeServer(listener, parts.limits ?? {}, ({ req, statusCode: status }, seconds) => {
      counts.add(String(req.method), status, seconds);
      const path = String(req.url).split("?", 1).join("").slice(0, 200);
      const token = bearers.get(req) ?? "-";
      log.say("info", "request", { method: String(req.method), path, status, ms: Math.round(seconds * 1000), token });
    });
    const beat = setInterval(() => void hub.beat().catch(failed), parts.heartbeatMs ?? HEARTBEAT_MS);
    try {
      const url = await listen(server, place);
      announce({ pid: process.pid, url, startedAt: Date.now() }, authority.localToken);
      log.say("info", "listening", { url });
      parts.ready(url);
      await Promise.all([aborted(parts.signal), parts.beside((level, text) => log.say(level, text))]);
      log.say("info", "stopping", { running: work.running });
    } finally {
      clearInterval(beat);
      await stop(server, { hub, work, patienceMs: parts.patienceMs });
    }
  });
}

type Listener = Parameters<typeof createServer>[1];

type Told = (response: ServerResponse, seconds: number) => void;

function nodeServer(
  listener: ReturnType<typeof getRequestListener>,
  more: Partial<ConnectionLimits>,
  told: Told,
): Server {
  // A body may come slowly, but not for ever; headers must come at once.
  const limits = {
    requestTimeout: 30_000,
    headersTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 5_000,
    maxHeaderSize: 16 * 1024,
    ...more,
  };
  const onRequest: Listener = (request, response) => {
    const begun = performance.now();
    response.once("close", () => told(response, (performance.now() - begun) / 1000));
    void listener(request, response);
  };
  const server = createServer(limits, onRequest);
  server.maxRequestsPerSocket = 1_000;
  return server;
}

async function stop(
  server: Server,
  { hub, work, patienceMs }: { readonly hub: EventHub; readonly work: OngoingWork; readonly patienceMs: number },
): Promise<void> {
  work.stop();
  const closed = new Promise((resolve) => server.close(resolve));
  await hub.close();
  await work.end(patienceMs);
  // Answers that are on their way are sent; connections without a request end.
  server.closeIdleConnections();
  const grace = setTimeout(() => server.closeAllConnections(), 1_000);
  await closed;
  clearTimeout(grace);
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** Another machine has no other way in than a token; one must be there before the door is opened. */
async function requireTokenFor(agents: CleverAgents, place: ListenPlace): Promise<void> {
  if (place.kind === "socket" || isLoopback(place.host)) return;
  const { tokens } = await agents.run("server.token.list", {});
  if (tokens.some(({ state }) => state === "valid")) return;
  throw new AgentsError("configuration", `There is no token, and without one no caller could use ${place.host}.`, {
    kept: "Nothing was started.",
    next: [nextStep("server.token.create", { role: "editor", name: "<name>" })],
  });
}
