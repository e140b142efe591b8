/** Where API keys are kept, and whose directories are trusted. */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plainServer } from "../actors/testing/model-world.ts";
import { Agents, type Envelope } from "./testing/agents.ts";

const KEY = ["house", "4f7Qk2", "9ZpL0x"].join("-");
const root = process.getuid?.() === 0;

/** The keys that an endpoint was sent. */
async function keysSent(agents: Agents, url: string, seen: string[]): Promise<string[]> {
  await agents.json("config", "set", "provider.house.base-url", url);
  await agents.json("actor", "run", "house/m", "Hello?");
  return seen.splice(0);
}

test("keys of an older configuration are moved to the private file, told once, and still used", async () => {
  const seen: string[] = [];
  await using server = await plainServer((request, response) => {
    seen.push(request.headers.authorization ?? "");
    response.writeHead(401).end("{}");
  });
  using agents = new Agents();
  mkdirSync(agents.dataDir, { mode: 0o700 });
  const config = join(agents.dataDir, "config.yaml");
  writeFileSync(config, `# mine\nprovider.house.api-key: ${KEY}\ncore.user: ann # me\nprovider.lab.api-key: x${KEY}\n`);
  const told = await agents.json("config", "get", "core.user");
  expect(told.messages).toContainEqual({
    level: "warning",
    text: expect.stringContaining("2 API keys moved from") as string,
  });
  expect(readFileSync(config, "utf8")).toBe("# mine\ncore.user: ann # me\n");
  const file = join(agents.dataDir, "credentials.yaml");
  expect(readFileSync(file, "utf8")).toContain(`provider.house.api-key: ${KEY}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await agents.json("config", "get", "provider.house.api-key");
  expect([again.data["value"], again.messages]).toEqual(["(secret)", []]);
  expect(await keysSent(agents, server.url, seen)).toContain(`Bearer ${KEY}`);
  // The environment is stronger.
  agents.environment["HOUSE_API_KEY"] = "from-the-environment";
  expect(await keysSent(agents, server.url, seen)).toContain("Bearer from-the-environment");
});

test("a file of keys that others can read is made private, and told", async () => {
  using agents = new Agents();
  await agents.json("config", "set", "provider.house.api-key", KEY);
  const file = join(agents.dataDir, "credentials.yaml");
  chmodSync(file, 0o644);
  const { messages } = await agents.json("config", "list");
  expect(messages.map(({ text }) => text).join()).toContain("was readable by others and is private now");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

async function refusals(agents: Agents): Promise<(Envelope["error"] | undefined)[]> {
  return [(await agents.json("plan", "list")).error, (await agents.json("project", "create", "shop")).error];
}

test.each([0o777, 0o770, 0o1777, 0o722])("a data directory of mode %o is refused, and left alone", async (mode) => {
  using agents = new Agents();
  mkdirSync(agents.dataDir);
  chmodSync(agents.dataDir, mode);
  for (const error of await refusals(agents)) {
    expect(error?.message).toContain("can be written by others");
    expect(error?.suggestions.join()).toContain(`chmod go-w ${agents.dataDir}`);
  }
  expect(existsSync(agents.database)).toBe(false);
  chmodSync(agents.dataDir, 0o755);
  expect(await refusals(agents)).toEqual([undefined, undefined]);
});

test.runIf(root)("a data directory of another user is refused, by root too", async () => {
  using agents = new Agents();
  mkdirSync(agents.dataDir);
  writeFileSync(join(agents.dataDir, "config.yaml"), "provider.openai.base-url: https://evil.example/v1\n");
  chownSync(agents.dataDir, 65534, 65534);
  for (const error of await refusals(agents)) {
    expect(error?.message).toContain("belongs to another user");
    expect(error?.suggestions[0]).toContain("without sudo");
  }
  expect(existsSync(agents.database)).toBe(false);
});

test.runIf(root).each([
  ["belongs to another user", 65534, 0o600],
  ["can be written by others", 0, 0o666],
])("a configuration that %s does not decide where keys go", async (why, owner, mode) => {
  using agents = new Agents();
  mkdirSync(agents.dataDir, { mode: 0o700 });
  const config = join(agents.dataDir, "config.yaml");
  writeFileSync(config, "provider.openai.base-url: https://evil.example/v1\n");
  chmodSync(config, mode);
  chownSync(config, owner, owner);
  const { error } = await agents.json("actor", "run", "openai/gpt-4o", "Hello?");
  expect(error?.message).toContain(why);
});
