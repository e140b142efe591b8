/** The same wish to think more or less, in the words of each provider. */
import { describe, expect, test } from "vitest";
import type { Reasoning } from "../../domain/actor/reasoning.ts";
import { callOf } from "../testing/model-world.ts";
import { providerOptions, reasoningOptions, type ReasoningOptions } from "./provider-options.ts";
import { configuredProviders, requireProvider, type Provider } from "./providers.ts";

const KEY = "k".repeat(20);
const KEYS = {
  OPENAI_API_KEY: KEY,
  ANTHROPIC_API_KEY: KEY,
  GEMINI_API_KEY: KEY,
  OPENROUTER_API_KEY: KEY,
  GOOGLE_VERTEX_API_KEY: KEY,
};
const SETTINGS = new Map([["provider.vertex.base-url", "https://vertex.example/v1"]]);

function provider(name: string): Provider {
  return requireProvider(configuredProviders(SETTINGS, KEYS), { provider: name, model: "" });
}

/** As "provider/model" would send it. */
function sent(ref: string, reasoning: Reasoning | undefined, limit?: number): ReasoningOptions {
  const slash = ref.indexOf("/");
  return reasoningOptions(provider(ref.slice(0, slash)), ref.slice(slash + 1), reasoning, limit);
}

const word = (reasoning: ReasoningOptions["reasoning"]): ReasoningOptions => ({
  ...(reasoning === undefined ? {} : { reasoning }),
  options: {},
  addedByLibrary: 0,
});
const options = (own: ReasoningOptions["options"], addedByLibrary = 0): ReasoningOptions => ({
  options: own,
  addedByLibrary,
});
const NOTHING = options({});

describe("of reasoning", () => {
  test("nothing is said where the call does not say how much", () => {
    expect(sent("openai/gpt-5", undefined)).toEqual(NOTHING);
  });

  test.each<[string, Reasoning, ReasoningOptions["reasoning"]]>([
    ["a word stays itself", "medium", "medium"],
    ["off is the library's none", "off", "none"],
    ["1,024 tokens are low", 1_024, "low"],
    ["4,095 tokens are low", 4_095, "low"],
    ["4,096 tokens are medium", 4_096, "medium"],
    ["16,383 tokens are medium", 16_383, "medium"],
    ["16,384 tokens are high", 16_384, "high"],
  ])("of models that think by a word, %s", (_, reasoning, expected) => {
    expect(sent("openai/gpt-5", reasoning)).toEqual(word(expected));
    expect(sent("anthropic/claude-opus-4-6", reasoning)).toEqual(word(expected));
    expect(sent("vertex/claude-opus-4-6", reasoning)).toEqual(word(expected));
  });

  test.each(["anthropic/claude-sonnet-4-5", "vertex/claude-opus-4-1@20250805"])(
    "%s is given a number of tokens, and none where it is off",
    (ref) => {
      const thinking = (budgetTokens: number) => options({ thinking: { type: "enabled", budgetTokens } }, budgetTokens);
      expect(sent(ref, "low")).toEqual(thinking(2_048));
      expect(sent(ref, "high")).toEqual(thinking(16_384));
      expect(sent(ref, 5_000)).toEqual(thinking(5_000));
      expect(sent(ref, "off")).toEqual(NOTHING);
    },
  );

  test("a limit of the answer keeps 1,024 tokens for the answer, and without room for more there are no thoughts", () => {
    const ref = "anthropic/claude-sonnet-4-5";
    expect(sent(ref, "high", 9_000)).toEqual(options({ thinking: { type: "enabled", budgetTokens: 7_976 } }, 7_976));
    expect(sent(ref, "high", 2_048)).toEqual(options({ thinking: { type: "enabled", budgetTokens: 1_024 } }, 1_024));
    expect(sent(ref, "high", 2_047)).toEqual(NOTHING);
  });

  test("Gemini is given a number as a number and a word as a word, at Google and at Vertex", () => {
    for (const ref of ["google/gemini-2.5-pro", "vertex/gemini-2.5-pro"]) {
      expect(sent(ref, 5_000)).toEqual(options({ thinkingConfig: { thinkingBudget: 5_000 } }));
      expect(sent(ref, "high")).toEqual(word("high"));
    }
  });

  test("OpenRouter is told in its own words", () => {
    const ref = "openrouter/anthropic/claude-sonnet-4.5";
    expect(sent(ref, "off")).toEqual(options({ reasoning: { enabled: false } }));
    expect(sent(ref, 5_000)).toEqual(options({ reasoning: { max_tokens: 5_000 } }));
    expect(sent(ref, "low")).toEqual(options({ reasoning: { effort: "low" } }));
  });
});

describe("the options of a provider", () => {
  const own = (name: string, model: string) =>
    providerOptions(provider(name), callOf({ provider: name, model }, "hi"), { a: 1 });

  test("stand under the name of the one that speaks: at Vertex, Anthropic's or Google's", () => {
    expect(own("vertex", "claude-opus-4-6")).toEqual({ anthropic: { a: 1 } });
    expect(own("vertex", "gemini-2.5-pro")).toEqual({ google: { a: 1 } });
    expect(own("google", "gemini-2.5-pro")).toEqual({ google: { a: 1 } });
    expect(own("openrouter", "a/b")).toEqual({ openrouter: { a: 1 } });
  });

  test("tell OpenAI to store nothing, and the author's own words go before that", () => {
    expect(own("openai", "gpt-5")).toEqual({ openai: { store: false, strictJsonSchema: false, a: 1 } });
    const settings = { providerOptions: { a: 2, strictJsonSchema: true } };
    const call = callOf({ provider: "openai", model: "gpt-5" }, "hi", { settings, cacheKey: "p1" });
    expect(providerOptions(provider("openai"), call, { a: 1 })).toEqual({
      openai: { store: false, strictJsonSchema: true, promptCacheKey: "p1", a: 2 },
    });
  });
});
