import { imageTokens } from "../../domain/values/image.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import type { Price } from "../../domain/settings/provider-settings.ts";
import type { AnswerPart, Microdollars, ModelCall, ModelUsage, UpperBound } from "../models/model.ts";
import type { Provider } from "./providers.ts";
import { prunedDescription, prunedSchema } from "../models/tool-schema.ts";

/** The cost of calls. `CountModelTokens` is a real tokenizer of the model's family. */
export type CountModelTokens = (text: string, model: string) => number;

/** The user's price, else the published one; models on one's own machine and scripted ones are free. */
export function priceOf(provider: Provider, model: string): Price | undefined {
  const own = provider.prices.get(model) ?? provider.prices.get("*");
  if (own !== undefined) return own;
  if (provider.local) return { input: 0, output: 0 };
  return provider.facts(model)?.price;
}

export function costOf(provider: Provider, model: string, usage: ModelUsage): Microdollars | undefined {
  const price = priceOf(provider, model);
  if (price === undefined) return undefined;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - cached);
  const cost =
    (usage.inputTokens - cached - written) * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output;
  return Math.max(0, up(cost));
}

/** The tokens that providers put around each message and each tool; a generous estimate. */
const AROUND_MESSAGE = 16;
const AROUND_TOOL = 32;

/**
 * Tokenizers that are not public write the same text with up to a third more tokens than the one we count with, or
 * fewer.
 */
const OTHER_TOKENIZER = 1.4;

/**
 * The tokens that servers of other models put before a call by themselves: their template, and how tools are called
 * (Anthropic: 346 to 530 tokens).
 */
const TEMPLATE = 128;
const TOOL_TEMPLATE = 544;

/** The most one try of this call can cost. Tries that fail may be billed as well: see `ModelAttempt.usage`. */
export function upperBoundOf(provider: Provider, call: ModelCall, count: CountModelTokens): UpperBound {
  const outputTokens = maxOutputTokens(provider, call);
  const tokens = { input: countInput(call, count), outputTokens, tools: call.tools.length > 0 };
  return boundOfTokens(provider, call.model.model, tokens);
}

/** The same of a call whose input was counted; `tools` says whether it has any. */
export function boundOfTokens(
  provider: Provider,
  model: string,
  tokens: { readonly input: number; readonly outputTokens: number | undefined; readonly tools: boolean },
): UpperBound {
  const { input, outputTokens, tools } = tokens;
  const template = TEMPLATE + (tools ? TOOL_TEMPLATE : 0);
  const inputTokens = isCounted(provider, model) ? input : Math.ceil(input * OTHER_TOKENIZER) + template;
  const price = priceOf(provider, model);
  const free = price?.input === 0 && price.output === 0;
  if (free) return { inputTokens, outputTokens, cost: 0 };
  if (price === undefined || outputTokens === undefined) return { inputTokens, outputTokens, cost: undefined };
  // Nothing of it may be in the provider's cache, and all of it may have to be written there.
  const dearest = Math.max(price.input, price.cacheWrite ?? 0);
  return { inputTokens, outputTokens, cost: up(inputTokens * dearest + outputTokens * price.output) };
}

/** Thoughts included: enough for a long file, and a model that never stops does not cost much more than one. */
const OUTPUT_TOKENS = 32_000;

/** Of a model whose own limit is not known: servers refuse a call whose answer might not fit behind its prompt. */
const CAUTIOUS_OUTPUT_TOKENS = 8_192;

/** The limit that the call asks for, else what the model can and one answer needs. It is sent, so that it holds. */
export function maxOutputTokens(provider: Provider, call: ModelCall): number | undefined {
  return call.settings.maxOutputTokens ?? knownOutputTokens(provider, call.model.model);
}

/** How long an answer of a plan's model may be where its actor does not say. */
export function planOutputTokens(provider: Provider, model: string): number {
  return knownOutputTokens(provider, model) ?? CAUTIOUS_OUTPUT_TOKENS;
}

function knownOutputTokens(provider: Provider, model: string): number | undefined {
  const limit = provider.facts(model)?.maxOutputTokens;
  return limit === undefined ? undefined : Math.min(limit, OUTPUT_TOKENS);
}

/** This many tokens by our count are more than an answer within `maxOutputTokens` can have with any tokenizer. */
export function outputLimit(provider: Provider, call: ModelCall): number | undefined {
  const asked = maxOutputTokens(provider, call);
  if (asked === undefined || isCounted(provider, call.model.model)) return asked;
  return Math.ceil(asked * OTHER_TOKENIZER);
}

/** Whether the tokenizer we count with is the model's own. */
function isCounted({ type, facts }: Provider, model: string): boolean {
  return type === "openai" && facts(model) !== undefined;
}

/**
 * The parts of the call that every model reads, in any form its provider gives them: texts, calls, results, and half of
 * each tool's schema, since some write it more briefly than JSON (OpenAI as types). Nothing around them, and no schema
 * of the answer, which some servers only steer by. Images count for nothing here: their tokens are only estimated.
 */
export function countSent(call: ModelCall, count: CountModelTokens): number {
  const of = (text: string): number => (text === "" ? 0 : count(text, call.model.model));
  let tokens = of(call.system);
  for (const message of call.messages) {
    tokens += of(message.role === "tool" ? outputText(message.output) : message.content);
    if (message.role !== "assistant") continue;
    for (const { tool, params = {} } of message.toolCalls) tokens += of(tool) + of(JSON.stringify(params));
  }
  for (const { description, parameters } of call.tools) {
    tokens += of(prunedDescription(description)) + of(JSON.stringify(prunedSchema(parameters))) / 2;
  }
  return tokens;
}

/** Everything the model reads, by the tokenizer. */
export function countInput(call: ModelCall, count: CountModelTokens): number {
  const of = (text: string): number => (text === "" ? 0 : count(text, call.model.model));
  let tokens = AROUND_MESSAGE + of(call.system);
  for (const message of call.messages) {
    tokens += AROUND_MESSAGE;
    if (message.role === "tool") {
      tokens += of(message.tool) + of(outputText(message.output));
      continue;
    }
    tokens += of(message.content);
    if (message.role === "user") tokens += (message.images ?? []).reduce((sum, image) => sum + imageTokens(image), 0);
    if (message.role === "assistant") {
      for (const one of message.toolCalls) tokens += AROUND_TOOL + of(one.tool) + of(one.raw);
      for (const part of message.original?.parts ?? [])
        if (part.type === "reasoning") tokens += thoughtTokens(part, of);
    }
  }
  for (const tool of call.tools) {
    tokens += AROUND_TOOL + of(tool.name) + of(tool.description) + of(JSON.stringify(tool.parameters));
  }
  if (call.responseSchema !== undefined) tokens += AROUND_TOOL + of(JSON.stringify(call.responseSchema));
  return tokens;
}

/** A thought may be there as text, in a form that only the provider can read, or both: the longer one covers it. */
function thoughtTokens(part: Extract<AnswerPart, { text: string }>, of: (text: string) => number): number {
  return Math.max(of(part.text), part.providerData === undefined ? 0 : of(JSON.stringify(part.providerData)));
}

function outputText(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}

/**
 * Dollars per million tokens times tokens is millionths of a dollar. Binary fractions must not make 7 of 7.000000001.
 */
function up(microdollars: number): Microdollars {
  return Math.ceil(Number(microdollars.toFixed(6)));
}
