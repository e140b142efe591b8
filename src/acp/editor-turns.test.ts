import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countingServer } from "../actors/testing/counting-server.ts";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { choose, editorOn } from "./testing/editor.ts";

const WRITES = [
  strategy(FIX),
  step("follow-up-1", { match: { tool: "write_file" }, text: "More is there." }),
  step("follow-up-1", calls("write_file", { path: "more.txt", content: "more\n" })),
  step("fix", { match: { tool: "write_file" }, text: "It is there." }),
  step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
];

function world(...turns: readonly object[]): LoopWorld {
  const made = new LoopWorld();
  made.script(...(turns.length === 0 ? WRITES : turns));
  return made;
}

const read = (loop: LoopWorld, path: string): string => readFileSync(join(loop.repository, path), "utf8");
const log = (loop: LoopWorld): string =>
  execFileSync("git", ["log", "--format=%s"], { cwd: loop.repository, encoding: "utf8" });

test("a further prompt continues a plan whose changes were kept back, and both land together", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const session = await editor.open(loop.repository);
  editor.answers = [choose("allow_once"), choose("reject_once"), choose("allow_once")];
  await editor.prompt(session, "write b.txt");
  expect(log(loop)).not.toContain("write b.txt");
  expect(await editor.prompt(session, "and more.txt")).toBe("end_turn");
  expect([read(loop, "b.txt"), read(loop, "more.txt")]).toEqual(["new\n", "more\n"]);
  const listed = await (await loop.agents()).run("session.list", { directory: loop.repository, here: true });
  expect(listed.sessions).toMatchObject([{ sessionId: session, plans: 1, state: "applied" }]);
});

test("after a plan was applied, the next prompt makes the next plan of the same session", async () => {
  await using loop = world();
  await using editor = await editorOn(loop, { profile: "trusted" });
  const session = await editor.open(loop.repository);
  await editor.prompt(session, "write b.txt");
  loop.script(
    { ...strategy({ id: "again", description: "Again" }), times: "always" },
    { ...step("again", { match: { tool: "write_file" }, text: "Again." }), times: "always" },
    { ...step("again", calls("write_file", { path: "c.txt", content: "c\n" })), times: "always" },
  );
  await using other = await editorOn(loop, { profile: "trusted" });
  await other.agent.request("session/resume", { sessionId: session, cwd: loop.repository, mcpServers: [] });
  expect(await other.prompt(session, "write c.txt")).toBe("end_turn");
  expect(read(loop, "c.txt")).toBe("c\n");
  const { turns } = await (await loop.agents()).run("session.show", { session, directory: loop.repository });
  expect(turns.map(({ request }) => request)).toEqual(["write b.txt", "write c.txt"]);
});

test("slash commands show, apply, undo and redo the last plan", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const session = await editor.open(loop.repository);
  await editor.until(() => editor.of("available_commands_update").length > 0);
  expect(editor.of("available_commands_update")[0]?.availableCommands.map(({ name }) => name)).toContain("undo");
  editor.answers = [choose("allow_once"), choose("reject_once"), choose("allow_once")];
  await editor.prompt(session, "write b.txt");
  await editor.prompt(session, "/status");
  expect(editor.said).toContain("execute/complete");
  await editor.prompt(session, "/plans");
  expect(editor.said).toContain("| plan | request | state |");
  await editor.prompt(session, "/rollback");
  expect(editor.said).toMatch(/`\/rollback \w+`: before all steps/);
  await editor.prompt(session, "/diff");
  expect(editor.of("tool_call").find(({ title }) => title.startsWith("Changes of plan"))?.content).toEqual([
    { type: "diff", path: join(loop.repository, "b.txt"), oldText: null, newText: "new\n" },
  ]);
  await editor.prompt(session, "/apply");
  expect(read(loop, "b.txt")).toBe("new\n");
  await editor.prompt(session, "/undo");
  expect(() => read(loop, "b.txt")).toThrow("ENOENT");
  await editor.prompt(session, "/redo");
  expect(read(loop, "b.txt")).toBe("new\n");
  const undo = editor.permissions.find(({ toolCall }) => toolCall.title === "Undo these changes?");
  expect(JSON.stringify(undo?.toolCall.content)).toContain("b.txt");
});

const ASKS = [
  strategy(FIX),
  step("fix", { match: { tool: "write_file" }, text: "Done." }),
  step("fix", { match: { result: "blue" }, ...calls("write_file", { path: "b.txt", content: "blue\n" }) }),
  step("fix", calls("ask_user", { question: "Which color?", options: ["red", "blue"] })),
];

test("a plan's question is a form where the editor has forms", async () => {
  await using loop = world(...ASKS);
  await using editor = await editorOn(loop, { profile: "trusted" }, { elicitation: { form: {} } });
  const session = await editor.open(loop.repository);
  editor.onForm = () => ({ action: "accept", content: { choice: "blue" } });
  expect(await editor.prompt(session, "paint it")).toBe("end_turn");
  expect(editor.forms).toMatchObject([{ message: "Which color?" }]);
  expect(read(loop, "b.txt")).toBe("blue\n");
});

test("elsewhere it is a permission with the alternatives", async () => {
  await using loop = world(...ASKS);
  await using editor = await editorOn(loop, { profile: "trusted" });
  const session = await editor.open(loop.repository);
  editor.answers = [
    ({ options }) => ({
      outcome: { outcome: "selected", optionId: options.find(({ name }) => name === "blue")?.optionId },
    }),
    choose("allow_once"),
  ];
  expect(await editor.prompt(session, "paint it")).toBe("end_turn");
  expect(read(loop, "b.txt")).toBe("blue\n");
});

test("a question without an answer waits, and the next prompt answers it", async () => {
  await using loop = world(...ASKS);
  await using editor = await editorOn(loop, { profile: "trusted" });
  const session = await editor.open(loop.repository);
  editor.answers = [choose("reject_once"), choose("allow_once")];
  expect(await editor.prompt(session, "paint it")).toBe("end_turn");
  expect(editor.said).toContain("Which color?\n1. red\n2. blue\n\nYour next message is the answer.");
  expect(await editor.prompt(session, "blue")).toBe("end_turn");
  expect(read(loop, "b.txt")).toBe("blue\n");
});

test.each([
  ["allow_once", "raised, and the call is sent"],
  ["reject_once", "kept, and nothing is sent"],
] as const)("a budget that is used up is asked about: with %s it is %s", async (answer, _effect) => {
  await using server = await countingServer({ prompt_tokens: 10, completion_tokens: 10 });
  await using loop = world();
  loop.settings = {
    "provider.house.base-url": `${server.url}/v1`,
    "provider.house.models": "m",
    "provider.house.prices": "m=1000/1000",
  };
  await using editor = await editorOn(loop, { profile: "trusted", budget: "0.50", actor: "house/m" });
  const session = await editor.open(loop.repository);
  editor.answers = [choose(answer), choose("reject_once")];
  const ended = await editor.prompt(session, "write b.txt").catch(String);
  const [raise] = editor.permissions;
  expect(raise?.toolCall.title).toContain("only $0.50 of plan");
  expect(raise?.options[0]?.name).toMatch(/^Raise the budget to \$\d+\.\d\d$/);
  const used = editor.of("usage_update");
  expect(used.length > 0).toBe(answer === "allow_once");
  const { plans } = await (await loop.agents()).run("plan.list", { directory: loop.repository });
  const { cost } = await (await loop.agents()).run("plan.budget", { plan: plans[0]?.planId ?? "" });
  expect(used.at(-1)?.cost?.amount ?? 0).toBeCloseTo(cost.spentUsd, 6);
  if (answer === "reject_once") expect(ended).toContain("only $0.50 of plan");
});

test("a prompt that is cancelled stops, its plan waits, and /continue carries on", async () => {
  await using loop = world(strategy(FIX), { ...step("fix", { text: "Done." }), delay_ms: 60_000 });
  await using editor = await editorOn(loop, { profile: "trusted" });
  const session = await editor.open(loop.repository);
  const running = editor.prompt(session, "write b.txt");
  await editor.until(() => editor.of("plan").some(({ entries }) => entries[0]?.status === "in_progress"));
  await expect(editor.prompt(session, "something else")).rejects.toThrow("still answering a prompt");
  await editor.cancel(session);
  expect(await running).toBe("cancelled");
  const agents = await loop.agents();
  const { sessions } = await agents.run("session.list", { directory: loop.repository });
  expect(sessions).toMatchObject([{ state: "stopped" }]);
  loop.script(...WRITES);
  await using other = await editorOn(loop, { profile: "trusted" });
  await other.agent.request("session/load", { sessionId: session, cwd: loop.repository, mcpServers: [] });
  expect(await other.prompt(session, "/continue")).toBe("end_turn");
  expect(read(loop, "b.txt")).toBe("new\n");
});

test("a permission that waits ends with the prompt's cancellation, whether the editor answers it or not", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const session = await editor.open(loop.repository);
  editor.answers = [() => new Promise(() => undefined)];
  const running = editor.prompt(session, "write b.txt");
  await editor.until(() => editor.permissions.length === 1);
  await editor.cancel(session);
  expect(await running).toBe("cancelled");
  expect(log(loop)).not.toContain("write b.txt");
});

test("a yes that comes after another process changed the plan is refused, and the user is told", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const session = await editor.open(loop.repository);
  editor.answers = [
    async (asked) => {
      const agents = await loop.agents();
      const { plans } = await agents.run("plan.list", {});
      await agents.run("plan.execute", { plan: plans[0]?.planId ?? "" });
      return choose("allow_once")(asked);
    },
  ];
  await expect(editor.prompt(session, "write b.txt")).rejects.toThrow("has changed in the meantime");
  expect(editor.said).toContain("**Error:** The plan");
  expect(log(loop)).not.toContain("write b.txt");
});

test("mode, actor and budget are offered, and what is chosen has its effect", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  const opened = await editor.agent.request("session/new", { cwd: loop.repository, mcpServers: [] });
  const { sessionId, modes, configOptions } = opened;
  expect(modes?.currentModeId).toBe("supervised");
  expect(configOptions?.map(({ id, category }) => [id, category])).toEqual([
    ["profile", "mode"],
    ["actor", "model"],
    ["budget", "_budget"],
  ]);
  await editor.agent.request("session/set_mode", { sessionId, modeId: "trusted" });
  const set = await editor.agent.request("session/set_config_option", { sessionId, configId: "budget", value: "2.00" });
  expect(set.configOptions.map(({ currentValue }) => currentValue)).toEqual(["trusted", "configured", "2.00"]);
  expect(editor.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "trusted" });
  await expect(editor.agent.request("session/set_mode", { sessionId, modeId: "reckless" })).rejects.toThrow("reckless");
  const bad = { sessionId, configId: "budget", value: "much" };
  await expect(editor.agent.request("session/set_config_option", bad)).rejects.toThrow("must be an amount of dollars");
  await editor.prompt(sessionId, "write b.txt");
  const { plans } = await (await loop.agents()).run("plan.list", {});
  const status = await (await loop.agents()).run("plan.status", { plan: plans[0]?.planId ?? "" });
  expect([status.automationProfile, status.cost.capUsd]).toEqual(["trusted", 2]);
});

test("a directory that cannot be worked in is refused with what to do", async () => {
  await using loop = world();
  await using editor = await editorOn(loop);
  await expect(editor.open(join(loop.directory, "gone"))).rejects.toThrow("does not exist");
  await expect(editor.open("relative")).rejects.toThrow("not an absolute path");
  const plain = await editor.open(loop.directory);
  await expect(editor.prompt(plain, "x")).rejects.toThrow("is not in a git repository");
  expect(editor.said).toContain("next: `");
  await expect(editor.prompt("01JAAAAAAAAAAAAAAAAAAAAAAA", "x")).rejects.toThrow("There is no session");
});

test("a hundred sessions are open at once, and two of them work in one repository", async () => {
  await using loop = world();
  await using editor = await editorOn(loop, { profile: "trusted" });
  const sessions = await Promise.all(Array.from({ length: 100 }, () => editor.open(loop.repository)));
  expect(new Set(sessions).size).toBe(100);
  const [first = "", second = ""] = sessions;
  editor.answers = [choose("reject_once")];
  expect(await Promise.all([editor.prompt(first, "one"), editor.prompt(second, "two")])).toEqual([
    "end_turn",
    "end_turn",
  ]);
  const listed = await editor.agent.request("session/list", { cwd: loop.repository });
  expect(new Set(listed.sessions.map(({ title }) => title))).toEqual(new Set(["one", "two"]));
});
