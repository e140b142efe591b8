/**
 * The server of the Model Context Protocol that gives plans to other people's agents. Operations of the table are its
 * tools, plans are its resources. One factory serves both versions of the protocol, over standard input and output and
 * over HTTP; the work that its clients began is shared by all servers of the factory.
 */
import { randomBytes } from "node:crypto";
import type { McpRequestContext, Server } from "@modelcontextprotocol/server";
import { VERSION } from "../app/base/package-version.ts";
import type { CleverAgents } from "../app/open.ts";
import type { NextStep } from "../domain/errors/next-step.ts";
import type { Environment } from "../domain/values/environment.ts";
import type { SeenApproval } from "./approval.ts";
import { callTool, type CallParts, type PlanChoices, type Connection } from "./call-tool.ts";
import { RequestClient, type Codec, type McpProtocol } from "./client.ts";
import { markedTools } from "./marked-tools.ts";
import { RunningPlans } from "./running-plans.ts";
import { listedResources, readResource, TEMPLATES } from "./plan-resources.ts";

export interface ServedPlansParts {
  readonly agents: CleverAgents;
  /** Its secrets are masked in errors. */
  readonly environment: Environment;
  /** A next step that is not a tool, as a command for the user. */
  readonly spell: (step: NextStep) => string;
  readonly log: (text: string) => void;
  /** Only the tools that read. */
  readonly readOnly: boolean;
  readonly options: PlanChoices;
  /** Where clients work that do not say where; undefined for clients elsewhere. */
  readonly directory: string | undefined;
}

export interface ServedPlans extends AsyncDisposable {
  readonly protocol: McpProtocol;
  readonly factory: (context: McpRequestContext) => Server;
}

const INSTRUCTIONS = `Plans: changes to repositories that CleverAgents carries out in sandboxes, checks, applies and undoes.
1. run begins a plan for a request in words and answers with its id; plan_wait waits for it.
2. When it waits for an answer (awaiting_input), plan_prompt gives one; when it waits with a strategy, plan_execute agrees to it; plan_resume continues what stopped.
3. plan_diff shows the changes and the version of the plan. Nothing is in the user's files yet.
4. plan_apply, after the user's yes, with that version. plan_undo takes the changes out again; later changes by others stay.`;

/** The offer does not change while the server runs. */
const LASTING = { ttlMs: 3_600_000, cacheScope: "public" } as const;

/** `isLasting`: each server of the factory serves one client to its end. */
export async function servedPlans(parts: ServedPlansParts, isLasting: boolean): Promise<ServedPlans> {
  const protocol = await import("@modelcontextprotocol/server");
  const tools = await markedTools(parts.readOnly);
  const runningPlans = new RunningPlans(parts.agents);
  const codec = protocol.createRequestStateCodec<SeenApproval>({
    key: randomBytes(32),
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ""}`,
  });
  const factory = (): Server => {
    const connection: Connection = { isLasting, roots: undefined };
    return serverOf({ ...parts, protocol, tools, runningPlans, codec, connection });
  };
  return { protocol, factory, [Symbol.asyncDispose]: () => runningPlans.close() };
}

interface ServedParts extends CallParts {
  readonly protocol: McpProtocol;
  readonly codec: Codec;
}

function serverOf(parts: ServedParts): Server {
  const { protocol, tools, codec, connection } = parts;
  const server = new protocol.Server(
    { name: "cleveragents", title: "CleverAgents", version: VERSION },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      requestState: { verify: (state, context) => codec.verify(state, context) },
      cacheHints: { "tools/list": LASTING, "resources/templates/list": LASTING, "server/discover": LASTING },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: [...tools.values()].map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      const message = `There is no tool "${params.name.slice(0, 100)}".`;
      throw new protocol.ProtocolError(protocol.ProtocolErrorCode.InvalidParams, message);
    }
    const capabilities = server.getClientCapabilities();
    const client = new RequestClient({ protocol, codec, context, capabilities });
    return callTool(tool, params.arguments ?? {}, client, parts);
  });
  server.setNotificationHandler("notifications/roots/list_changed", () => {
    connection.roots = undefined;
  });
  server.setRequestHandler("resources/list", async () => ({ resources: await listedResources(parts) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const found = await readResource(uri, parts);
    if (found === undefined) throw new protocol.ResourceNotFoundError(uri);
    return { contents: [found] };
  });
  return server;
}
