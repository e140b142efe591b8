/** The guards of a profile hold outside agents back: those that ask for permission, and those that never do. */
import { expect, test } from "vitest";
import { byTurn, OutsideWorld, put, tiny, write, type AgentOptions } from "./testing/outside-world.ts";

/** One that asks before it writes or runs anything, one that could ask and is not told to, and one that cannot. */
const ASKING: AgentOptions = { speaks: "acp", more: "mode: trust\nasking_mode: ask" };
const SILENT: AgentOptions = { speaks: "acp", more: "mode: trust" };
const ONCE: AgentOptions = { speaks: "run" };

interface Call {
  readonly tool: string;
  readonly outcome: string;
  readonly refused: string | null;
}

function callsOf(world: OutsideWorld): Promise<Call[]> {
  return world.reading((reader) =>
    reader.all<Call & Record<string, string | null>>(
      "SELECT tool, outcome, refused_by AS refused FROM tool_invocations ORDER BY sequence",
    ),
  );
}

async function guarded(world: OutsideWorld, guards: string): Promise<void> {
  const agents = await world.agents();
  const text = `name: own\ndescription: Mine\nextends: trusted\nguards: { ${guards} }\n`;
  await agents.run("automation-profile.add", { definition: { text, file: "own.yaml", outside: false } });
}

const OWN = { automationProfile: "own" };

test("an agent that asks is told no for a denied tool, and goes on by another one", async () => {
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [tiny("run", { command: "echo x > shell.txt" })] },
      { calls: [put("b.txt", "b\n")] },
      { text: "Written." },
    ),
  );
  await guarded(world, "tool_denylist: ['shell_*']");
  await world.add(ASKING);
  expect(await world.run("write b", OWN)).toMatchObject({ phase: "execute", state: "complete" });
  expect((await world.credits()).map(({ path, tool }) => [path, tool])).toEqual([["b.txt", "acp:helper/write"]]);
  expect(await callsOf(world)).toEqual([
    { tool: "acp:helper/run", outcome: "failed", refused: "tool_denylist" },
    { tool: "acp:helper/write", outcome: "ok", refused: null },
  ]);
  expect(JSON.stringify(world.server.log[1]?.body)).toContain("refused by the user");
});

test.each([
  ["speaks the protocol and never asks", SILENT],
  ["runs once", ONCE],
])("of an agent that %s, an answer with a denied call is withheld, and the turn ends", async (_, agent) => {
  const [shell, create] = agent.speaks === "run" ? ["bash", write] : ["run", put];
  await using world = await OutsideWorld.open(
    byTurn(
      { calls: [create("b.txt", "b\n")] },
      { calls: [create("c.txt", "c\n"), tiny(shell, { command: "echo x > shell.txt" })] },
      { text: "All is done." },
    ),
  );
  await guarded(world, "tool_denylist: ['shell_*']");
  await world.add(agent);
  await expect(world.run("write b and c", OWN)).rejects.toMatchObject({
    code: "guard_refused",
    detail: { guard: "tool_denylist", tool: `acp:helper/${shell}` },
  });
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt"]);
  expect((await callsOf(world)).filter(({ refused }) => refused !== null)).toEqual([
    { tool: `acp:helper/${shell}`, outcome: "failed", refused: "tool_denylist" },
  ]);
  expect(world.server.log).toHaveLength(2);
});

test("an agent that was to ask and did not is stopped, and what it did is not taken", async () => {
  await using world = await OutsideWorld.open(
    byTurn({ calls: [put("b.txt", "b\n")] }, { calls: [tiny("silent", { path: "c.txt", content: "c\n" })] }, {}),
  );
  await guarded(world, "tool_allowlist: ['write_file']");
  await world.add(ASKING);
  await expect(world.run("write b", OWN)).rejects.toMatchObject({ code: "guard_refused" });
  const [{ planId: plan } = { planId: "" }] = await plansOf(world);
  const agents = await world.restart();
  await expect(agents.run("plan.execute", { plan })).rejects.toMatchObject({ code: "guard_refused" });
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt"]);
  expect((await agents.run("plan.diff", { plan })).files.map(({ path }) => path)).toEqual(["b.txt"]);
});

test.each([
  ["asks", ASKING],
  ["never asks", SILENT],
])("only so many calls are made by an agent that %s, also over several executions", async (_, agent) => {
  await using world = await OutsideWorld.open(
    byTurn({ calls: [put("b.txt", "b\n")] }, { calls: [put("c.txt", "c\n")] }, { calls: [put("d.txt", "d\n")] }, {}),
  );
  await guarded(world, "max_tool_calls: 2");
  await world.add(agent);
  const error = await world.run("write", OWN).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "guard_refused", detail: { guard: "max_tool_calls" } });
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt", "c.txt"]);
  expect(world.server.log).toHaveLength(3);
  const [{ planId: plan } = { planId: "" }] = await plansOf(world);
  const agents = await world.restart();
  await expect(agents.run("plan.execute", { plan })).rejects.toMatchObject({ code: "guard_refused" });
  // No answer is paid for twice, and what was allowed is counted once.
  expect(world.server.log).toHaveLength(3);
  expect((await callsOf(world)).map(({ outcome, refused }) => [outcome, refused])).toEqual([
    ["ok", null],
    ["ok", null],
    ["failed", "max_tool_calls"],
    ["failed", "max_tool_calls"],
  ]);
});

test.each([
  ["asks", ASKING],
  ["never asks", SILENT],
  ["runs once", ONCE],
])("a person allows the writes of an agent that %s: nothing waits, and nothing is asked again", async (_, agent) => {
  const create = agent.speaks === "run" ? write : put;
  await using world = await OutsideWorld.open(
    byTurn({ calls: [create("b.txt", "b\n")] }, { calls: [create("c.txt", "c\n")] }, { text: "Both are written." }),
  );
  await guarded(world, "require_approval_for_writes: true");
  await world.add(agent);
  await expect(world.run("write", OWN)).rejects.toMatchObject({ code: "approval_needed" });
  expect(world.server.log).toHaveLength(1);
  expect(await world.credits()).toEqual([]);
  const [{ planId: plan } = { planId: "" }] = await plansOf(world);
  const agents = await world.restart();
  await agents.run("plan.guard", { plan, allowWrites: true }, { answers: "program" });
  expect(await agents.run("plan.execute", { plan })).toMatchObject({ phase: "execute", state: "complete" });
  expect(world.server.log).toHaveLength(3);
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt", "c.txt"]);
});

test("guards that are tightened while the agent works hold from its next call on", async () => {
  let tighten = async (): Promise<void> => undefined;
  await using world = await OutsideWorld.open(async (request) => {
    const answer = byTurn({ calls: [put("b.txt", "b\n")] }, { calls: [put("c.txt", "c\n")] }, {})(request);
    if (request.messages.length > 2) await tighten();
    return answer;
  });
  await world.add(SILENT);
  tighten = async () => {
    const [{ planId: plan } = { planId: "" }] = await plansOf(world);
    await (await world.agents()).run("plan.guard", { plan, denyTools: ["write_file"] }, { answers: "program" });
  };
  await expect(world.run("write")).rejects.toMatchObject({ code: "guard_refused" });
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt"]);
});

function plansOf(world: OutsideWorld): Promise<{ planId: string }[]> {
  return world.reading((reader) => reader.all<{ planId: string }>(`SELECT id AS "planId" FROM plans`));
}
