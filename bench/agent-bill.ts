/**
 * The bill of a conversation: the tokens of all its requests by one tokenizer, the part that the provider would have
 * read from its cache, and the price of all that by one price list, whichever provider the agent asked.
 */
import { PromptCache } from "../src/actors/testing/wires/prompt-cache.ts";
import { tokenizerNamed } from "../src/context/tokens/tokenizer.ts";
import type { Exchange } from "./agent-model.ts";
import type { Piece } from "./agent-prompts.ts";

/** Dollars for a million tokens: those of Claude Sonnet. */
const PRICE = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 } as const;

export interface Bill {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly dollars: number;
  /** Where the tokens of all requests are. */
  readonly parts: Readonly<Record<Piece["part"], number>>;
}

const counted = new Map<string, number>();

export function countTokens(text: string): number {
  const known = counted.get(text);
  if (known !== undefined) return known;
  const count = text === "" ? 0 : tokenizerNamed("o200k_base")(text);
  counted.set(text, count);
  return count;
}

export function billOf(exchanges: readonly Exchange[]): Bill {
  const cache = new PromptCache(countTokens);
  const parts = { tools: 0, system: 0, user: 0, assistant: 0, result: 0 };
  let [input, cached, output, millionths] = [0, 0, 0, 0];
  for (const { prompt, answer } of exchanges) {
    const { pieces, cacheKey } = prompt;
    // Anthropic keeps only what is marked; the others keep what they have seen.
    const used =
      prompt.wire === "anthropic"
        ? cache.marked(pieces)
        : cache.prefixed(pieces.map(({ text }) => text).join("\n"), cacheKey);
    const written = countTokens(answer);
    input += used.input;
    cached += used.cacheRead;
    output += written;
    millionths +=
      (used.input - used.cacheRead - used.cacheWrite) * PRICE.input +
      used.cacheRead * PRICE.cacheRead +
      used.cacheWrite * PRICE.cacheWrite +
      written * PRICE.output;
    for (const { part, text } of pieces) parts[part] += countTokens(text);
  }
  return { requests: exchanges.length, input, cached, output, dollars: millionths / 1_000_000, parts };
}
