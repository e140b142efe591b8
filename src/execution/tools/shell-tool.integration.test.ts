/** Commands in a sandbox: they end when they should, with all they started, and know nothing that is secret. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gone, running, uniqueSeconds } from "../../testing/processes.ts";
import { confinementHere } from "../../confinement/availability.ts";
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
  });
  expect(await shell("pwd", { cwd: "src/deep" })).toMatchObject({ output: `${plan.root}/src/deep\n` });
  expect(await shell("pwd", { cwd: "." })).toMatchObject({ output: `${plan.root}\n` });
});

test("a failing command is told with its code and last words; what it changed is recorded", async () => {
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
  expect(result).toMatchObject({ cut: true, code: 0 });
  expect((result as { output: string }).output).toHaveLength(256 * 1024);
  expect(await open.entries()).toHaveLength(1);
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
  await expect(stopped).rejects.toMatchObject({ code: "tool_failed" });
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
