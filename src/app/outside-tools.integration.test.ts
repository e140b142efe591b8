/** Tools of ours, of MCP servers and of skills are offered to outside agents, through the one tool pipeline. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { byTurn, OutsideWorld, put, tiny } from "./testing/outside-world.ts";

const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const ours = (name: string, input = {}): ReturnType<typeof tiny> => tiny(`mcp__cleveragents__${name}`, input);
const echo = (message: string): ReturnType<typeof tiny> => tiny("mcp__every__echo", { message });

async function callsOf(world: OutsideWorld): Promise<string[]> {
  const rows = await world.reading((reader) =>
    reader.all<{ tool: string; outcome: string; refused: string | null }>(
      "SELECT tool, outcome, refused_by AS refused FROM tool_invocations ORDER BY sequence",
    ),
  );
  return rows.map(({ tool, outcome, refused }) => `${tool} ${refused ?? outcome}`);
}

async function withServer(world: OutsideWorld): Promise<void> {
  const agents = await world.agents();
  const command = [process.execPath, EVERYTHING, "stdio"];
  await agents.run("mcp.server.add", { server: "every", command }, { answers: "program" });
}

async function guarded(world: OutsideWorld, guards: string): Promise<void> {
  const agents = await world.agents();
  const text = `name: own\ndescription: Mine\nextends: trusted\nguards: { ${guards} }\n`;
  await agents.run("automation-profile.add", { definition: { text, file: "own.yaml", outside: false } });
}

const TOOLS = "tools: [get_context_budget, mcp__every__echo]";

test("its calls go through the pipeline, under the answer they came from, beside its own changes", async () => {
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [echo("hello"), put("b.txt", "b\n")] },
      { calls: [ours("get_context_budget")] },
      { text: "Both are done." },
    ),
  );
  await withServer(world);
  await world.add({ speaks: "acp", more: TOOLS });
  expect(await world.run("echo and write")).toMatchObject({ phase: "execute", state: "complete" });
  expect(await callsOf(world)).toEqual(["mcp__every__echo ok", "acp:helper/write ok", "get_context_budget ok"]);
  expect((await world.credits()).map(({ path, tool }) => [path, tool])).toEqual([["b.txt", "acp:helper/write"]]);
  expect(JSON.stringify(world.server.log[1]?.body)).toContain("Echo: hello");
  const decisions = await world.reading((reader) =>
    reader.all<{ tool: string; chosen: string }>(
      `SELECT tool, chosen FROM tool_invocations JOIN decisions ON decisions.id = decision_id
        WHERE tool NOT LIKE 'acp:%' ORDER BY tool_invocations.sequence`,
    ),
  );
  expect(decisions.map(({ chosen }) => chosen)).toEqual([
    expect.stringContaining("mcp__every__echo"),
    expect.stringContaining("get_context_budget"),
  ]);
});

test("after a failure the recorded outcomes are given again, and no tool is called twice", async () => {
  let broken = true;
  await using world = await OutsideWorld.open((request) => {
    const answer = byTurn(
      { calls: [echo("one"), echo("two")] },
      { calls: [put("b.txt", "b\n"), echo("one")] },
      broken ? { calls: [tiny("die", { code: 3 })] } : { text: "Done." },
      { text: "Done." },
    )(request);
    return answer;
  });
  await withServer(world);
  await world.add({ speaks: "acp", more: TOOLS });
  await expect(world.run("echo")).rejects.toMatchObject({ code: "agent_failed" });
  const asked = world.server.log.length;
  expect(asked).toBe(3);
  broken = false;
  const before = await callsOf(world);
  expect(before.filter((call) => call.startsWith("mcp__"))).toHaveLength(3);
  const [{ id: plan } = { id: "" }] = await plansOf(world);
  const agents = await world.restart();
  // The agent dies again by its recorded answer: nothing new was asked, and nothing was called.
  await expect(agents.run("plan.execute", { plan })).rejects.toMatchObject({ code: "agent_failed" });
  expect(world.server.log).toHaveLength(asked);
  expect((await callsOf(world)).filter((call) => call.startsWith("mcp__"))).toHaveLength(3);
  expect((await world.credits()).map(({ path, tool }) => [path, tool])).toEqual([["b.txt", "acp:helper/write"]]);
});

test.each(["mode: trust", "mode: trust\nasking_mode: ask"])(
  "guards judge a tool of ours once, under its own name (%s)",
  async (mode) => {
    await using world = await OutsideWorld.open(
      byTurn({ calls: [echo("hello")] }, { calls: [ours("get_context_budget")] }, { text: "One was refused." }),
    );
    await withServer(world);
    await guarded(world, "tool_denylist: ['mcp__every'], max_tool_calls: 1");
    await world.add({ speaks: "acp", more: `${mode}\n${TOOLS}` });
    expect(await world.run("echo", { automationProfile: "own" })).toMatchObject({ state: "complete" });
    expect(await callsOf(world)).toEqual(["mcp__every__echo tool_denylist", "get_context_budget ok"]);
    expect(JSON.stringify(world.server.log[1]?.body)).toContain("is denied");
  },
);

test("a limit that is used up by a tool of ours ends the turn", async () => {
  await using world = await OutsideWorld.open(
    byTurn({ calls: [ours("get_context_budget")] }, { calls: [ours("get_context_budget")] }, { text: "Done." }),
  );
  await guarded(world, "max_tool_calls: 1");
  await world.add({ speaks: "acp", more: "tools: [get_context_budget]" });
  await expect(world.run("ask", { automationProfile: "own" })).rejects.toMatchObject({ code: "guard_refused" });
  expect(await callsOf(world)).toEqual(["get_context_budget ok", "get_context_budget max_tool_calls"]);
});

test("a skill is read by the agent whose actor names it", async () => {
  await using world = await OutsideWorld.open(
    byTurn({ calls: [ours("use_skill", { name: "greet" })] }, { text: "Read." }),
  );
  world.commit({ ".agents/skills/greet/SKILL.md": "---\nname: greet\ndescription: How to greet\n---\n\nSay moin.\n" });
  await world.add({ speaks: "acp", more: "skills: [greet]" });
  expect(await world.run("greet")).toMatchObject({ state: "complete" });
  expect(JSON.stringify(world.server.log[1]?.body)).toContain("Say moin.");
  expect(await callsOf(world)).toEqual(["use_skill ok"]);
});

test("without the token of the run, and for programs that run once, there are no tools", async () => {
  await using world = await OutsideWorld.open(
    byTurn(
      {
        calls: [
          tiny("run", {
            command: `curl -s -o /dev/null -w '%{http_code}' -X POST "$TINY_URL/mcp/cleveragents" -d '{}'`,
          }),
        ],
      },
      { text: "Tried." },
    ),
  );
  await expect(world.add({ speaks: "run", more: "tools: [get_context_budget]" })).rejects.toMatchObject({
    issues: [{ path: "tools", message: expect.stringContaining("is offered no tools") }],
  });
  await expect(world.add({ speaks: "acp", more: "tools: [read_file]" })).rejects.toMatchObject({
    issues: [{ path: "tools.0", message: expect.stringContaining("read_file works on files") }],
  });
  await world.add({ speaks: "acp", more: "tools: [get_context_budget]" });
  expect(await world.run("try")).toMatchObject({ state: "complete" });
  expect(JSON.stringify(world.server.log[1]?.body)).toContain("401");
});

function plansOf(world: OutsideWorld): Promise<{ id: string }[]> {
  return world.reading((reader) => reader.all<{ id: string }>("SELECT id FROM plans"));
}
