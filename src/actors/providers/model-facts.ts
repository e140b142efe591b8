import type { Price, ProviderType } from "../../domain/settings/provider-settings.ts";

/**
 * Public facts about well-known models: list prices in dollars per million tokens, how much they write at most, how
 * much they read. Gathered from several public lists in November 2026, not from the companies themselves, and only
 * where the lists agree. Prices change, so `provider.<name>.prices` goes before them; a model that is not here has no
 * known price, rather than a price of nothing.
 */
export interface ModelFacts {
  readonly price: Price;
  readonly maxOutputTokens: number;
  readonly contextWindow: number;
}

const OPENAI: Readonly<Record<string, ModelFacts>> = {
  "gpt-5.4": facts(2.5, 15, 0.25, 128_000, 1_050_000),
  "gpt-5.4-mini": facts(0.75, 4.5, 0.075, 128_000, 400_000),
  "gpt-5.4-nano": facts(0.2, 1.25, 0.02, 128_000, 400_000),
  "gpt-5": facts(1.25, 10, 0.125, 128_000, 400_000),
  "gpt-5-mini": facts(0.25, 2, 0.025, 128_000, 400_000),
  "gpt-5-nano": facts(0.05, 0.4, 0.005, 128_000, 400_000),
  "gpt-4.1": facts(2, 8, 0.5, 32_768, 1_047_576),
  "gpt-4.1-mini": facts(0.4, 1.6, 0.1, 32_768, 1_047_576),
  "gpt-4.1-nano": facts(0.1, 0.4, 0.025, 32_768, 1_047_576),
  "gpt-4o": facts(2.5, 10, 1.25, 16_384, 128_000),
  "gpt-4o-mini": facts(0.15, 0.6, 0.075, 16_384, 128_000),
  "o4-mini": facts(1.1, 4.4, 0.275, 100_000, 200_000),
};

const ANTHROPIC: Readonly<Record<string, ModelFacts>> = {
  "claude-opus-4-7": facts(5, 25, 0.5, 128_000, 200_000),
  "claude-opus-4-6": facts(5, 25, 0.5, 128_000, 200_000),
  "claude-sonnet-4-6": facts(3, 15, 0.3, 64_000, 200_000),
  "claude-haiku-4-5": facts(1, 5, 0.1, 64_000, 200_000),
  "claude-sonnet-4-5": facts(3, 15, 0.3, 64_000, 200_000),
  "claude-opus-4-1": facts(15, 75, 1.5, 32_000, 200_000),
  "claude-opus-4-0": facts(15, 75, 1.5, 32_000, 200_000),
  "claude-sonnet-4-0": facts(3, 15, 0.3, 64_000, 200_000),
};

/** Prompts of more than 200,000 tokens cost more with some: the higher price is taken, so that no budget is passed. */
const GOOGLE: Readonly<Record<string, ModelFacts>> = {
  "gemini-3.1-pro-preview": facts(4, 18, 0.4, 65_536, 1_048_576),
  "gemini-3-flash-preview": facts(0.5, 3, 0.05, 65_536, 1_048_576),
  "gemini-2.5-pro": facts(2.5, 15, 0.625, 65_536, 1_048_576),
  "gemini-2.5-flash": facts(0.3, 2.5, 0.075, 65_536, 1_048_576),
  "gemini-2.5-flash-lite": facts(0.1, 0.4, 0.025, 65_536, 1_048_576),
};

const TABLES: Readonly<Partial<Record<ProviderType, Readonly<Record<string, ModelFacts>>>>> = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  google: GOOGLE,
};

export function knownModels(type: ProviderType): readonly string[] {
  return Object.keys(TABLES[type] ?? {});
}

/** By name, also of a dated version of it ("gpt-4o-2024-11-20", "claude-sonnet-4-20250514"). */
export function modelFacts(type: ProviderType, model: string): ModelFacts | undefined {
  const table = TABLES[type] ?? {};
  const undated = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  for (const name of [model, undated, `${undated}-0`]) {
    if (Object.hasOwn(table, name)) return table[name];
  }
  return undefined;
}

function facts(
  input: number,
  output: number,
  cachedInput: number,
  maxOutputTokens: number,
  contextWindow: number,
): ModelFacts {
  return { price: { input, output, cachedInput }, maxOutputTokens, contextWindow };
}
