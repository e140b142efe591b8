import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { isLocalHost } from "../../domain/network/endpoint-address.ts";
import { providerSetting, PROVIDER_FIELDS } from "../../domain/settings/provider-settings.ts";
import { findSetting } from "../../domain/settings/settings.ts";
import { configuredProviders, parseModelRef, type Provider } from "./providers.ts";

function providers(
  settings: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Map<string, Provider> {
  return new Map(configuredProviders(new Map(Object.entries(settings)), environment).map((one) => [one.name, one]));
}

describe("configured providers", () => {
  test("are those with a key, an endpoint of their own, or a transcript", () => {
    expect([...providers({}).keys()]).toEqual(["scripted"]);
    const some = providers(
      { "provider.ollama.base-url": "http://localhost:11434/v1/" },
      { OPENAI_API_KEY: "k1", GEMINI_API_KEY: "k2", ANTHROPIC_API_KEY: "" },
    );
    expect([...some.keys()]).toEqual(["openai", "google", "scripted", "ollama"]);
    expect(some.get("openai")).toMatchObject({
      type: "openai",
      baseUrl: "https://api.openai.com/v1",
      local: false,
      idleTimeoutMs: 240_000,
    });
    expect(some.get("openai")?.models).toContain("gpt-4o");
    expect(some.get("google")?.apiKey?.reveal()).toBe("k2");
    expect(some.get("ollama")).toMatchObject({
      type: "openai-compatible",
      baseUrl: "http://localhost:11434/v1",
      local: true,
      apiKey: undefined,
      models: [],
    });
  });

  test("are found by the variables their companies' programs use", () => {
    const environment = {
      OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:2",
      OPENAI_API_KEY: "k",
    };
    const some = providers({}, environment);
    expect(some.get("openai")).toMatchObject({ baseUrl: "http://127.0.0.1:1/v1", local: true, models: [] });
    expect(some.get("anthropic")).toMatchObject({ baseUrl: "http://127.0.0.1:2/v1", local: true });
  });

  test("take their key from the variable that was named, and from nowhere else then", () => {
    const settings = {
      "provider.x.base-url": "https://x.example",
      "provider.x.api-key-env": "MY_KEY",
      "provider.x.api-key": "filed",
    };
    expect(providers(settings, { MY_KEY: "mine", X_API_KEY: "other" }).get("x")?.apiKey?.reveal()).toBe("mine");
    expect(providers(settings, { X_API_KEY: "other" }).get("x")?.apiKey).toBeUndefined();
    const { "provider.x.api-key-env": _unset, ...rest } = settings;
    expect(providers(rest, { X_API_KEY: "other" }).get("x")?.apiKey?.reveal()).toBe("other");
    expect(providers(rest).get("x")?.apiKey?.reveal()).toBe("filed");
  });

  test("have the models, prices, fallbacks and patience they are given", () => {
    const some = providers({
      "provider.x.base-url": "http://127.0.0.1:1",
      "provider.x.models": "a, b/c ,",
      "provider.x.prices": "a=1/2, *=0/0.5",
      "provider.x.fallbacks": "y/m/n",
      "provider.x.timeout": "20",
      "provider.y.base-url": "http://127.0.0.1:2",
    });
    expect(some.get("x")).toMatchObject({
      models: ["a", "b/c"],
      fallbacks: [{ provider: "y", model: "m/n" }],
      idleTimeoutMs: 20_000,
      prices: new Map([
        ["a", { input: 1, output: 2 }],
        ["*", { input: 0, output: 0.5 }],
      ]),
    });
  });

  test("a value that does not fit is an error that names it, not a guess", () => {
    expect(() => providers({ "provider.x.base-url": "ftp://x" })).toThrow(ConfigurationError);
    expect(() => providers({ "provider.x.type": "open-ai" })).toThrow("provider.x.type");
  });

  test("a model's name may hold slashes", () => {
    expect(parseModelRef("openrouter/meta/llama")).toEqual({ provider: "openrouter", model: "meta/llama" });
  });
});

describe("the settings of providers", () => {
  test.each([
    ["type", ["openai", "scripted"], ["", "gpt"]],
    [
      "base-url",
      ["https://api.x.com/v1", "http://localhost:1", "http://10.0.0.5:8000/v1", "http://gpu.lan"],
      ["", "x.com", "http://x.com", "https://a:b@x.com", "https://x.com?a=1", "file:///x"],
    ],
    ["api-key", ["sk-1"], ["", "a b", "a\nb"]],
    ["api-key-env", ["MY_KEY"], ["", "sk-proj-1", "A B"]],
    ["models", ["a", "a, b"], ["", "a b"]],
    ["prices", ["a=1/2", "a=0.5/10.25,*=0/0", "a=3/15/0.3/3.75"], ["", "a", "a=1", "a=-1/2", "a=1/2/3/4/5"]],
    ["fallbacks", ["openai/gpt-4o", "a/b,c/d"], ["", "openai", "/b"]],
    ["timeout", ["1", "3600"], ["", "0", "3601", "1.5", "1e2"]],
    ["tries", ["1", "20"], ["", "0", "21", "1.5"]],
    ["transcript", ["a.yaml"], ["", " "]],
  ])("%s takes %j and refuses %j", (field, good, bad) => {
    const { problem } = findSetting(`provider.x.${field}`);
    expect(good.map((value) => problem(value))).toEqual(good.map(() => undefined));
    for (const value of bad) expect(problem(value)).toEqual(expect.any(String));
  });

  test("have descriptions and variables of their own", () => {
    const settings = PROVIDER_FIELDS.map((field) => providerSetting(`provider.my-lab.${field}`));
    expect(new Set(settings.map((setting) => setting?.env)).size).toBe(PROVIDER_FIELDS.length);
    for (const setting of settings) expect(setting?.description).not.toContain("<name>");
    expect(settings.map((setting) => setting?.env)).toContain("CLEVERAGENTS_PROVIDER_MY_LAB_BASE_URL");
  });

  test("a key that is none is an error with a suggestion", () => {
    expect(() => findSetting("provider.x.bas-url")).toThrow(
      expect.objectContaining({
        detail: { key: "provider.x.bas-url", suggestion: "provider.x.base-url" },
        next: [nextStep("config.get", { key: "provider.x.base-url" })],
      }),
    );
    for (const key of ["provider.X.type", "provider.x", "provider..type", "provider.x.type.y", "provider.x y.type"]) {
      expect(() => findSetting(key)).toThrow("There is no configuration key");
    }
  });
});

test.each([
  ["localhost", true],
  ["127.1.2.3", true],
  ["[::1]", true],
  ["10.1.1.1", true],
  ["172.16.0.1", true],
  ["172.32.0.1", false],
  ["192.168.1.9", true],
  ["gpu", false],
  ["169.254.169.254", false],
  ["gpu.local", true],
  ["api.openai.com", false],
  ["localhost.example.com", false],
  ["127.0.0.1.example.com", false],
  ["8.8.8.8", false],
  ["[2001:db8::1]", false],
  ["[fd00::1]", true],
])("%s is local: %s", (host, local) => {
  expect(isLocalHost(host)).toBe(local);
});
