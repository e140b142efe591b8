/** Which owners are known to be dead: only with proof, and with proof at once. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { currentTick, isDead, isSameBoot, thisProcess, type LeaseOwner } from "./lease-owner.ts";

/** As a process describes itself, told of another one. */
function describe(pid: number): LeaseOwner {
  const [namespace = ""] = thisProcess().process.split(" ");
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return {
    ...thisProcess(),
    process: `${namespace} ${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`,
  };
}

async function sleeper(): Promise<ChildProcess & { pid: number }> {
  const child = spawn("sleep", ["60"], { stdio: "ignore" });
  await once(child, "spawn");
  return child as ChildProcess & { pid: number };
}

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

test("a process that runs is not dead, nor is this one", async () => {
  expect(isDead(thisProcess())).toBe(false);
  const child = await sleeper();
  expect(isDead(describe(child.pid))).toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
});

test("a stopped process is alive, a killed one is dead", async () => {
  const child = await sleeper();
  const owner = describe(child.pid);
  child.kill("SIGSTOP");
  while (stateOf(child.pid) !== "T") await sleep(2);
  expect(isDead(owner)).toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(isDead(owner)).toBe(true);
});

test("a killed process that its parent has not collected is dead", async () => {
  // The shell becomes a program that never waits for its child.
  const parent = spawn("/bin/sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  const owner = describe(pid);
  while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") !== "sleep\n") await sleep(2);
  process.kill(pid, "SIGKILL");
  while (stateOf(pid) !== "Z") await sleep(2);
  expect(isDead(owner)).toBe(true);
  parent.kill("SIGKILL");
  await once(parent, "exit");
});

test("another process under the same number is not the owner", () => {
  const [namespace, pid] = thisProcess().process.split(" ");
  expect(isDead({ ...thisProcess(), process: `${namespace} ${pid} 1` })).toBe(true);
});

test("every process from before the last boot is dead, also when another one has its number now", () => {
  expect(isDead({ ...thisProcess(), boot: "another boot" })).toBe(true);
});

test("what cannot be seen from here may be alive", () => {
  const self = thisProcess();
  const [namespace] = self.process.split(" ");
  const gone = `${namespace} 4194305 1`;
  expect(isDead({ ...self, process: gone })).toBe(true);
  expect(isDead({ ...self, process: gone, host: "elsewhere" })).toBe(false);
  expect(isDead({ ...self, process: gone, host: "elsewhere", boot: "another boot" })).toBe(false);
  expect(isDead({ ...self, process: "pid:[1] 4194305 1" })).toBe(false);
  expect(isDead({ ...self, process: "nonsense" })).toBe(false);
  // Where the system says nothing of boots and births, only a number that is free proves something.
  const silent = { host: self.host, boot: "", process: `${namespace} ${process.pid} -` };
  expect(isDead(silent)).toBe(false);
  expect(isSameBoot(silent, silent)).toBe(false);
  expect(isSameBoot(self, self)).toBe(true);
});

test("the tick advances in step with every process of this boot", async () => {
  const child = spawn(process.execPath, ["-p", "Number(process.hrtime.bigint() / 1_000_000n)"]);
  const before = currentTick();
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  expect(Number(text.toString())).toBeGreaterThanOrEqual(before);
  expect(currentTick()).toBeGreaterThanOrEqual(Number(text.toString()));
});
