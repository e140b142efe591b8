import { describe, expect, test } from "vitest";
import { PACKAGED_FACTS } from "../models/model-facts.ts";
import { costOf, priceOf, upperBoundOf } from "./prices.ts";
import { configuredProviders, requireProvider, type Provider } from "./providers.ts";
import { callOf, READ_FILE } from "../testing/model-world.ts";

const KEYS = {
  OPENAI_API_KEY: "k".repeat(20),
  ANTHROPIC_API_KEY: "k".repeat(20),
  GEMINI_API_KEY: "k".repeat(20),
  OPENROUTER_API_KEY: "k".repeat(20),
};

function provider(name: string, more: Readonly<Record<string, string>> = {}): Provider {
  const settings = new Map([
    ["provider.openrouter.base-url", "https://openrouter.ai/api/v1"],
    ["provider.ollama.base-url", "http://127.0.0.1:11434/v1"],
    ...Object.entries(more),
  ]);
  return requireProvider(configuredProviders(settings, KEYS), { provider: name, model: "" });
}

const MILLION = { inputTokens: 1_000_000, outputTokens: 1_000_000, estimated: false };

describe("costs", () => {
  test("are those of the published prices, in millionths of a dollar", () => {
    expect(costOf(provider("openai"), "gpt-4o", MILLION)).toBe(12_500_000);
    expect(costOf(provider("openai"), "gpt-4o-2024-11-20", MILLION)).toBe(12_500_000);
    expect(costOf(provider("anthropic"), "claude-sonnet-4-20250514", MILLION)).toBe(18_000_000);
    expect(costOf(provider("google"), "gemini-2.5-flash", { ...MILLION, outputTokens: 0 })).toBe(300_000);
    expect(costOf(provider("openai"), "gpt-4o", { ...MILLION, cachedInputTokens: 1_000_000 })).toBe(11_250_000);
  });

  test("are rounded up, never down to nothing", () => {
    expect(costOf(provider("openai"), "gpt-5-nano", { inputTokens: 1, outputTokens: 0, estimated: false })).toBe(1);
    expect(costOf(provider("openai"), "gpt-4.1", { inputTokens: 3, outputTokens: 0, estimated: false })).toBe(6);
  });

  test("are never below nothing", () => {
    const odd = { inputTokens: -1_000_000, outputTokens: -1_000_000, estimated: false };
    expect(costOf(provider("openai"), "gpt-4o", odd)).toBe(0);
  });

  test("of what is not known are not known, rather than nothing", () => {
    expect(costOf(provider("openai"), "gpt-99", MILLION)).toBeUndefined();
    expect(costOf(provider("openrouter"), "gpt-4o", MILLION)).toBeUndefined();
    expect(
      upperBoundOf(provider("openrouter"), callOf({ provider: "openrouter", model: "m" }, "hi"), () => 1).cost,
    ).toBeUndefined();
  });

  test("on one's own machine are nothing", () => {
    expect(costOf(provider("ollama"), "qwen3", MILLION)).toBe(0);
    expect(upperBoundOf(provider("ollama"), callOf({ provider: "ollama", model: "qwen3" }, "hi"), () => 1).cost).toBe(
      0,
    );
  });

  test("are the user's own where they are set", () => {
    const own = {
      "provider.openrouter.prices": "a/b=1/2.5, *=3/4",
      "provider.ollama.prices": "*=0.1/0.1",
      "provider.openai.prices": "gpt-4o=1/1",
    };
    expect(costOf(provider("openrouter", own), "a/b", MILLION)).toBe(3_500_000);
    expect(costOf(provider("openrouter", own), "other", MILLION)).toBe(7_000_000);
    expect(costOf(provider("ollama", own), "qwen3", MILLION)).toBe(200_000);
    expect(priceOf(provider("openai", own), "gpt-4o")).toEqual({ input: 1, output: 1 });
    expect(priceOf(provider("openai", own), "gpt-4o-mini")).toEqual({ input: 0.15, output: 0.6, cachedInput: 0.075 });
  });
});

describe("the most a call can cost", () => {
  const count = (text: string): number => text.length;
  const call = callOf({ provider: "openai", model: "gpt-4o" }, "x".repeat(1_000), {
    tools: [READ_FILE],
    settings: { maxOutputTokens: 100 },
  });

  test("counts all that is sent, and all it may write", () => {
    const bound = upperBoundOf(provider("openai"), call, count);
    const parameters = JSON.stringify(READ_FILE.parameters).length;
    expect(bound.inputTokens).toBeGreaterThan(1_000 + "You help.".length + parameters);
    expect(bound.outputTokens).toBe(100);
    expect(bound.cost).toBe(Math.ceil(bound.inputTokens * 2.5 + 100 * 10));
  });

  test("is the model's own limit when the call has none", () => {
    expect(upperBoundOf(provider("openai"), { ...call, settings: {} }, count).outputTokens).toBe(16_384);
  });

  test("is higher where the tokenizer is only the nearest", () => {
    const other = { ...call, model: { provider: "anthropic", model: "claude-sonnet-4-0" } };
    const own = upperBoundOf(provider("openai"), call, count).inputTokens;
    expect(upperBoundOf(provider("anthropic"), other, count).inputTokens).toBeGreaterThanOrEqual(1.35 * own);
  });

  test("grows with every message and tool", () => {
    const messages = [
      ...call.messages,
      { role: "assistant" as const, content: "a", toolCalls: [{ id: "1", tool: "t", params: {}, raw: "{}" }] },
      { role: "tool" as const, callId: "1", tool: "t", output: { a: "b".repeat(50) }, failed: false },
    ];
    const longer = upperBoundOf(provider("openai"), { ...call, messages }, count).inputTokens;
    expect(longer).toBeGreaterThan(upperBoundOf(provider("openai"), call, count).inputTokens + 50);
    const schema = upperBoundOf(provider("openai"), { ...call, responseSchema: { type: "object" } }, count).inputTokens;
    expect(schema).toBeGreaterThan(upperBoundOf(provider("openai"), call, count).inputTokens);
  });
});

test("what is known of models makes sense", () => {
  for (const type of ["openai", "anthropic", "google"] as const) {
    expect(PACKAGED_FACTS.modelsOf(type, type).length).toBeGreaterThan(2);
    for (const model of PACKAGED_FACTS.modelsOf(type, type)) {
      const facts = PACKAGED_FACTS.factsOf(type, type, model);
      const { price = { input: 0, output: 0 }, maxOutputTokens = 0, contextWindow = 0 } = facts ?? {};
      expect(price.input).toBeGreaterThan(0);
      expect(price.output).toBeGreaterThan(price.input);
      expect(price.cachedInput).toBeLessThan(price.input);
      expect(contextWindow).toBeGreaterThan(maxOutputTokens);
      expect(maxOutputTokens).toBeGreaterThan(1_000);
    }
  }
  expect(PACKAGED_FACTS.factsOf("openai", "openai", "constructor")).toBeUndefined();
});
