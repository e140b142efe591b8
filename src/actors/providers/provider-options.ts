/** The wishes of a call to its provider beyond the prompt, in the provider's own words. */
import type { Reasoning } from "../../domain/actor/reasoning.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelCall } from "../models/model.ts";
import type { Provider } from "./providers.ts";
import type { ProviderOptions, StreamOptions } from "./sdk-types.ts";

export interface ReasoningOptions {
  /** The library's word for it, which it translates for each model. */
  readonly reasoning?: StreamOptions["reasoning"];
  readonly options: JsonObject;
  /** Tokens that the library adds to the limit of the answer by itself. */
  readonly addedByLibrary: number;
}

/**
 * Tokens for a word, of models that think by a number. They are part of the answer's limit, of which most is left for
 * the answer.
 */
const BUDGETS = { low: 2_048, medium: 8_192, high: 16_384 } as const;

/** From so many tokens on a number stands for the word, with models that think by a word. */
const MEDIUM_FROM = 4_096;
const HIGH_FROM = 16_384;

/** Claude up to 4.5 thinks by a number of tokens; later ones decide for themselves, by a word. */
const BY_BUDGET = /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015](?!\d)|-\d{8}|@|$))/;

/** Of the answer's limit this much at least is for the answer itself. */
const ANSWER_TOKENS = 1_024;

export function reasoningOptions(
  provider: Provider,
  model: string,
  reasoning: Reasoning | undefined,
  limit: number | undefined,
): ReasoningOptions {
  if (reasoning === undefined) return { options: {}, addedByLibrary: 0 };
  const word = typeof reasoning === "number" ? wordFor(reasoning) : reasoning === "off" ? "none" : reasoning;
  const plain: ReasoningOptions = { reasoning: word, options: {}, addedByLibrary: 0 };
  const speaksAnthropic = provider.type === "anthropic" || provider.type === "vertex";
  if (speaksAnthropic && BY_BUDGET.test(model)) {
    if (reasoning === "off") return { options: {}, addedByLibrary: 0 };
    const wanted = typeof reasoning === "number" ? reasoning : BUDGETS[reasoning];
    const budgetTokens = Math.min(wanted, (limit ?? Number.POSITIVE_INFINITY) - ANSWER_TOKENS);
    // A limit without room for thoughts is for a short answer.
    if (budgetTokens < 1_024) return { options: {}, addedByLibrary: 0 };
    return { options: { thinking: { type: "enabled", budgetTokens } }, addedByLibrary: budgetTokens };
  }
  const speaksGoogle = provider.type === "google" || (provider.type === "vertex" && !model.startsWith("claude-"));
  if (speaksGoogle && typeof reasoning === "number")
    return { options: { thinkingConfig: { thinkingBudget: reasoning } }, addedByLibrary: 0 };
  if (provider.name === "openrouter") {
    const own =
      reasoning === "off"
        ? { enabled: false }
        : typeof reasoning === "number"
          ? { max_tokens: reasoning }
          : { effort: reasoning };
    return { options: { reasoning: own }, addedByLibrary: 0 };
  }
  return plain;
}

/**
 * OpenAI keeps what it is sent for thirty days unless told not to, and refuses a schema that leaves any property out
 * unless told to be lenient: ours are checked by us. The words of an actor's author go before all of it.
 */
export function providerOptions(provider: Provider, call: ModelCall, reasoning: JsonObject): ProviderOptions {
  const { cacheKey } = call;
  const own = call.settings.providerOptions ?? {};
  const group = groupOf(provider, call.model.model);
  const openai: Record<string, JsonValue> = {
    store: false,
    strictJsonSchema: false,
    ...(cacheKey === undefined ? {} : { promptCacheKey: cacheKey }),
  };
  return {
    [group]: {
      ...(provider.type === "openai" || provider.type === "azure" ? openai : {}),
      ...reasoning,
      ...own,
    },
  };
}

/** The name under which the library looks for the options of a provider. */
function groupOf({ type, name }: Provider, model: string): string {
  if (type === "openai-compatible") return name;
  if (type === "vertex") return model.startsWith("claude-") ? "anthropic" : "google";
  return type;
}

function wordFor(tokens: number): "low" | "medium" | "high" {
  return tokens >= HIGH_FROM ? "high" : tokens >= MEDIUM_FROM ? "medium" : "low";
}
