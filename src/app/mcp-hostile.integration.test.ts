/** Servers that hang, flood, lie and die cost their calls, and never the plan. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const HOSTILE = fileURLToPath(new URL("testing/hostile-server.ts", import.meta.url));

function hostile(world: LoopWorld, ...more: string[]): string[] {
  return [process.execPath, HOSTILE, join(world.directory, "log"), ...more];
}

function logged(world: LoopWorld): string[] {
  return readFileSync(join(world.directory, "log"), "utf8").trim().split("\n");
}

/** One answer of the model with all of these calls. */
function together(...tools: string[]): object {
  return { tool_calls: tools.map((tool) => ({ tool: `mcp__bad__${tool}`, parameters: {} })) };
}

const END = { match: { tool: "write_file" }, text: "Done." };
const WRITE = calls("write_file", { path: "b.txt", content: "b\n" });

test("a server that hangs, floods, lies, dies or talks too much costs its call", { timeout: 60_000 }, async () => {
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "bad", command: hostile(world), timeout: 2 });
  const order = ["die", "ugly", "liar", "long", "flood", "hang", "count"];
  const turns = order.map((tool, index) => {
    const before = order[index - 1];
    const params = tool === "liar" ? { a: 1 } : {};
    const call = calls(`mcp__bad__${tool}`, params);
    return before === undefined ? step("fix", call) : { match: { tool: `mcp__bad__${before}` }, ...call };
  });
  world.script(strategy(FIX), ...turns, { match: { tool: "mcp__bad__count" }, ...WRITE }, END);
  const { planId } = await world.run("try them");
  const { messages } = await world.shown(planId, "fix.9");
  const outputs = messages.filter(({ role }) => role === "tool").map(({ output }) => output ?? "");
  const [, die, ugly, liar, long, flood, hang, count] = outputs;
  expect(die).toBe('The MCP server "bad" ended (the tool die). It said: I cannot go on');
  expect(ugly).toMatch(/^red +key \[masked: .*\]$/);
  expect(liar).toContain("cannot be checked, because the tool's schema is not usable");
  expect(long).toContain("lines left out; read them with read_file .agent/out/fix/4.1");
  expect(long?.length).toBeLessThan(31_000);
  expect(flood).toMatch(/was ended|did not answer|ended/);
  expect(hang).toMatch(/did not answer within 2 s|ended/);
  expect(count).toBe("called count");
  // The one that lied was never called.
  expect(logged(world)).not.toContain("called liar");
});

test(
  "a server with odd names, lies, pictures, noise and secrets costs its calls alone",
  { timeout: 60_000 },
  async () => {
    await using world = new LoopWorld();
    const agents = await world.agents();
    const secret = "hunter2-hunter2-hunter2";
    const env = { API_TOKEN: secret };
    await agents.run("mcp.server.add", { server: "bad", command: hostile(world, "odd"), env, timeout: 3 });
    const order = [
      "contradict",
      "unstructured",
      "nowhere",
      "media",
      "noisy",
      "secret",
      "refuse",
      "slow",
      "count",
      "twin",
    ];
    const turns = order.map((tool, index) => {
      const before = order[index - 1];
      const call = calls(`mcp__bad__${tool}`, {});
      if (before === undefined) return step("fix", call);
      return { match: before === "media" ? { user: "From your calls" } : { tool: `mcp__bad__${before}` }, ...call };
    });
    world.script(strategy(FIX), ...turns, { match: { tool: "mcp__bad__twin" }, ...WRITE }, END);
    const { planId } = await world.run("try them");
    const { messages, tools } = await world.shown(planId, "fix.11");
    const outputs = messages.filter(({ role }) => role === "tool").map(({ output }) => output ?? "");
    const [, contradict, unstructured, nowhere, media, noisy, told, refuse, slow, count, twin] = outputs;
    expect(contradict).toContain("Structured content does not match the tool's output schema: data/n must be number");
    expect(unstructured).toContain("has an output schema but did not return structured content");
    expect(nowhere).toContain("has an invalid outputSchema");
    expect(media).toMatch(
      /^\[another image \(image\/png, 70 bytes\) is not shown\]\n\[audio .* 3 bytes\).*\nwith pictures$/,
    );
    expect([noisy, told]).toEqual(["still here", "it is [masked: configured key]"]);
    expect(refuse).toContain("not with [masked: configured key]");
    expect(slow).toContain("did not answer within 3 s");
    // It was alive all the time, so it was not started again.
    expect([count, twin]).toEqual(["called count", "called twin"]);
    expect(logged(world).filter((line) => line === "started")).toHaveLength(1);
    const names = tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__bad__"));
    expect(names).toEqual(expect.arrayContaining(["mcp__bad__a_b", "mcp__bad__we_ird_n_me"]));
    expect(names.filter((name) => /^mcp__bad__(?:twin|a_b)/.test(name)).length).toBe(3);
    expect(names.filter((name) => !/^mcp__bad__[A-Za-z0-9_]{1,54}$/.test(name))).toEqual([]);
    const notices = world.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
    expect(notices).toContain(
      'The MCP server "bad" lists tools that are not offered: twin (listed more than once: the first one is offered); a tool without a name.',
    );
    expect(JSON.stringify([messages, world.events])).not.toContain(secret);
  },
);

test("20 calls at once start the server once", async () => {
  await using world = new LoopWorld();
  await (await world.agents()).run("mcp.server.add", { server: "bad", command: hostile(world) });
  world.script(
    strategy(FIX),
    step("fix", together(...Array.from({ length: 20 }, () => "count"))),
    { match: { tool: "mcp__bad__count" }, ...WRITE },
    END,
  );
  await world.run("count");
  expect(logged(world).filter((line) => line === "started")).toHaveLength(1);
  expect(logged(world).filter((line) => line === "called count")).toHaveLength(20);
});

test("a server that cannot be started is told, and the plan goes on without its tools", async () => {
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "gone", command: ["no-such-program-anywhere"] });
  await expect(agents.run("mcp.server.test", { server: "gone", directory: world.directory })).rejects.toThrow(
    'The MCP server "gone" ended.',
  );
  world.script(strategy(FIX), step("fix", WRITE), END);
  expect(await world.run("write")).toMatchObject({ changes: { files: 1 } });
  const notices = world.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  expect(notices.join("\n")).toMatch(/The MCP server "gone" ended.*The plan continues without its tools/s);
});

test("guards, allowlists and the limit of tokens hold for MCP tools", async () => {
  await using world = new LoopWorld();
  await (
    await world.agents()
  ).run("mcp.server.add", { server: "bad", command: hostile(world), only: ["count", "ugly"] });
  world.settings = { "mcp.tool-tokens": "60" };
  await world.restart();
  world.script(strategy(FIX), step("fix", WRITE), END);
  const { planId } = await world.run("write");
  const { tools } = await world.shown(planId, "fix.1");
  expect(tools.filter(({ name }) => name.startsWith("mcp_")).length).toBe(1);
  const notices = world.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  expect(notices.join("\n")).toContain("1 of 2 MCP tools are not offered");
});

test("a repository's servers are used only after a yes to this content", async () => {
  await using world = new LoopWorld();
  const file = { mcpServers: { bad: { command: process.execPath, args: ["tools/server.ts", "/dev/null"] } } };
  world.commit({ ".mcp.json": JSON.stringify(file), "tools/server.ts": readFileSync(HOSTILE) });
  const agents = await world.agents();
  const offered = async (): Promise<string[]> => {
    world.script(strategy(FIX), step("fix", WRITE), END);
    const { planId } = await world.run("write");
    return (await world.shown(planId, "fix.1")).tools.map(({ name }) => name).filter((name) => name.startsWith("mcp_"));
  };
  expect(await offered()).toEqual([]);
  const notice = world.events.find((event) => event.type === "notice" && event.text.includes(".mcp.json"));
  expect(notice).toMatchObject({ next: [{ operation: "mcp.server.accept" }] });
  const accepted = await agents.run("mcp.server.accept", { here: world.repository });
  expect(accepted).toMatchObject({ accepted: true, servers: ["bad"] });
  expect(await offered()).toContain("mcp__bad__count");
  writeFileSync(join(world.repository, ".mcp.json"), JSON.stringify({ ...file, more: 1 }));
  const listed = await agents.run("mcp.server.list", { directory: world.repository });
  expect(listed.repository).toMatchObject({ state: "not accepted" });
  expect(await offered()).toEqual([]);
});
