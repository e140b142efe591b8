/** Commands record themselves, and end when another owner comes; in either order of the two. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sized } from "../testing/size.ts";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { runShell, startProgram, type ProgramResult } from "../execution/tools/shell.ts";
import { OnlyBackend, workingBackends } from "./testing/backends.ts";
import { endCommands, ownCommands, RunningCommand } from "./running-command.ts";

const backends = [...(await workingBackends()), "none"] as const;

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cleveragents-running-"));
  mkdirSync(join(home, "tree"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function shell(command: string, commands: string): Promise<ProgramResult> {
  const root = join(home, "tree");
  const signal = new AbortController().signal;
  return runShell(command, {
    root,
    cwd: root,
    timeoutMs: 60_000,
    signal,
    requireConfinement: false,
    network: false,
    commands,
  });
}

test.each(backends)(
  "a command that runs is ended by the next owner, and nothing of it is left (%s)",
  async (backend) => {
    using _only = new OnlyBackend(backend).here();
    const seconds = uniqueSeconds();
    const first = await ownCommands(home, 1);
    const command = shell(`sleep ${seconds} & sleep ${seconds}; echo late > late`, first);
    while (running(`sleep\0${seconds}`) < 2) await sleep(5);
    await endCommands(home, 2);
    expect(running(`sleep\0${seconds}`)).toBe(0);
    expect(await command).toMatchObject({ code: 137 });
    const second = await ownCommands(home, 2);
    expect(await shell("echo fine", second)).toMatchObject({ code: 0, output: "fine\n" });
    expect(readdirSync(join(home, "tree"))).toEqual([]);
    expect(readdirSync(second)).toEqual([]);
  },
);

const confined = backends.filter((backend) => backend !== "none");

test.each(confined)(
  "a paused command changes nothing, also one that starts programs all the time (%s)",
  async (backend) => {
    using _only = new OnlyBackend(backend).here();
    const root = join(home, "tree");
    const loop = "i=0; while :; do i=$((i+1)); echo $i > count; /bin/cat count > copy; done";
    const program = await startProgram(["/bin/sh", "-c", `(${loop}) & ${loop.replaceAll("count", "count2")}`], {
      root,
      cwd: root,
      network: false,
      requireConfinement: true,
      commands: await ownCommands(home, 1),
    });
    const state = (): string => ["count", "count2", "copy"].map((name) => contentOf(join(root, name))).join("/");
    for (let round = 0; round < sized({ quick: 10, normal: 40, full: 400 }); round += 1) {
      const goOn = await program.pause();
      const before = state();
      await sleep(5);
      expect(state()).toBe(before);
      goOn();
    }
    const last = state();
    while (state() === last) await sleep(1);
    program.kill();
    await program.ended;
  },
);

function contentOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

test.each(backends)("an owner that wakes up after another one came begins nothing (%s)", async (backend) => {
  using _only = new OnlyBackend(backend).here();
  const first = await ownCommands(home, 1);
  await endCommands(home, 2);
  await ownCommands(home, 2);
  await expect(shell("echo late > late", first)).rejects.toMatchObject({ code: "stale_lease" });
  await expect(endCommands(home, 1)).rejects.toMatchObject({ code: "stale_lease" });
  expect(readdirSync(join(home, "tree"))).toEqual([]);
});

test.each(backends)("nor one that had just made its record (%s)", async (backend) => {
  using _only = new OnlyBackend(backend).here();
  const first = await ownCommands(home, 1);
  const command = shell("echo late > late", first).catch((error: { code: string }) => error);
  // The record is there before the command can be: the time between the two is random here, and both results are
  // fine.
  while (readdirSync(first).length === 0) await sleep(0);
  await endCommands(home, 2);
  const outcome = await command;
  expect([137, "stale_lease", 0]).toContain(outcome.code);
  const before = readdirSync(join(home, "tree"));
  await sleep(50);
  expect(readdirSync(join(home, "tree"))).toEqual(before);
});

test("a process that merely has the number of another one is left alone", async () => {
  const seconds = uniqueSeconds();
  const other = spawn("sleep", [seconds], { stdio: "ignore" });
  const owner = await ownCommands(home, 1);
  using record = new RunningCommand(owner);
  writeFileSync(record.descriptor, `${other.pid} (sleep) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 0 0 1 0 1234 0\n`);
  await endCommands(home, 2);
  expect(running(`sleep\0${seconds}`)).toBe(1);
  other.kill("SIGKILL");
  expect(await gone(seconds)).toBe(true);
});
