/** `agents mcp` as other agents start it: a client that goes away, a process that dies, a person at a terminal. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { Agents } from "../cli/testing/agents.ts";
import { clientWithProgram, ERAS, type ProgramClient } from "./testing/plan-client.ts";

const ROOT = join(import.meta.dirname, "../..");
const PROGRAM = join(ROOT, process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts");
const SLOW = { ...step("fix", { text: "." }), times: "always", delay_ms: 60_000 };
const WRITES = [
  step("fix", { match: { tool: "write_file" }, text: "It is there." }),
  step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
];
const DONE = { standing: "ready to review", cost: { cap_usd: 1.5 } };
const WORDS = ["mcp", "serve", "--automation-profile", "trusted", "--budget", "1.50"];

function world(...turns: readonly object[]): LoopWorld {
  const made = new LoopWorld();
  made.script(strategy(FIX), ...turns);
  return made;
}

test.each(ERAS)("request to undo over a pipe, with nothing but the protocol on standard output (%s)", async (era) => {
  await using loop = world(...WRITES);
  loop.environment = { CLEVERAGENTS_FORMAT: "json", CLEVERAGENTS_AUTOMATION_PROFILE: "trusted" };
  await using agent = await clientWithProgram(loop, PROGRAM, ["mcp"], { era });
  const { plan_id: plan } = (await agent.call("run", { request: "write b.txt", wait_seconds: 60 })).data;
  for (const [tool, isThere] of [
    ["plan_apply", true],
    ["plan_undo", false],
    ["plan_redo", true],
  ] as const) {
    const { version } = (await agent.call("plan_status", { plan })).data;
    expect(await agent.call(tool, { plan, approve: true, expected_version: version })).toMatchObject({
      isError: false,
    });
    expect(existsSync(join(loop.repository, "b.txt"))).toBe(isThere);
  }
  agent.child.stdin.end();
  expect(await agent.ended).toEqual([0, null]);
  for (const line of agent.written.stdout.trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

async function atWork(agent: ProgramClient): Promise<string> {
  const seen = Promise.withResolvers<void>();
  const hear = (line: string | undefined): void => {
    if (line === "step fix: Fix it") seen.resolve();
  };
  // The client goes away before the answer.
  void agent.call("run", { request: "write b.txt", wait_seconds: 60 }, hear).catch(() => undefined);
  await seen.promise;
  return String((await agent.call("plan_status")).data["plan_id"]);
}

async function finished(loop: LoopWorld, plan: string, tool: string): Promise<Record<string, unknown>> {
  loop.script(strategy(FIX), ...WRITES);
  await using agent = await clientWithProgram(loop, PROGRAM, WORDS);
  return (await agent.call(tool, { plan, wait_seconds: 60 })).data;
}

test("a client that goes away loses nothing: the plan is handed back at once, and goes on in another process", async () => {
  await using loop = world(SLOW);
  await using agent = await clientWithProgram(loop, PROGRAM, WORDS);
  const plan = await atWork(agent);
  agent.child.stdin.end();
  expect(await agent.ended).toEqual([0, null]);
  const { standing, owner } = await (await loop.agents()).run("plan.status", { plan });
  expect([standing, owner]).toEqual(["stopped", null]);
  expect(await finished(loop, plan, "plan_resume")).toMatchObject(DONE);
});

test("a server that is killed loses nothing either", async () => {
  await using loop = world(SLOW);
  await using agent = await clientWithProgram(loop, PROGRAM, WORDS);
  const plan = await atWork(agent);
  agent.child.kill("SIGKILL");
  await agent.ended;
  expect(await finished(loop, plan, "plan_execute")).toMatchObject(DONE);
});

test("an interrupt ends the server where its plans can continue", async () => {
  await using loop = world(SLOW);
  await using agent = await clientWithProgram(loop, PROGRAM, WORDS);
  const plan = await atWork(agent);
  agent.child.kill("SIGINT");
  expect(await agent.ended).toEqual([0, null]);
  expect(agent.written.stderr).toContain("stopping");
  expect((await (await loop.agents()).run("plan.status", { plan })).standing).toBe("stopped");
});

test("a person at a terminal gets the help of the group", async () => {
  using agents = new Agents();
  const { stdout } = await agents.process(["mcp"], { terminal: { columns: 80, rows: 24 } });
  expect(stdout).toContain("agents mcp");
  expect(stdout).toContain("serve");
  const unknown = await agents.process(["mcp", "sreve"]);
  expect(unknown.stderr).toContain('did you mean "agents mcp serve"');
});
