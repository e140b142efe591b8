import { expect, test } from "vitest";
import { modelNamed, parseActorName } from "./actor-name.ts";
import { ValidationError } from "../errors/errors.ts";

test.each([
  ["coder", "local/coder"],
  ["local/coder", "local/coder"],
  ["prod:acme/coder", "prod:acme/coder"],
  ["openai/gpt-4.1", "openai/gpt-4.1"],
  ["ollama/qwen3:30b", "ollama/qwen3:30b"],
  ["openrouter/meta-llama/llama-3.3", "openrouter/meta-llama/llama-3.3"],
  ["scripted/demos/fix.yaml", "scripted/demos/fix.yaml"],
])("%s is the name of an actor", (text, name) => {
  expect(parseActorName(text)).toBe(name);
});

test.each(["", "a b", "local/gpt-4.1", "openai/", "/x", "x/..", "x/../y", "x//y", "x/a b", `x/${"y".repeat(300)}`])(
  "%j is not",
  (text) => {
    expect(() => parseActorName(text, "strategy_actor")).toThrow(ValidationError);
  },
);

test("what stands before the first slash is the provider", () => {
  expect(modelNamed("openrouter/meta/llama")).toEqual({ provider: "openrouter", model: "meta/llama" });
  expect(modelNamed("local/coder")).toBeUndefined();
  expect(modelNamed("coder")).toBeUndefined();
});
