import { expect, test } from "vitest";
import { parseActor } from "../../domain/actor/actor-parser.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { builtInActor } from "./built-in-actors.ts";
import { modelOf } from "./actor-model.ts";
import { configuredProviders } from "./providers.ts";

const LOCAL = { base_url: "http://127.0.0.1:1/v1/" };

function actor(more: object) {
  return parseActor({ name: "x", type: "llm", description: "x", ...more });
}

test.each<[string, object, object, object]>([
  ["what the actor says", { provider: "openai", model: "gpt-4o" }, {}, { provider: "openai", model: "gpt-4o" }],
  [
    "the one that the caller names",
    { provider: "openai", model: "gpt-4o" },
    { provider: "Ollama", model: "qwen3" },
    { provider: "ollama", model: "qwen3" },
  ],
  [
    "another model of its provider",
    { provider: "openrouter", model: "a/b" },
    { model: "c/d" },
    { provider: "openrouter", model: "c/d" },
  ],
  ["the provider in front of the model", { model: "ollama/a/b" }, {}, { provider: "ollama", model: "a/b" }],
  [
    "a model without its provider's name",
    { provider: "openai", model: "openai/gpt-4o" },
    {},
    { provider: "openai", model: "gpt-4o" },
  ],
  [
    "a model whose real name begins like that",
    { provider: "openrouter", model: "openrouter/auto" },
    {},
    { provider: "openrouter", model: "openrouter/auto" },
  ],
  [
    "a name as it is at an endpoint of its own",
    { provider: "openai", model: "openai/gpt-oss-20b", options: LOCAL },
    {},
    { provider: "openai", model: "openai/gpt-oss-20b", baseUrl: "http://127.0.0.1:1/v1" },
  ],
  [
    "an endpoint of no provider",
    { model: "m", options: LOCAL },
    {},
    { provider: "openai-compatible", model: "m", baseUrl: "http://127.0.0.1:1/v1" },
  ],
  [
    "another model at the same endpoint",
    { model: "m", options: LOCAL },
    { model: "n" },
    { provider: "openai-compatible", model: "n", baseUrl: "http://127.0.0.1:1/v1" },
  ],
])("%s is asked", (_, definition, asked, expected) => {
  expect(modelOf(actor(definition), asked)).toEqual(expected);
});

test("a model by itself is asked under its own name, even if that begins with a provider's name", () => {
  const providers = configuredProviders(new Map([["provider.openai.base-url", "http://127.0.0.1:1"]]), {});
  const builtIn = builtInActor("openai/openai/gpt-oss-20b", providers);
  expect(modelOf(builtIn!)).toEqual({ provider: "openai", model: "openai/gpt-oss-20b" });
});

test("what cannot be asked is said before anything is sent", () => {
  expect(() => modelOf(actor({}))).toThrow("does not say which model");
  expect(() => modelOf(actor({ model: "gpt-4o" }))).toThrow("does not say which provider");
  expect(() => modelOf(actor({ model: "m", options: LOCAL }), { provider: "openai" })).toThrow(
    "is for http://127.0.0.1:1/v1 alone, so openai cannot be asked in its place",
  );
  const tool = parseActor({ name: "t", type: "tool", description: "x", steps: [{ tool: "git_log" }] });
  expect(() => modelOf(tool)).toThrow(ConfigurationError);
});
