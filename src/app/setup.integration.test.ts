/**
 * The set-up command of a project, from outside: it runs once for each state of the lockfiles, for any number of plans,
 * and its result is there for commands and nowhere else.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../confinement/testing/backends.ts";
import type { RunEvent } from "../domain/run-event.ts";
import { git } from "../testing/git-repository.ts";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { calls, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const AGENTS = join(import.meta.dirname, "../../bin/agents");
const MANIFEST = JSON.stringify({ scripts: { test: "cat node_modules/dep/id" }, dependencies: { dep: "1" } });
/** Each run of it leaves another id; the path in which it ran is kept too. */
const SETUP =
  "mkdir -p node_modules/dep; cat /proc/sys/kernel/random/uuid > node_modules/dep/id; pwd > node_modules/at; echo x > stray";

const LOOK = "cat node_modules/dep/id && cat node_modules/at && ls && { echo y >> node_modules/dep/id; true; }";

class SetupWorld extends LoopWorld {
  constructor() {
    super();
    this.commit({ "package.json": MANIFEST, "package-lock.json": "{}\n", ".gitignore": "node_modules/\n" });
    this.script(
      strategy({ id: "fix", description: "Fix it" }),
      step("fix", calls("write_file", { path: "b.txt", content: "b\n" })),
      step("fix", { match: { tool: "write_file" }, ...calls("shell_execute", { command: LOOK }) }),
      step("fix", { match: { tool: "shell_execute" }, text: "Done." }),
    );
  }

  async configured(value: string): Promise<void> {
    const agents = await this.agents();
    await agents.run("config.set", { key: "sandbox.setup", value });
  }

  /** Runs a plan; returns what its command printed, and the lines about tests. */
  async ran(): Promise<{ printed: string; planId: string; lines: string[] }> {
    const agents = await this.agents();
    const lines: string[] = [];
    const tell = (event: RunEvent): void => {
      if (event.type === "notice" && event.text.startsWith("tests")) lines.push(event.text);
    };
    const wish = { request: "do it", directory: this.repository, automationProfile: "trusted" };
    const { planId } = (await agents.run("run", wish, { answers: "none", tell })) as { planId: string };
    const { messages } = await this.shown(planId, "fix.3");
    return { printed: messages.findLast(({ role }) => role === "tool")?.output ?? "", planId, lines };
  }
}

const idIn = (printed: string): string | undefined => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(printed)?.[0];

test.each(await workingBackends())("with %s it runs once for each state of the lockfiles", async (backend) => {
  using _only = new OnlyBackend(backend).here();
  await using world = new SetupWorld();
  await world.configured(SETUP);
  const first = await world.ran();
  expect(first.printed).toMatch(/^exit code 0/);
  expect(first.printed).toContain(world.repository);
  expect(first.printed).not.toContain("stray");
  expect(first.lines).toEqual([
    expect.stringMatching(/^tests: can run \(npm test; set up by mkdir .*, once for each lockfile\)$/),
    expect.stringMatching(/^tests: set up \(.* s; node_modules kept for this lockfile\)$/),
  ]);
  const agents = await world.agents();
  const { files } = await agents.run("plan.diff", { plan: first.planId });
  expect(files.map(({ path }) => path)).toEqual(["b.txt"]);
  const second = await world.ran();
  expect(idIn(second.printed)).toBe(idIn(first.printed));
  // The first plan wrote into its own layer only.
  expect(second.printed).not.toContain("y\n");
  expect(second.lines).toHaveLength(1);
  world.commit({ "package-lock.json": '{ "lockfileVersion": 3 }\n' });
  const third = await world.ran();
  expect(idIn(third.printed)).not.toBe(idIn(first.printed));
  expect(existsSync(join(world.repository, "node_modules"))).toBe(false);
});

test("of several plans at once one runs it", async () => {
  await using world = new SetupWorld();
  await world.configured(`sleep 0.5; ${SETUP}`);
  const runs = await Promise.all([world.ran(), world.ran(), world.ran()]);
  expect(new Set(runs.map(({ printed }) => idIn(printed))).size).toBe(1);
  expect(runs.filter(({ lines }) => lines.some((line) => line.includes("kept for this lockfile")))).toHaveLength(1);
});

test("its output is shown when it fails: in the line about tests, and to a command that fails", async () => {
  await using world = new SetupWorld();
  await world.configured("echo no such package >&2; exit 3");
  const { printed, lines } = await world.ran();
  expect(lines.at(-1)).toBe(
    'tests: cannot run in the sandbox (the set-up "echo no such package >&2; exit 3" failed: it ended with exit code 3:\nno such package)',
  );
  expect(printed).toMatch(
    /\[the set-up ".*" of the project failed, so packages may be missing: .*:\nno such package\]/s,
  );
  expect(
    readdirSync(join(world.directory, "data/sandboxes/.setups")).filter((name) => !name.includes(".lock")),
  ).toEqual([]);
});

test("a killed one leaves nothing that counts as done", async () => {
  await using world = new SetupWorld();
  const seconds = uniqueSeconds();
  world.commit({ slow: "" });
  await world.configured(`mkdir -p node_modules/dep; [ -e slow ] && sleep ${seconds}; ${SETUP}`);
  const child = spawn(
    AGENTS,
    ["--data-dir", join(world.directory, "data"), "run", "do it", "--automation-profile", "trusted"],
    {
      env: { ...process.env, CLEVERAGENTS_PROVIDER_SCRIPTED_TRANSCRIPT: join(world.directory, "model.yaml") },
      cwd: world.repository,
      stdio: "ignore",
    },
  );
  while (running(`sleep\0${seconds}`) === 0) await sleep(20);
  child.kill("SIGKILL");
  expect(await gone(`sleep\0${seconds}`)).toBe(true);
  git(world.repository, "rm", "-q", "slow");
  git(world.repository, "commit", "-qm", "fast");
  const { printed } = await world.ran();
  expect(idIn(printed)).toBeDefined();
  expect(
    readdirSync(join(world.directory, "data/sandboxes/.setups")).filter((name) => !name.includes(".lock")),
  ).toHaveLength(1);
});
