/**
 * The variables of an agent that works through the gateway: the addresses and the token of this run in the names that
 * agents read, and none of the keys that are worth something elsewhere. Variables that send an agent past the gateway
 * are taken out too.
 */
import type { Environment } from "../../domain/values/environment.ts";
import type { Provider } from "../providers/providers.ts";
import type { Gateway } from "./gateway-server.ts";

/** Logins and switches of agents, besides the keys of providers. */
const PAST_THE_GATEWAY: ReadonlySet<string> = new Set([
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CODE_USE_BEDROCK",
  "CLAUDE_CODE_USE_VERTEX",
  "CLAUDE_CODE_USE_FOUNDRY",
  "CODEX_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_GENAI_USE_GCA",
]);

/** The addresses and the token, by the names that agents read. */
export function gatewayVariables({ url, token }: Pick<Gateway, "url" | "token">): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: token,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: token,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: token,
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: token,
  };
}

/** `providers` are all that have a name, whether they can be asked or not. */
export function agentEnvironment(
  environment: Environment,
  providers: readonly Provider[],
  gateway: Pick<Gateway, "url" | "token">,
): Record<string, string> {
  const names = new Set(providers.flatMap(({ keyVariables }) => keyVariables));
  const keys = new Set(providers.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey.reveal()])));
  const kept = Object.entries(environment).flatMap(([name, value]): [string, string][] =>
    value === undefined || names.has(name) || PAST_THE_GATEWAY.has(name) || keys.has(value) ? [] : [[name, value]],
  );
  const own = Object.fromEntries(kept);
  // Through a proxy the gateway cannot be reached.
  const direct = [own["NO_PROXY"] ?? own["no_proxy"], "127.0.0.1", "localhost"].filter(Boolean).join(",");
  return { ...own, NO_PROXY: direct, no_proxy: direct, ...gatewayVariables(gateway) };
}
