/** A session as an agent is told of it: its tool servers, and where its model is if it takes that by the protocol. */
import * as z from "zod";
import type { ClientContext, McpServer } from "@agentclientprotocol/sdk";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { AgentSurroundings, OfferedToolServer } from "./agent-port.ts";
import type { ProtocolVersion } from "./protocol-version.ts";

/** The capabilities that matter here; drafts of the protocol are among them. */
export interface AgentCapabilities {
  readonly systemPrompt: boolean;
  readonly httpServers: boolean;
}

const Offered = z
  .object({
    mcpCapabilities: z.object({ http: z.boolean().nullish() }).nullish(),
    sessionCapabilities: z.object({ systemPrompt: z.unknown().optional() }).nullish(),
  })
  .catch({});
const OfferedIn2 = z
  .object({
    session: z.object({
      mcp: z.object({ http: z.unknown().optional() }).nullish().catch(undefined),
      systemPrompt: z.unknown().optional(),
    }),
  })
  .catch({ session: {} });

export function sessionCapabilities(given: unknown, version: ProtocolVersion): AgentCapabilities {
  if (version === 2) {
    const { session } = OfferedIn2.parse(given ?? {});
    return { systemPrompt: isThere(session.systemPrompt), httpServers: isThere(session.mcp?.http) };
  }
  const { mcpCapabilities, sessionCapabilities: ofSession } = Offered.parse(given ?? {});
  return { systemPrompt: isThere(ofSession?.systemPrompt), httpServers: mcpCapabilities?.http === true };
}

function isThere(capability: unknown): boolean {
  return capability !== undefined && capability !== null;
}

/** Tools of ours are served by HTTP. An agent that cannot use them is refused if its actor names some. */
export function offeredServers(
  { actor, toolServers }: AgentSurroundings,
  { httpServers }: AgentCapabilities,
): McpServer[] {
  if (!httpServers && (actor.tools ?? []).length > 0) {
    throw new ConfigurationError(`The agent of ${actor.name} cannot be offered tools: it takes no servers by HTTP.`, {
      kept: "Everything that was recorded is kept.",
      next: [nextStep("actor.show", { actor: actor.name })],
    });
  }
  if (!httpServers) return [];
  return toolServers.map(httpServer);
}

function httpServer({ name, url, headers }: OfferedToolServer): McpServer {
  return { type: "http", name, url, headers: Object.entries(headers).map(([key, value]) => ({ name: key, value })) };
}

const Providers = z.object({
  providers: z.array(z.object({ providerId: z.string(), supported: z.array(z.string()) })).min(1),
});

/** Only for an agent that is told its endpoint by the protocol. */
export async function setProvider(agent: ClientContext, { actor, gateway }: AgentSurroundings): Promise<void> {
  if (actor.program.agent !== undefined || actor.program.endpoint !== "providers") return;
  const { providers } = Providers.parse(await agent.request("providers/list", {}));
  const wanted = actor.provider === "anthropic" ? ["anthropic", "openai"] : ["openai", "anthropic"];
  for (const apiType of wanted) {
    const found = providers.find(({ supported }) => supported.includes(apiType));
    if (found === undefined) continue;
    await agent.request("providers/set", {
      providerId: found.providerId,
      apiType,
      baseUrl: apiType === "openai" ? `${gateway.url}/v1` : gateway.url,
      headers: apiType === "openai" ? { Authorization: `Bearer ${gateway.token}` } : { "x-api-key": gateway.token },
    });
    return;
  }
  throw new Error("it takes neither an endpoint of OpenAI's kind nor of Anthropic's");
}
