/** `agents acp` as editors start it: a process that dies, an editor that dies, and input that is not the protocol. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { choose, editorWithProgram } from "./testing/editor.ts";

const ROOT = join(import.meta.dirname, "../..");
const PROGRAM = join(ROOT, process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts");
const TURNS = [
  strategy(FIX),
  step("fix", { match: { tool: "write_file" }, text: "It is\u202e there." }),
  step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
];

function world(): LoopWorld {
  const made = new LoopWorld();
  made.script(...TURNS);
  return made;
}

const read = (loop: LoopWorld, path: string): string => readFileSync(join(loop.repository, path), "utf8");

test("request, strategy, permission, diff, apply and undo, with nothing but the protocol on standard output", async () => {
  await using loop = world();
  loop.environment = { CLEVERAGENTS_FORMAT: "json" };
  await using editor = await editorWithProgram(loop, PROGRAM, ["--budget", "1.50"]);
  const session = await editor.open(loop.repository);
  expect(await editor.prompt(session, "write b.txt")).toBe("end_turn");
  expect(read(loop, "b.txt")).toBe("new\n");
  expect(await editor.prompt(session, "/undo")).toBe("end_turn");
  expect(() => read(loop, "b.txt")).toThrow("ENOENT");
  // The model's words arrive as they are: the gate that guards a terminal must not change JSON.
  expect(editor.said).toContain("It is\u202e there.");
  editor.child.stdin.end();
  expect(await editor.ended).toEqual([0, null]);
  for (const line of editor.written.stdout.trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("request, strategy, permission, diff, apply, undo, load in a new process and cancel, by the official client", async () => {
  await using loop = world();
  const first = await editorWithProgram(loop, PROGRAM);
  // A version that is not spoken here is answered with the one that is.
  const introduced = await first.agent.request("initialize", { protocolVersion: 2, clientCapabilities: {} });
  expect(introduced).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: "cleveragents" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      mcpCapabilities: { http: true },
      sessionCapabilities: { list: {}, resume: {}, close: {} },
    },
  });
  const session = await first.open(loop.repository);
  first.answers = [choose("allow_once"), choose("reject_once"), choose("allow_once")];
  expect(await first.prompt(session, "write b.txt")).toBe("end_turn");
  expect(first.permissions.map(({ toolCall: { kind, title } }) => [kind, title])).toEqual([
    ["think", "Run this plan?"],
    ["edit", "Apply 1 file (+1 −0)?"],
  ]);
  const diff = [{ type: "diff", path: join(loop.repository, "b.txt"), oldText: null, newText: "new\n" }];
  expect(first.permissions[1]?.toolCall.content?.slice(0, 1)).toEqual(diff);
  expect(first.of("plan").at(-1)?.entries).toMatchObject([{ status: "completed" }]);
  expect(first.of("usage_update").at(-1)).toMatchObject({ cost: { amount: expect.any(Number), currency: "USD" } });
  await first.prompt(session, "/diff");
  expect(first.of("tool_call").find(({ title }) => title.startsWith("Changes of plan"))?.content).toEqual(diff);
  expect(() => read(loop, "b.txt")).toThrow("ENOENT");
  await first.prompt(session, "/apply");
  expect(read(loop, "b.txt")).toBe("new\n");
  await first.prompt(session, "/undo");
  expect(() => read(loop, "b.txt")).toThrow("ENOENT");
  first.child.stdin.end();
  expect(await first.ended).toEqual([0, null]);

  loop.script(
    { ...strategy({ id: "again", description: "Again" }), times: "always" },
    { ...step("again", { text: "." }), times: "always", delay_ms: 60_000 },
  );
  await using editor = await editorWithProgram(loop, PROGRAM, ["--automation-profile", "trusted"]);
  const { sessions } = await editor.agent.request("session/list", { cwd: loop.repository });
  expect(sessions).toMatchObject([{ sessionId: session, title: "write b.txt" }]);
  await editor.agent.request("session/load", { sessionId: session, cwd: loop.repository, mcpServers: [] });
  expect(editor.of("user_message_chunk")).toMatchObject([{ content: { text: "write b.txt" } }]);
  expect(editor.said).toContain("Applied 1 file (+1 −0), and undone.");
  const running = editor.prompt(session, "write c.txt");
  await editor.until(() => editor.of("plan").some(({ entries }) => entries[0]?.status === "in_progress"));
  await editor.cancel(session);
  expect(await running).toBe("cancelled");
  await editor.agent.request("session/close", { sessionId: session });
  await expect(editor.prompt(session, "more")).rejects.toThrow("There is no session");
  const { state } = await (await loop.agents()).run("session.show", { session, directory: loop.repository });
  expect(state).toBe("stopped");
});

test("garbage, unknown methods and messages of the wrong form are answered, and the connection lives on", async () => {
  await using loop = world();
  await using editor = await editorWithProgram(loop, PROGRAM);
  editor.child.stdin.write("this is not JSON\n[]\n42\n\n");
  await expect(editor.agent.request("session/steal", {})).rejects.toThrow("Method not found");
  const wrong = { sessionId: 7, prompt: "x" } as unknown as { sessionId: string; prompt: [] };
  await expect(editor.agent.request("session/prompt", wrong)).rejects.toThrow("Invalid params");
  await editor.cancel("01JAAAAAAAAAAAAAAAAAAAAAAA");
  expect(await editor.open(loop.repository)).toMatch(/^[0-9A-Z]{26}$/);
  for (const line of editor.written.stdout.trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("an editor that dies with a question open leaves the plan where it is; another process continues it", async () => {
  await using loop = world();
  const first = await editorWithProgram(loop, PROGRAM);
  const session = await first.open(loop.repository);
  first.answers = [() => new Promise(() => undefined)];
  first.prompt(session, "write b.txt").catch(() => undefined);
  await first.until(() => first.permissions.length === 1);
  first.child.stdin.end();
  expect(await first.ended).toEqual([0, null]);
  await using editor = await editorWithProgram(loop, PROGRAM);
  await editor.agent.request("session/load", { sessionId: session, cwd: loop.repository, mcpServers: [] });
  expect(editor.said).toContain("The strategy waits for you: `/continue` carries it out.");
  expect(await editor.prompt(session, "/continue")).toBe("end_turn");
  expect(read(loop, "b.txt")).toBe("new\n");
});

test("an agent that is killed at its work repeats no answer, and a new one loads the session and goes on", async () => {
  await using loop = world();
  const slow = { ...TURNS[1], delay_ms: 60_000 };
  loop.script(...TURNS.toSpliced(1, 1, slow));
  const first = await editorWithProgram(loop, PROGRAM, ["--automation-profile", "trusted"]);
  const session = await first.open(loop.repository);
  first.prompt(session, "write b.txt").catch(() => undefined);
  await first.until(() => first.of("tool_call_update").some(({ status }) => status === "completed"));
  first.child.kill("SIGKILL");
  await first.ended;
  loop.script(...TURNS);
  await using editor = await editorWithProgram(loop, PROGRAM, ["--automation-profile", "trusted"]);
  await editor.agent.request("session/load", { sessionId: session, cwd: loop.repository, mcpServers: [] });
  expect(editor.of("tool_call")).toMatchObject([{ name: "write_file", status: "completed" }]);
  expect(await editor.prompt(session, "/continue")).toBe("end_turn");
  expect(read(loop, "b.txt")).toBe("new\n");
  const { usage } = await (await loop.agents()).run("plan.status", { plan: await lastPlan(loop) });
  expect(usage.modelCalls).toBe(3);
});

async function lastPlan(loop: LoopWorld): Promise<string> {
  const { plans } = await (await loop.agents()).run("plan.list", {});
  return plans[0]?.planId ?? "";
}
