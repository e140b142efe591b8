/**
 * The four dialects in which agents ask models, told apart by the path of a request. A request is billed (`ask`), or
 * costs nothing: it counts tokens or lists models. Every other path is refused, because its cost would not be known.
 */
import type { ProviderType } from "../../domain/settings/provider-settings.ts";

export type Dialect = "anthropic" | "chat" | "responses" | "gemini";

export interface GatewayRoute {
  readonly dialect: Dialect;
  readonly kind: "ask" | "count" | "list";
  /** Of Gemini, which names the model in the path. */
  readonly model?: string;
  /** Behind the endpoint of the provider; `{model}` stands for the model. */
  readonly upstream: string;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const POSTED: readonly (readonly [RegExp, GatewayRoute])[] = [
  [/^\/(?:v1\/)?messages$/, { dialect: "anthropic", kind: "ask", upstream: "/messages" }],
  [/^\/(?:v1\/)?messages\/count_tokens$/, { dialect: "anthropic", kind: "count", upstream: "/messages/count_tokens" }],
  [/^\/(?:v1\/)?chat\/completions$/, { dialect: "chat", kind: "ask", upstream: "/chat/completions" }],
  [/^\/(?:v1\/)?responses$/, { dialect: "responses", kind: "ask", upstream: "/responses" }],
  [
    /^\/(?:v1\/)?responses\/input_tokens$/,
    { dialect: "responses", kind: "count", upstream: "/responses/input_tokens" },
  ],
];
const GEMINI = /^\/v1(?:beta|alpha)?\/models\/([^/:]{1,200}):(generateContent|streamGenerateContent|countTokens)$/;
const LIST = /^\/(?:v1(?:beta|alpha)?\/)?models(?:\/[\w.:@-]{1,200})?$/;

/** Undefined for a path that the gateway does not serve. */
export function routeOf(method: string, path: string, headers: Headers): GatewayRoute | undefined {
  if (method === "GET" && LIST.test(path)) {
    const upstream = path.slice(path.indexOf("/models"));
    return { dialect: dialectOf(path, headers), kind: "list", upstream };
  }
  if (method !== "POST") return undefined;
  const [, model = "", verb = ""] = GEMINI.exec(path) ?? [];
  if (verb === "") return POSTED.find(([pattern]) => pattern.test(path))?.[1];
  const kind = verb === "countTokens" ? "count" : "ask";
  return { dialect: "gemini", kind, model: decoded(model), upstream: `/models/{model}:${verb}` };
}

/** In whose form an error is told to a client whose path says little. */
export function dialectOf(path: string, headers: Headers): Dialect {
  if (/^\/v1(?:beta|alpha)\//.test(path) || GEMINI.test(path) || headers["x-goog-api-key"] !== undefined)
    return "gemini";
  if (/\/messages(?:\/|$)/.test(path) || headers["anthropic-version"] !== undefined) return "anthropic";
  return /\/responses(?:\/|$)/.test(path) ? "responses" : "chat";
}

/**
 * Endpoints that speak a dialect. Many servers of one's own speak Anthropic's and OpenAI's newer one as well; one that
 * does not says so.
 */
export const SPOKEN_BY: Readonly<Record<Dialect, readonly ProviderType[]>> = {
  anthropic: ["anthropic", "openai-compatible"],
  chat: ["openai", "openai-compatible"],
  responses: ["openai", "openai-compatible"],
  gemini: ["google"],
};

/** The provider that a dialect means when a request does not name one. */
export const USUAL_PROVIDER: Readonly<Record<Dialect, string>> = {
  anthropic: "anthropic",
  chat: "openai",
  responses: "openai",
  gemini: "google",
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
