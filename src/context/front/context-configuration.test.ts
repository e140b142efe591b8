import { expect, test } from "vitest";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { findSetting } from "../../domain/settings/settings.ts";
import { contextConfiguration, type ContextConfiguration } from "./context-configuration.ts";
import { budgetFor } from "./assembly-budget.ts";
import { strategyNames } from "./context-service.ts";

function configured(values: Readonly<Record<string, string>> = {}): Promise<ContextConfiguration> {
  return contextConfiguration((key) => Promise.resolve(values[key] ?? findSetting(key).default), { KEY: "s3cret-key" });
}

test("without any setting everything built in is used, and nothing is embedded or trusted", async () => {
  expect(await configured()).toEqual({
    enabled: undefined,
    own: [],
    trusted: [],
    stages: {},
    model: undefined,
    tokenizer: undefined,
    window: { modelWindow: 128_000, responseReserve: 4_096, toolDefinitions: 2_400, systemPrompt: 1_200 },
    embedding: undefined,
  });
});

test("settings are read and typed", async () => {
  const configuration = await configured({
    "context.strategies.enabled": "symbol-rank, mine",
    "context.strategies.own": "mine=/a/mine.mjs",
    "context.trusted-modules": "/a,/b",
    "context.stage.pack": "/a/pack.mjs",
    "context.tokenizer": "cl100k_base",
    "context.model-window": "32k",
    "context.embedding.url": "http://localhost:1/v1",
    "context.embedding.model": "small",
    "context.embedding.api-key-env": "KEY",
  });
  expect(configuration).toMatchObject({
    enabled: ["symbol-rank", "mine"],
    own: [{ name: "mine", module: "/a/mine.mjs" }],
    trusted: ["/a", "/b"],
    stages: { pack: "/a/pack.mjs" },
    tokenizer: "cl100k_base",
    window: { modelWindow: 32_000 },
    embedding: { url: "http://localhost:1/v1", model: "small", key: { variable: "KEY", value: "s3cret-key" } },
  });
  expect(strategyNames(configuration)).toEqual(expect.arrayContaining(["simple-keyword", "mine"]));
});

test.each(["context.embedding.url", "context.embedding.model"])(
  "only %s is half an endpoint, and an error",
  async (key) => {
    await expect(configured({ [key]: "http://localhost:1" })).rejects.toThrow(ConfigurationError);
  },
);

test("the budget is the named one, or the rest of the window, or less where the view says so", async () => {
  const configuration = await configured();
  expect(budgetFor(configuration, { budget: undefined }, undefined)).toMatchObject({
    source: "model window",
    budget: { available: 120_304 },
  });
  expect(budgetFor(configuration, { budget: 9 }, undefined)).toMatchObject({
    source: "policy",
    budget: { available: 9 },
  });
  expect(budgetFor(configuration, { budget: 999_999 }, undefined)).toMatchObject({ budget: { available: 120_304 } });
  expect(budgetFor(configuration, { budget: 9 }, 0)).toMatchObject({ source: "override", budget: { available: 0 } });
  const tiny = await configured({ "context.model-window": "1k" });
  expect(budgetFor(tiny, { budget: undefined }, undefined).budget.available).toBe(0);
});
