/**
 * Commands in the background, from outside: a scripted model in a real repository, real processes, the real store. Each
 * changed file must belong to the call that changed it.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../confinement/testing/backends.ts";
import { git } from "../testing/git-repository.ts";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { calls, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const AGENTS = join(import.meta.dirname, "../../bin/agents");
const FIX = { id: "fix", description: "Fix it" };
const SERVER = `
const { appendFileSync } = require("node:fs");
require("node:http").createServer((request, response) => {
  appendFileSync("hits.txt", request.url + "\\n");
  console.log("asked for " + request.url);
  response.end("served " + require("node:fs").readFileSync("a.txt", "utf8"));
}).listen(4711, "127.0.0.1", () => console.log("listening"));
`;
const CLIENT = `
(async () => {
  for (let left = 500; ; left -= 1)
    try {
      console.log(await (await fetch("http://127.0.0.1:4711/" + process.argv[2])).text());
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
})();
`;

const shell = (command: string, more: object = {}): object => calls("shell_execute", { command, ...more });
const after = (tool: string, more: object): object => step("fix", { match: { tool }, ...more });

/** The paths that the calls of an answer changed, from the record. */
async function changedBy(world: LoopWorld, plan: string, name: string): Promise<string[]> {
  const agents = await world.agents();
  const { decisionIds } = await agents.run("plan.tree", { plan });
  const { files } = await agents.run("plan.explain", { id: decisionIds[name] ?? "" });
  return [...new Set((files as readonly { path: string }[]).map(({ path }) => path))].toSorted();
}

async function resultOf(world: LoopWorld, plan: string, name: string): Promise<string> {
  const { messages } = await world.shown(plan, name);
  return messages.findLast(({ role }) => role === "tool")?.output ?? "";
}

const backends = await workingBackends();

test.each(backends)(
  "with %s a server stays while other calls are made, and its changes are its own",
  async (backend) => {
    using _only = new OnlyBackend(backend).here();
    await using world = new LoopWorld();
    world.commit({ "server.js": SERVER, "client.js": CLIENT });
    world.script(
      strategy(FIX),
      step("fix", shell("exec node server.js", { run_in_background: true })),
      after("shell_execute", shell("node client.js first")),
      after("shell_execute", calls("edit_file", { path: "a.txt", old: "two", new: "2" })),
      after("edit_file", shell("node client.js second; echo x > mine.txt")),
      after("shell_execute", calls("edit_file", { path: "hits.txt", old: "/first", new: "/1st" })),
      after("edit_file", calls("command_output", { id: "fix/1.1" })),
      after("command_output", calls("command_stop", { id: "fix/1.1" })),
      after("command_stop", shell("echo x > mine.txt")),
      after("shell_execute", calls("command_output", { bash_id: "fix/9.9" })),
      after("command_output", { text: "Done." }),
    );
    const { planId } = (await world.run("serve it")) as { planId: string };
    expect(await resultOf(world, planId, "fix.2")).toMatch(/^started in the background, with the id fix\/1\.1\./);
    expect(await resultOf(world, planId, "fix.3")).toMatch(/^exit code 0 .*\nserved one\ntwo\n/);
    const second = await resultOf(world, planId, "fix.5");
    expect(second).toMatch(/served one\n2\n/);
    expect(second).toMatch(/Read-only file system/);
    expect(second).toMatch(/while the background command fix\/1\.1 may change them/);
    expect(await resultOf(world, planId, "fix.7")).toMatch(
      /^running for .* s\nlistening\nasked for \/first\nasked for \/second\n$/,
    );
    expect(await resultOf(world, planId, "fix.8")).toBe("ended: you stopped it\n(no new output)");
    expect(await resultOf(world, planId, "fix.9")).toMatch(/^exit code 0/);
    expect(await resultOf(world, planId, "fix.10")).toMatch(/^No background command "fix\/9\.9" runs here/);
    expect(await changedBy(world, planId, "fix.1")).toEqual(["hits.txt"]);
    expect(await changedBy(world, planId, "fix.2")).toEqual([]);
    expect(await changedBy(world, planId, "fix.3")).toEqual(["a.txt"]);
    expect(await changedBy(world, planId, "fix.4")).toEqual([]);
    expect(await changedBy(world, planId, "fix.5")).toEqual(["hits.txt"]);
    expect(await changedBy(world, planId, "fix.8")).toEqual(["mine.txt"]);
    const agents = await world.agents();
    await agents.run("plan.apply", { plan: planId });
    expect(readFileSync(join(world.repository, "hits.txt"), "utf8")).toBe("/1st\n/second\n");
    expect(git(world.repository, "status", "--porcelain")).toBe("");
  },
);

test("a command that may not change files leaves that to the others", async () => {
  await using world = new LoopWorld();
  world.script(
    strategy(FIX),
    step("fix", shell("echo no > no.txt; sleep 300", { is_background: true, read_only: true })),
    after("shell_execute", shell("echo yes > yes.txt")),
    after("shell_execute", calls("command_output", { id: "fix/1.1", wait_ms: 50 })),
    after("command_output", { text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  expect(await resultOf(world, planId, "fix.4")).toMatch(/Read-only file system/);
  expect(await changedBy(world, planId, "fix.2")).toEqual(["yes.txt"]);
  expect(await changedBy(world, planId, "fix.1")).toEqual([]);
});

test("at the end of its step it is ended, and its last changes are recorded as its own", async () => {
  await using world = new LoopWorld();
  const seconds = uniqueSeconds();
  world.script(
    strategy(FIX, { id: "note", description: "Note it", needs: ["fix"] }),
    step("fix", shell(`echo early > early.txt; (trap '' TERM; sleep ${seconds}) & wait`, { background: true })),
    after("shell_execute", shell("until [ -e early.txt ]; do sleep 0.01; done")),
    after("shell_execute", calls("step_done", { summary: "Early." })),
    step("note", calls("command_output", { id: "fix/1.1" })),
    step("note", shell("echo n > note.txt")),
    step("note", { text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  expect(await gone(seconds)).toBe(true);
  expect(await resultOf(world, planId, "note.2")).toMatch(/^ended: its step ended\n/);
  // Nothing else may change files any more.
  expect(await changedBy(world, planId, "note.2")).toEqual(["note.txt"]);
  expect(await changedBy(world, planId, "fix.1")).toEqual(["early.txt"]);
  expect(await changedBy(world, planId, "fix.2")).toEqual([]);
});

test("of two in the background the first may change files", async () => {
  await using world = new LoopWorld();
  world.script(
    strategy(FIX),
    step("fix", shell("sleep 0.1; echo 1 > one.txt", { background: true })),
    after("shell_execute", shell("echo 2 > two.txt; sleep 300", { background: true })),
    after("shell_execute", calls("command_output", { id: "fix/2.1", wait_ms: 300 })),
    after("command_output", calls("command_output", { id: "fix/1.1", wait_ms: 60_000 })),
    after("command_output", { text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  expect(await resultOf(world, planId, "fix.3")).toContain("It may not change files, because fix/1.1 may");
  expect(await resultOf(world, planId, "fix.4")).toMatch(/Read-only file system/);
  expect(await resultOf(world, planId, "fix.5")).toMatch(/^ended with exit code 0/);
  expect(await changedBy(world, planId, "fix.1")).toEqual(["one.txt"]);
});

test("one that never stops writing is recorded exactly, between edits of the same file", async () => {
  await using world = new LoopWorld();
  const writer = "i=0; while :; do i=$((i+1)); echo $i > count.txt; echo $i >> log.txt; done";
  const edits = Array.from({ length: 8 }, (_, index) =>
    step("fix", calls("write_file", { path: index % 2 === 0 ? "count.txt" : "a.txt", content: `edit ${index}\n` })),
  );
  world.script(
    strategy(FIX),
    step("fix", shell(writer, { background: true })),
    ...edits,
    step("fix", calls("command_stop", { id: "fix/1.1" })),
    step("fix", { text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  expect(await changedBy(world, planId, "fix.1")).toEqual(["count.txt", "log.txt"]);
  const agents = await world.agents();
  // Base and record must be the sandbox byte for byte, or it is refused.
  await agents.run("plan.apply", { plan: planId });
  const lines = readFileSync(join(world.repository, "log.txt"), "utf8").trimEnd().split("\n");
  expect(lines).toEqual(lines.map((_, index) => String(index + 1)));
});

test("what a plain command leaves running ends with it, and the result says so", async () => {
  await using world = new LoopWorld();
  world.script(
    strategy(FIX),
    step("fix", shell("sleep 300 & echo started")),
    after("shell_execute", shell("true | cat; yes | head -1 > y.txt")),
    after("shell_execute", { text: "Done." }),
  );
  const { planId } = (await world.run("do it")) as { planId: string };
  expect(await resultOf(world, planId, "fix.2")).toMatch(
    /started\n\[ended together with the command that started it: sleep; what has to stay needs background: true\]/,
  );
  expect(await resultOf(world, planId, "fix.3")).not.toContain("[ended");
});

test("after kill -9 nothing of it runs, and the resumed conversation is told that it is gone", async () => {
  await using world = new LoopWorld();
  const seconds = uniqueSeconds();
  world.script(
    strategy(FIX),
    step("fix", shell(`echo kept > kept.txt; sleep ${seconds}`, { background: true })),
    after("shell_execute", shell("until [ -e kept.txt ]; do sleep 0.01; done")),
    after("shell_execute", shell(`[ -e ~/again ] && exit; touch ~/again; sleep ${seconds}1`)),
    { match: { user: "is gone" }, text: "Done without it." },
  );
  const data = join(world.directory, "data");
  const child = spawn(AGENTS, ["--data-dir", data, "run", "do it", "--automation-profile", "trusted"], {
    env: { ...process.env, CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(world.directory, "model.yaml") },
    cwd: world.repository,
    stdio: "ignore",
  });
  while (running(`${seconds}1`) === 0) await sleep(20);
  child.kill("SIGKILL");
  expect(await gone(seconds)).toBe(true);
  expect(existsSync(join(world.repository, "kept.txt"))).toBe(false);
  const agents = await world.agents();
  const [plan] = (await agents.run("plan.list", {})).plans;
  const planId = String(plan?.planId);
  await agents.run("plan.execute", { plan: planId });
  const { messages } = await world.shown(planId, "fix.4");
  const notes = messages.filter(({ content = "" }) => content.includes("background command fix/1.1 is gone"));
  expect(notes).toHaveLength(1);
  expect(await changedBy(world, planId, "fix.1")).toEqual(["kept.txt"]);
});
