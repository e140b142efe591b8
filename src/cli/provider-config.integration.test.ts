import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";

const KEY = "sk-proj-3f9a1c7e5b2d80463f9a1c7e5b2d8046";

/** Everything in the data directory but the configuration file. */
function recorded(agents: Agents): string {
  const files = globSync(join(agents.dataDir, "**/*")).filter(
    (file) => statSync(file).isFile() && !file.endsWith(".yaml"),
  );
  expect(files.length).toBeGreaterThan(0);
  return files.map((file) => readFileSync(file, "latin1")).join("");
}

test("a provider is configured by keys of its name, which are listed, explained and overridden by the environment", async () => {
  using agents = new Agents();
  await agents.json("config", "set", "provider.ollama.base-url", "http://127.0.0.1:11434/v1");
  await agents.json("config", "set", "provider.ollama.models", "qwen3, llama4");
  const { data } = await agents.json("config", "list");
  const listed = (data["settings"] as { key: string; value: string }[]).filter(({ key }) =>
    key.startsWith("provider."),
  );
  expect(listed).toMatchObject([
    { key: "provider.ollama.base-url", value: "http://127.0.0.1:11434/v1", level: "global" },
    { key: "provider.ollama.models", value: "qwen3, llama4", level: "global" },
  ]);
  agents.environment["CLEVERAGENTS_PROVIDER_OLLAMA_BASE_URL"] = "http://10.0.0.7/v1";
  expect(await agents.json("config", "get", "provider.ollama.base-url")).toMatchObject({
    data: { value: "http://10.0.0.7/v1", level: "environment", description: expect.stringContaining("nowhere else") },
  });
  expect(await agents.json("config", "get", "provider.ollama.type")).toMatchObject({
    data: { value: "openai-compatible" },
  });
});

test("a key is kept in a private file of its own and shown nowhere", async () => {
  using agents = new Agents();
  const shown = [
    await agents.run(["config", "set", "provider.lab.api-key", KEY]),
    await agents.run(["config", "set", "provider.lab.api-key", `${KEY}2`]),
    await agents.run(["config", "get", "provider.lab.api-key", "-v"]),
    await agents.run(["config", "list"]),
    await agents.run(["config", "list", "--format", "json"]),
    await agents.run(["audit", "list", "--format", "json"]),
    await agents.run(["config", "get", "provider.openai.api-key", "-v", "--format", "json"], {
      env: { OPENAI_API_KEY: KEY },
    }),
    // Mistaken for the place of the key.
    await agents.run(["config", "set", "provider.lab.api-key-env", KEY]),
    await agents.run(["config", "set", "provider.lab.base-url", `https://ann:${KEY}@example.com`]),
    await agents.run(["config", "get", "provider.lab.api-key-env"], {
      env: { CLEVERAGENTS_PROVIDER_LAB_API_KEY_ENV: "a plain key" },
    }),
  ];
  const output = shown.map(({ stdout, stderr }) => stdout + stderr).join("\n");
  expect(output).not.toContain(KEY);
  expect(output).not.toContain("a plain key");
  expect(output).toContain("(secret)");
  expect(shown.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0, 0, 2, 2, 1]);
  expect(recorded(agents)).not.toContain(KEY);
  const file = join(agents.dataDir, "credentials.yaml");
  expect(readFileSync(file, "utf8")).toContain(`${KEY}2`);
  expect(statSync(file).mode & 0o077).toBe(0);
  // Only what was refused went to the configuration file: nothing.
  expect(existsSync(join(agents.dataDir, "config.yaml"))).toBe(false);
});

test.each([
  ["provider.lab.base-url", "http://example.com", "must begin with https://"],
  ["provider.lab.prices", "gpt-4o", "model=input/output"],
  ["provider.lab.fallbacks", "gpt-4o", "provider/model"],
  ["provider.lab.timeout", "soon", "whole number of seconds"],
  ["provider.lab.type", "gpt", "must be one of openai, anthropic"],
])("%s does not take %s", async (key, value, why) => {
  using agents = new Agents();
  expect(await agents.json("config", "set", key, value)).toMatchObject({
    exit_code: 2,
    error: { code: "VALIDATION", message: expect.stringContaining(why) },
  });
});

test("a mistyped key gets a suggestion", async () => {
  using agents = new Agents();
  expect(await agents.json("config", "set", "provider.lab.bas-url", "x")).toMatchObject({
    exit_code: 2,
    error: { code: "USAGE", suggestions: ["agents config get provider.lab.base-url"] },
  });
});
