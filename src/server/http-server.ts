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
import { hostRule, isLoopback } from "./request-guard.ts";
import { ServerLog, type LogFacts, type LogFormat, type LogLevel } from "./request-log.ts";
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
    const hub = new EventHub(agents, (error) => log.say("error", `the reader of events failed: ${String(error)}`));
    await hub.start();
    const bearers = new WeakMap<IncomingMessage, string>();
    const hosts = hostRule({ host: place.kind === "port" ? place.host : undefined, allowed: parts.allowedHosts });
    const app = httpApp({ ...parts, authority, bearers, hub, hosts, log, work });
    const server = nodeServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }), (request, facts) =>
      log.say("info", "request", { ...facts, token: bearers.get(request) ?? "-" }),
    );
    const beat = setInterval(() => hub.beat(), HEARTBEAT_MS);
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
      log.say("info", "stopped");
    }
  });
}

type Listener = Parameters<typeof createServer>[1];

type Told = (request: IncomingMessage, facts: LogFacts) => void;

function nodeServer(listener: ReturnType<typeof getRequestListener>, told: Told): Server {
  const limits = { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 5_000, maxHeaderSize: 16 * 1024 };
  const onRequest: Listener = (request, response) => {
    const begun = performance.now();
    response.once("close", () => told(request, requestFacts(response, begun)));
    void listener(request, response);
  };
  const server = createServer({ ...limits, connectionsCheckingInterval: 1_000 }, onRequest);
  server.maxRequestsPerSocket = 1_000;
  return server;
}

function requestFacts({ req, statusCode }: ServerResponse, begun: number): LogFacts {
  const { method = "", url = "" } = req;
  const [path = ""] = url.split("?");
  return { method, path: path.slice(0, 200), status: statusCode, ms: Math.round(performance.now() - begun) };
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
