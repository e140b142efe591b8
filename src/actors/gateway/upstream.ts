/** Where a request goes: to the one configured provider it means, with that provider's own key. */
import { AgentsError } from "../../domain/errors/errors.ts";
import type { ModelRef } from "../models/model.ts";
import { copilotFetch } from "../providers/copilot.ts";
import { guardedFetch } from "../providers/guarded-fetch.ts";
import { requireProvider, type Provider } from "../providers/providers.ts";
import { SPOKEN_BY, USUAL_PROVIDER, type Dialect, type GatewayRoute } from "./dialects.ts";
import { RefusedRequestError } from "./refusals.ts";

export interface Upstream {
  readonly provider: Provider;
  readonly model: ModelRef;
}

/**
 * The model that was chosen for all requests; else the one that the request names, as `provider/model` of a provider
 * that speaks this dialect, or as a model of the dialect's usual provider.
 */
export function upstreamOf(
  dialect: Dialect,
  named: string,
  { providers, model }: { readonly providers: readonly Provider[]; readonly model: ModelRef | undefined },
): Upstream {
  const ref = model ?? namedModel(dialect, named, providers);
  const provider = providerOf(providers, ref);
  if (provider.baseUrl === undefined || !SPOKEN_BY[dialect].includes(provider.type)) {
    throw new RefusedRequestError(
      400,
      `${provider.name} is a provider of the type ${provider.type}, which is not asked in this way (${dialect}).`,
    );
  }
  return { provider, model: ref };
}

function namedModel(dialect: Dialect, named: string, providers: readonly Provider[]): ModelRef {
  const slash = named.indexOf("/");
  const prefix = named.slice(0, Math.max(slash, 0));
  const own = providers.find(({ name, type }) => name === prefix && SPOKEN_BY[dialect].includes(type));
  if (own !== undefined) return { provider: own.name, model: named.slice(slash + 1) };
  return { provider: USUAL_PROVIDER[dialect], model: named };
}

function providerOf(providers: readonly Provider[], ref: ModelRef): Provider {
  try {
    return requireProvider(providers, ref);
  } catch (error) {
    if (!(error instanceof AgentsError)) throw error;
    throw new RefusedRequestError(400, error.message);
  }
}

export interface UpstreamRequest {
  readonly route: GatewayRoute;
  /** Without the question mark. */
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/** More than the longest answer has on the wire. */
const ANSWER_BYTES = 64 * 1024 * 1024;
const LIMITS = { totalMs: 3_600_000, bytes: ANSWER_BYTES, errorBytes: 64 * 1024 };

export async function sendUpstream(upstream: Upstream, request: UpstreamRequest): Promise<Response> {
  const { provider, model } = upstream;
  const { baseUrl = "", idleTimeoutMs, exchangeUrl, apiKey } = provider;
  const guarded = guardedFetch({ model, baseUrl, idleTimeoutMs }, LIMITS);
  const send =
    exchangeUrl === undefined ? guarded : copilotFetch(guarded, { login: apiKey?.reveal(), exchangeUrl, model });
  const { route, body, signal } = request;
  return send(urlOf(upstream, request), {
    method: route.kind === "list" ? "GET" : "POST",
    headers: headersOf(provider, request.headers),
    ...(body === undefined ? {} : { body }),
    signal,
  });
}

function urlOf({ provider, model }: Upstream, { route, query }: UpstreamRequest): URL {
  const path = route.upstream.replace("{model}", () => encodeURIComponent(model.model));
  const url = new URL(`${provider.baseUrl ?? ""}${path}`);
  for (const [name, value] of query) if (name !== "key") url.searchParams.append(name, value);
  return url;
}

/** Headers of an agent that mean something to a provider. Its key is none of them: it is worth nothing there. */
const PASSED =
  /^(?:accept|content-type|user-agent|anthropic-(?:version|beta)|openai-beta|x-stainless-.+|x-goog-api-client)$/;
const ANTHROPIC_VERSION = "2023-06-01";

function headersOf({ type, apiKey }: Provider, given: UpstreamRequest["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given))
    if (PASSED.test(name) && typeof value === "string") headers.set(name, value);
  // The bytes of the answer are passed on as they come.
  headers.set("accept-encoding", "identity");
  if (type === "anthropic" && !headers.has("anthropic-version")) headers.set("anthropic-version", ANTHROPIC_VERSION);
  const key = apiKey?.reveal();
  if (key === undefined) return headers;
  if (type === "anthropic") headers.set("x-api-key", key);
  else if (type === "google") headers.set("x-goog-api-key", key);
  else headers.set("authorization", `Bearer ${key}`);
  return headers;
}
