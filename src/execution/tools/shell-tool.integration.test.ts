/** Commands in a sandbox: they end when they should, with all they started, and know nothing that is secret. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gone, running, uniqueSeconds } from "../../testing/processes.ts";
import { confinementHere } from "../../confinement/availability.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import { ExecutingPlan, type OpenWorkspace } from "../testing/executing-plan.ts";

let plan: ExecutingPlan;
let open: OpenWorkspace;

beforeEach(async () => {
  plan = await ExecutingPlan.start();
  open = await plan.open();
});
afterEach(() => plan[Symbol.asyncDispose]());

const shell = (command: string, more: object = {}, signal?: AbortSignal): Promise<unknown> =>
  open.call("shell_execute", { command, ...more }, "test", signal);

test("tells output of both kinds and whether it was confined", async () => {
  expect(await shell("echo out; sleep 0.05; echo err >&2")).toEqual({
    code: 0,
    output: "out\nerr\n",
    cut: false,
    timedOut: false,
    confined: (await confinementHere()).kind !== "none",
    durationMs: expect.any(Number),
    timeoutMs: 600_000,
  });
  expect(await shell("pwd", { cwd: "src/deep" })).toMatchObject({ output: `${plan.root}/src/deep\n` });
  expect(await shell("pwd", { cwd: "." })).toMatchObject({ output: `${plan.root}\n` });
});

test("for a program a failing command is a failed tool, with its code and last lines; its changes are recorded", async () => {
  await expect(shell("echo first; echo why >&2; exit 4")).rejects.toThrow(
    "The command ended with exit code 4:\nfirst\nwhy",
  );
  await expect(shell("echo x > new; echo reason; exit 3")).rejects.toMatchObject({
    code: "tool_failed",
    message: "The command ended with exit code 3: reason",
    kept: "Its earlier changes are recorded.",
    detail: { code: 3 },
  });
  expect(await open.entries()).toMatchObject([{ operation: "create", path: "new" }]);
  expect(await plan.replayed(await open.entries())).toEqual(await plan.tree());
});

test("output is cut at its limit and the command continues", async () => {
  const result = await shell("head -c 1000000 /dev/zero | tr '\\0' x; echo done > done");
  expect(result).toMatchObject({ cut: true, code: 0, output: expect.stringMatching(/^x+\n… 1 lines left out\nx+$/) });
  expect((result as { output: string }).output.length).toBeLessThan(257 * 1024);
  expect(await open.entries()).toHaveLength(1);
});

test("a model is told the exit code, the time, and everything printed in its order", async () => {
  const told = async (command: string, more: object = {}): Promise<ToolOutcome> =>
    open.ask("shell_execute", { command, ...more });
  const failed = await told("echo one; echo two >&2; echo three; exit 3");
  expect(failed).toMatchObject({
    ok: true,
    text: expect.stringMatching(/^exit code 3 \(took \d+(\.\d)? s\)\none\ntwo\nthree\n$/),
    failure: "The command ended with exit code 3:\none\ntwo\nthree",
  });
  expect(failed).not.toHaveProperty("changed");
  expect(await told("true")).toMatchObject({ text: expect.stringMatching(/^exit code 0 .*\n\(no output\)$/) });
  expect(await told("echo x > y; exit 1")).toMatchObject({ ok: true, changed: true });
  expect(await told("echo so far; sleep 300", { timeout_ms: 700 })).toMatchObject({
    text: "killed after 0.7 s (timeout_ms)\nso far\n",
  });
  expect(await told("pwd", { cwd: "./src/deep/" })).toMatchObject({ text: expect.stringContaining("/src/deep\n") });
});

test("of a long output a model sees the beginning and the end", async () => {
  const outcome = await open.ask("shell_execute", { cmd: "seq 1 20000; echo the end; exit 1", shell: "zsh" });
  const { text = "" } = outcome as { text?: string };
  expect(text.length).toBeLessThan(31_000);
  expect(text).toMatch(/^exit code 1 .*\n1\n2\n/);
  expect(text).toMatch(/\n… 14\d\d\d lines left out\n\d+\n/);
  expect(text).toMatch(/20000\nthe end\n\n\[shell_execute has no parameter "shell"; left out\. It takes: command, /);
});

test("a time limit ends the command with all it started", async () => {
  const seconds = uniqueSeconds();
  const command = `sleep ${seconds} & (sleep ${seconds}; echo late > late) & echo x > early; wait`;
  await expect(shell(command, { timeout_ms: 500 })).rejects.toMatchObject({
    message: expect.stringContaining("did not end within 500 ms"),
    detail: { timedOut: true },
  });
  expect(await gone(seconds)).toBe(true);
  expect((await open.entries()).map(({ path }) => path)).toEqual(["early"]);
});

test("what a command left running in the background ends with it, whether or not it holds the output open", async () => {
  for (const redirected of ["", ">/dev/null 2>&1"]) {
    const seconds = uniqueSeconds();
    expect(await shell(`sleep ${seconds} ${redirected} &`)).toMatchObject({ code: 0 });
    expect(await gone(seconds)).toBe(true);
  }
});

test("an abort ends it, also one that came before it began", async () => {
  const controller = new AbortController();
  const seconds = uniqueSeconds();
  const stopped = shell(`sleep ${seconds}`, {}, controller.signal);
  while (running(seconds) === 0) await sleep(10);
  controller.abort();
  await expect(stopped).rejects.toThrow("aborted");
  expect(await gone(seconds)).toBe(true);
  await expect(shell("true", {}, controller.signal)).rejects.toThrow("aborted");
  // It waits for its turn, and is aborted meanwhile.
  const waiting = new AbortController();
  const first = shell("sleep 0.3");
  const second = shell("sleep 300", {}, waiting.signal).then(
    () => "it ran",
    (error: unknown) => String(error),
  );
  waiting.abort();
  await first;
  expect(await second).toMatch(/aborted|exit code/);
});

test("its environment holds no secrets, and its home is not the user's", async () => {
  process.env["SOME_API_KEY"] = "secret";
  try {
    const { output } = (await shell("env")) as { output: string };
    const names = output.split("\n").map((line) => line.split("=")[0]);
    expect(output).not.toContain("secret");
    expect(names).not.toContain("SOME_API_KEY");
    expect(output).toContain(`HOME=${join(plan.root, "..", "home")}`);
  } finally {
    delete process.env["SOME_API_KEY"];
  }
});
