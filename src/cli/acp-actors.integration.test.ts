/** Agents of other makers as actors: registered, shown, named by plans, refused where they cannot serve. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ACTION, ThinkingWorld } from "./testing/thinking-world.ts";

const OWN = `name: local/own
type: acp
description: An agent without a recipe
command: [my-agent, acp]
env: { MY_BASE_URL: "{gateway}", MY_API_KEY: "{token}" }
endpoint: anthropic
model: scripted/demo.yaml
`;

test("an agent is registered, shown with its command, listed and removed", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  agents.write("own.yaml", OWN);
  const added = await agents.json("actor", "add", "--config", "own.yaml", "--yes");
  expect(added.data["actors_added"]).toEqual(["local/own"]);
  expect(added.data["wants"]).toMatchObject({ commands: ["my-agent acp, and the commands that it chooses"] });
  const shown = await agents.json("actor", "show", "local/own");
  expect(shown.data).toMatchObject({
    actor_details: { name: "local/own", type: "acp", provider: "scripted", model: "demo.yaml", builtin: false },
    agent: {
      name: null,
      speaks: "acp",
      command: ["my-agent", "acp"],
      endpoint: "anthropic",
      protocol: 1,
      sub_agents: false,
      limits: { rounds: 60, minutes: 30 },
    },
    tools: [],
    access: { filesystem: "write", network: "model endpoint" },
  });
  const seen = await agents.run(["actor", "show", "local/own"]);
  expect(seen.stdout).toContain("my-agent acp");
  expect(seen.stdout).toContain("the Agent Client Protocol, version 1, or 2");
  expect(seen.stdout).toContain("60 rounds, 30 minutes");
  const listed = (await agents.json("actor", "list")).data["actors"];
  expect(listed).toContainEqual(expect.objectContaining({ name: "local/own", type: "acp" }));
  expect((await agents.json("actor", "remove", "local/own", "--yes")).data).toMatchObject({ removed: true });
});

test("a known agent needs no registration, and its name belongs to it", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const shown = await agents.json("actor", "show", "acp/codex");
  expect(shown.data).toMatchObject({
    actor_details: { name: "acp/codex", type: "acp", builtin: true },
    agent: { name: "codex", endpoint: "openai-responses" },
  });
  expect((await agents.json("actor", "show", "acp/codx")).error).toMatchObject({
    code: "NOT_FOUND",
    suggestions: ["agents actor show acp/codex"],
  });
  agents.write("taken.yaml", OWN.replace("local/own", "acp/mine"));
  expect((await agents.json("actor", "add", "--config", "taken.yaml", "--yes")).error?.message).toContain(
    'the namespace "acp" belongs to agents',
  );
  expect((await agents.json("actor", "remove", "acp/codex", "--yes")).error?.message).toContain("known by name");
  expect((await agents.json("actor", "run", "acp/codex", "hello")).error?.message).toContain("works on plans");
});

test("a plan may have an agent carry out its steps, but not decide on them", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  const id = await world.thinking(ACTION.replace("scripted/demo.yaml", "acp/codex"));
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ actors: { execution: "acp/codex" } });
  const other = await agents.json("plan", "use", "improve", "shop", "--arg", "what=docs", "--strategy-actor", "acp/pi");
  expect(other.error?.message).toContain("but not decide on them");
});

/** A program that says who it is as an agent does. */
function installFake(world: ThinkingWorld): string {
  const tiny = join(import.meta.dirname, "../actors/outside/testing/tiny-agent.ts");
  const path = world.agents.write("codex-acp", `#!/usr/bin/env node\nawait import(${JSON.stringify(tiny)});\n`);
  chmodSync(path, 0o755);
  return path;
}

test("an installed agent is an actor, and diagnostics knows it", async () => {
  using world = new ThinkingWorld();
  world.agents.inOwnProcess({ PATH: "/usr/bin:/bin" });
  const { agents } = world;
  const listed = async (): Promise<unknown> =>
    ((await agents.json("actor", "list", "--namespace", "acp")).data["actors"] as { name: string }[]).map(
      ({ name }) => name,
    );
  expect(await listed()).toEqual([]);
  const path = installFake(world);
  expect((await agents.json("config", "set", "acp.codex.command", "codex-acp")).error?.message).toContain("absolute");
  await agents.json("config", "set", "acp.codex.command", path);
  expect(await listed()).toEqual(["acp/codex"]);
  const finding = async (...words: string[]): Promise<unknown> => {
    const { checks } = (await agents.json("diagnostics", ...words)).data as {
      checks: { name: string; message: string }[];
    };
    return checks.find(({ name }) => name === "agent codex")?.message;
  };
  expect(await finding()).toMatch(new RegExp(`^${path}; asks by openai-responses; has no model`));
  await agents.json("config", "set", "provider.house.base-url", "http://127.0.0.1:9/v1");
  await agents.json("config", "set", "acp.codex.model", "house/m");
  expect(await finding("--agents")).toMatch(/works with house\/m; tiny-agent 1.0.0; acp 1; /);
});

test("a request for an agent that is not installed, or has no model, is refused before anything is written", async () => {
  using world = new ThinkingWorld();
  world.agents.inOwnProcess({ PATH: "/usr/bin:/bin" });
  const { agents } = world;
  const run = ["run", "change it", "--actor"];
  const missing = await agents.json(...run, "acp/pi");
  expect(missing.error).toMatchObject({
    code: "CONFIGURATION",
    message: expect.stringContaining("pi-acp and pi must be on the PATH"),
    suggestions: expect.arrayContaining(["npm install -g pi-acp @earendil-works/pi-coding-agent"]),
  });
  await agents.json("config", "set", "acp.codex.command", installFake(world));
  expect((await agents.json(...run, "acp/codex")).error?.message).toContain("not known which model");
  await agents.json("config", "set", "provider.house.base-url", "http://127.0.0.1:9/v1");
  await agents.json("config", "set", "provider.house.type", "anthropic");
  await agents.json("config", "set", "acp.codex.model", "house/m");
  expect((await agents.json(...run, "acp/codex")).error?.message).toContain("does not speak it");
  expect((await agents.json("plan", "list")).data).toMatchObject({ plans: [] });
});
