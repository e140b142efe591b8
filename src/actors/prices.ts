import type { Price } from "../domain/provider-settings.ts";
import type { Microdollars, ModelCall, ModelUsage, UpperBound } from "./model.ts";
import { modelFacts } from "./model-facts.ts";
import type { Provider } from "./providers.ts";

/** What calls cost. `CountTokens` is a real tokenizer of the model's family. */
export type CountTokens = (text: string, model: string) => number;

/** The user's price, else the published one; models on one's own machine and scripted ones are free. */
export function priceOf(provider: Provider, model: string): Price | undefined {
  const own = provider.prices.get(model) ?? provider.prices.get("*");
  if (own !== undefined) return own;
  if (provider.local) return { input: 0, output: 0 };
  return modelFacts(provider.type, model)?.price;
}

export function costOf(provider: Provider, model: string, usage: ModelUsage): Microdollars | undefined {
  const price = priceOf(provider, model);
  if (price === undefined) return undefined;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const fresh = usage.inputTokens - cached;
  return up(fresh * price.input + cached * (price.cachedInput ?? price.input) + usage.outputTokens * price.output);
}

/** What providers put around each message and each tool, in tokens; generous. */
const AROUND_MESSAGE = 16;
const AROUND_TOOL = 32;

/** Tokenizers that are not public write the same text with up to a third more tokens than the one we count with. */
const OTHER_TOKENIZER = 1.4;

/** The most one try of this call can cost. Tries that fail may be billed as well: see `ModelAttempt.usage`. */
export function upperBoundOf(provider: Provider, call: ModelCall, count: CountTokens): UpperBound {
  const { model } = call.model;
  const counted = countInput(call, count);
  const inputTokens = provider.type === "openai" ? counted : Math.ceil(counted * OTHER_TOKENIZER);
  const outputTokens = maxOutputTokens(provider, call);
  const price = priceOf(provider, model);
  const free = price?.input === 0 && price.output === 0;
  if (free) return { inputTokens, outputTokens, cost: 0 };
  if (price === undefined || outputTokens === undefined) return { inputTokens, outputTokens, cost: undefined };
  return { inputTokens, outputTokens, cost: up(inputTokens * price.input + outputTokens * price.output) };
}

/** What the call asks for, else what the model can at all. It is sent along, so that the bound holds. */
export function maxOutputTokens(provider: Provider, call: ModelCall): number | undefined {
  const limit = modelFacts(provider.type, call.model.model)?.maxOutputTokens;
  return call.settings.maxOutputTokens ?? limit;
}

/** Everything the model reads, by the tokenizer. */
export function countInput(call: ModelCall, count: CountTokens): number {
  const of = (text: string): number => (text === "" ? 0 : count(text, call.model.model));
  let tokens = AROUND_MESSAGE + of(call.system);
  for (const message of call.messages) {
    tokens += AROUND_MESSAGE;
    if (message.role === "tool") {
      tokens +=
        of(message.tool) + of(typeof message.output === "string" ? message.output : JSON.stringify(message.output));
      continue;
    }
    tokens += of(message.content);
    if (message.role === "assistant") {
      for (const one of message.toolCalls) tokens += AROUND_TOOL + of(one.tool) + of(one.raw);
    }
  }
  for (const tool of call.tools) {
    tokens += AROUND_TOOL + of(tool.name) + of(tool.description) + of(JSON.stringify(tool.parameters));
  }
  if (call.responseSchema !== undefined) tokens += AROUND_TOOL + of(JSON.stringify(call.responseSchema));
  return tokens;
}

/** Dollars per million tokens times tokens is millionths of a dollar. Binary fractions must not make 7 of 7.000000001. */
function up(microdollars: number): Microdollars {
  return Math.ceil(Number(microdollars.toFixed(6)));
}
