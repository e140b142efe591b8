/** The routes of the server. Everything but the three health routes needs a token. */
import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { Hono, type Context } from "hono";
import type { TableEntry } from "../app/base/operation.ts";
import { isOperation, OPERATIONS, type OperationName } from "../app/table/operation-table.ts";
import type { CleverAgents } from "../app/open.ts";
import { AgentsError, NotFoundError } from "../domain/errors/errors.ts";
import type { Environment } from "../domain/values/environment.ts";
import type { Authority } from "./authority.ts";
import { begin, errorAnswer, resultAnswer, type Answer, type Timed } from "./envelope.ts";
import type { EventHub } from "./event-hub.ts";
import { lastEventId, streamEvents } from "./event-stream.ts";
import type { Bearer } from "./bearer.ts";
import { readJsonObject } from "./json-body.ts";
import { callOperation, requireAllowed } from "./operation-call.ts";
import { inputOfQuery } from "./query-input.ts";
import { requireOwnHost, type HostRule } from "./request-guard.ts";
import type { ServerLog } from "./request-log.ts";
import { OPERATIONS_PATH } from "./spell.ts";
import type { OngoingWork } from "./ongoing-work.ts";

export interface HttpParts {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly authority: Authority;
  readonly hub: EventHub;
  readonly hosts: HostRule;
  readonly log: ServerLog;
  readonly work: OngoingWork;
  /** The id of the token that a request came with, for the log. */
  readonly bearers: WeakMap<IncomingMessage, string>;
}

interface Env {
  Bindings: HttpBindings;
  Variables: { readonly timed: Timed; readonly bearer: Bearer };
}

type Route = Context<Env>;

export function httpApp(parts: HttpParts): Hono<Env> {
  const app = new Hono<Env>();
  const { authority, bearers, hosts, work } = parts;
  app.onError((error, context) => respond(failed(parts, context, error)));
  app.use(async (context, next) => {
    context.set("timed", begin(""));
    requireOwnHost({ host: context.req.header("host"), origin: context.req.header("origin") }, hosts);
    await next();
  });
  app.get("/live", (context) => context.json({ status: "ok" }));
  app.get("/health", (context) => context.json({ status: "ok" }));
  app.get("/ready", (context) => {
    const ready = !work.isStopping;
    return context.json({ status: ready ? "ready" : "stopping" }, ready ? 200 : 503);
  });
  app.use(async (context, next) => {
    const { incoming } = context.env;
    const address = incoming.socket.remoteAddress ?? "";
    const bearer = await authority.identify(context.req.header("authorization"), address);
    context.set("bearer", bearer);
    bearers.set(incoming, bearer.tokenId);
    await next();
  });
  for (const [name, entry] of routedOperations()) {
    const path = `${OPERATIONS_PATH}${name}`;
    app.post(path, (context) => posted(parts, name, context));
    if (!entry.writes) app.get(path, (context) => asked(parts, name, context));
    app.all(path, () => {
      throw wrongMethodError(entry.writes ? "POST" : "GET, POST");
    });
  }
  app.get("/api/v1/events", (context) => streamed(parts, undefined, context));
  app.get("/api/v1/plans/:plan/events", (context) => streamed(parts, context.req.param("plan"), context));
  app.notFound((context) => {
    const path = context.req.path.slice(0, 200);
    const error = new NotFoundError("route", path, { next: [{ text: "GET /api/v1/openapi.json lists the routes" }] });
    return respond(failed(parts, context, error));
  });
  return app;
}

/** The operations that are routes: all that make sense away from this machine. */
export function routedOperations(): (readonly [OperationName, TableEntry])[] {
  return Object.entries<TableEntry>(OPERATIONS).flatMap(([name, entry]) =>
    entry.local === true || !isOperation(name) ? [] : [[name, entry] as const],
  );
}

async function posted(parts: HttpParts, name: OperationName, context: Route): Promise<Response> {
  // Asked first: what a caller may not do is not read.
  requireAllowed(name, context.get("bearer"));
  return answered(parts, name, context, await readJsonObject(context.env.incoming));
}

function asked(parts: HttpParts, name: OperationName, context: Route): Promise<Response> {
  requireAllowed(name, context.get("bearer"));
  const query = new URL(context.req.url).searchParams;
  return answered(parts, name, context, inputOfQuery(OPERATIONS[name], query));
}

async function answered(
  { agents, work }: HttpParts,
  name: OperationName,
  context: Route,
  given: Record<string, unknown>,
): Promise<Response> {
  const timed = { ...context.get("timed"), command: name.replaceAll(".", " ") };
  context.set("timed", timed);
  const bearer = context.get("bearer");
  const { data, messages } = await work.run((signal) => callOperation(agents, name, given, { bearer, signal }));
  return respond(resultAnswer(data, messages, timed));
}

async function streamed(parts: HttpParts, plan: string | undefined, context: Route): Promise<Response> {
  const { agents, hub, work } = parts;
  requireAllowed("events.list", context.get("bearer"));
  work.requireRunning();
  const after = lastEventId(context.req.header("last-event-id"), context.req.query("last_event_id"));
  const planId = plan === undefined ? undefined : (await agents.run("plan.status", { plan })).planId;
  await streamEvents(hub, context.env.outgoing, { planId, after });
  return new Response(null, { headers: { "x-hono-already-sent": "true" } });
}

function failed({ environment, log }: HttpParts, context: Route, error: unknown): Answer {
  return errorAnswer(error, context.get("timed"), { environment, defect: (story) => log.say("error", story) });
}

function respond({ status, headers, body }: Answer): Response {
  const always = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  const type = { "content-type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(body), { status, headers: { ...always, ...type, ...headers } });
}

function wrongMethodError(allowed: string): AgentsError {
  return new AgentsError("wrong_method", `This route takes ${allowed}.`, {
    kept: "Nothing was changed.",
    detail: { allowed },
  });
}
