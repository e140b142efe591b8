/**
 * Makes the cost of a request known before it is sent: its answer gets a limit, thinking fits below that, options that
 * raise the price are taken out, and an OpenAI chat is told to say what it used. Agents ask for 128,000 tokens of
 * output, or name no limit at all; to reserve that would take two to six dollars for each request.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { ProviderType } from "../../domain/settings/provider-settings.ts";
import type { Dialect } from "./dialects.ts";
import { RefusedRequestError } from "./refusals.ts";
import { countAt, listAt, objectAt, spelling, textAt, without } from "./request-values.ts";

export interface LimitedRequest {
  readonly body: JsonObject;
  /** The most that the answer can have. */
  readonly outputTokens: number;
}

/** `most` is the longest answer that is allowed. */
export function limitedRequest(
  dialect: Dialect,
  request: JsonObject,
  { most, type }: { readonly most: number; readonly type: ProviderType },
): LimitedRequest {
  const body = atUsualPrice(dialect, request);
  switch (dialect) {
    case "anthropic": {
      const limit = Math.min(countAt(body, "max_tokens") ?? most, most);
      return { body: withThinking({ ...body, max_tokens: limit }, limit), outputTokens: limit };
    }
    case "chat":
      return limitedChat(body, most, type);
    case "responses": {
      const limit = Math.min(countAt(body, "max_output_tokens") ?? most, most);
      return { body: { ...body, max_output_tokens: limit }, outputTokens: limit };
    }
    case "gemini":
      return limitedGemini(body, most);
  }
}

function limitedChat(body: JsonObject, most: number, type: ProviderType): LimitedRequest {
  const usual = type === "openai" ? "max_completion_tokens" : "max_tokens";
  const given = ["max_tokens", "max_completion_tokens"].filter((key) => countAt(body, key) !== undefined);
  const keys = given.length === 0 ? [usual] : given;
  const limits = keys.map((key) => [key, Math.min(countAt(body, key) ?? most, most)] as const);
  const limit = Math.max(...limits.map(([, one]) => one));
  const options = objectAt(body, "stream_options") ?? {};
  return {
    body: {
      ...body,
      ...Object.fromEntries(limits),
      ...(body["stream"] === true ? { stream_options: { ...options, include_usage: true } } : {}),
    },
    outputTokens: limit * (countAt(body, "n") ?? 1),
  };
}

function limitedGemini(body: JsonObject, most: number): LimitedRequest {
  const key = spelling(body, "generationConfig", "generation_config");
  const config = objectAt(body, key) ?? {};
  const limitKey = spelling(config, "maxOutputTokens", "max_output_tokens");
  const limit = Math.min(countAt(config, limitKey) ?? most, most);
  const thinkingKey = spelling(config, "thinkingConfig", "thinking_config");
  const thinking = objectAt(config, thinkingKey);
  const budgetKey = spelling(thinking ?? {}, "thinkingBudget", "thinking_budget");
  const budget = countAt(thinking ?? {}, budgetKey);
  const lowered =
    thinking === undefined || budget === undefined || budget < limit
      ? {}
      : { [thinkingKey]: { ...thinking, [budgetKey]: Math.floor(limit * THINKING_SHARE) } };
  const answers = countAt(config, spelling(config, "candidateCount", "candidate_count")) ?? 1;
  return {
    body: { ...body, [key]: { ...config, [limitKey]: limit, ...lowered } },
    outputTokens: limit * answers,
  };
}

/** Some of the answer is left for words. */
const THINKING_SHARE = 0.75;
/** Anthropic refuses less. */
const LEAST_THINKING = 1_024;

function withThinking(body: JsonObject, limit: number): JsonObject {
  const thinking = objectAt(body, "thinking");
  const budget = thinking === undefined ? undefined : countAt(thinking, "budget_tokens");
  if (thinking === undefined || budget === undefined || budget < limit) return body;
  if (limit <= LEAST_THINKING) return { ...body, thinking: { type: "disabled" } };
  const lowered = Math.max(LEAST_THINKING, Math.floor(limit * THINKING_SHARE));
  return { ...body, thinking: { ...thinking, budget_tokens: lowered } };
}

/**
 * Faster or longer kept for more money than the list price, or answered by a model that was not asked for: OpenRouter's
 * `models` and `route`.
 */
const DEARER = ["speed", "inference_geo", "models", "route", "fallbacks"];
const USUAL_TIERS: ReadonlySet<JsonValue | undefined> = new Set(["default", "flex", "standard_only"]);

function atUsualPrice(dialect: Dialect, request: JsonObject): JsonObject {
  const tier = USUAL_TIERS.has(request["service_tier"]) ? [] : ["service_tier"];
  const body = without(request, [...DEARER, ...tier]);
  refuseOtherAnswers(dialect, body);
  // An hour in the cache costs twice the input, five minutes the price that is known.
  return dialect === "anthropic" ? cachedShortly(body) : body;
}

function cachedShortly(body: JsonObject): JsonObject {
  const walk = (value: JsonValue, key: string): JsonValue => {
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => walk(item, ""));
    // Parameters of calls are the agent's own.
    if (!isJsonObject(value) || key === "input" || key === "input_schema") return value;
    if (key === "cache_control") return without(value, ["ttl"]);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, name)]));
  };
  const walked = walk(body, "");
  return isJsonObject(walked) ? walked : body;
}

/** Sound and images cost other prices than text. */
function refuseOtherAnswers(dialect: Dialect, body: JsonObject): void {
  const config = objectAt(body, spelling(body, "generationConfig", "generation_config")) ?? {};
  const wanted =
    dialect === "gemini"
      ? listAt(config, spelling(config, "responseModalities", "response_modalities"))
      : listAt(body, "modalities");
  const other = (wanted ?? []).find((one) => typeof one !== "string" || one.toLowerCase() !== "text");
  if (other !== undefined) throw new RefusedRequestError(400, "The gateway passes on answers of text only.");
  if (textAt(body, "background") !== undefined || body["background"] === true)
    throw new RefusedRequestError(400, "The gateway cannot see the end of an answer that is made in the background.");
}
