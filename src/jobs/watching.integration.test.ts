/** A plan seen from another command while a worker carries it out, and the command that works on the queue. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { capturedIo } from "../cli/testing/captured-io.ts";
import { runCli } from "../cli/run-cli.ts";
import { QueueWorld } from "./testing/queue-world.ts";

const WRITE = `  - { id: write, tool: write_file, params: { path: new.txt, content: "new\\n" } }\n`;
const SLOW = `  - { id: slow, tool: shell_execute, params: { command: "sleep 60" } }\n`;

let world: QueueWorld;
beforeEach(() => {
  world = new QueueWorld();
});
afterEach(() => {
  world[Symbol.dispose]();
});

interface Line {
  readonly type: string;
  readonly event?: string;
  readonly sequence?: number;
  readonly data?: Record<string, unknown>;
}

async function watched(...words: string[]): Promise<Line[]> {
  const { stdout } = await world.agents.run(["--events", "plan", "watch", ...words]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

test("every event of a plan is told once, in order, and a second watch continues behind them", async () => {
  await world.tool(WRITE);
  const id = await world.queued("--automation-profile", await world.ci());
  const [lines] = await Promise.all([watched(id), world.work()]);
  const told = lines.filter(({ type }) => type === "recorded");
  expect(told.map(({ event }) => event)).toEqual(
    expect.arrayContaining(["plan.created", "plan.state_changed", "plan.phase_changed", "plan.applied"]),
  );
  const numbers = told.map(({ sequence }) => sequence ?? 0);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(lines.at(-1)?.data).toMatchObject({ standing: "applied", after: numbers.at(-1), question: null });
  const from = numbers.at(-3) ?? 0;
  const again = await watched(id, "--after", String(from));
  expect(again.filter(({ type }) => type === "recorded").map(({ sequence }) => sequence)).toEqual(numbers.slice(-2));
});

test("a watch for a person has a line for each event, and ends where the plan waits", async () => {
  await world.tool(WRITE);
  const id = await world.queued();
  await world.work();
  const { code, stdout, stderr } = await world.agents.run(["plan", "watch", id]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/plan phase changed +execute\/queued/);
  expect(stdout).toMatch(/is ready to review/);
});

test("a wait and a watch end when their user stops them, and the plan continues", async () => {
  await world.tool(WRITE);
  const id = await world.queued();
  for (const [words, code] of [
    [["plan", "wait", id], 1],
    [["plan", "watch", id], 0],
  ] as const) {
    const signal = AbortSignal.timeout(1_000);
    const io = capturedIo({ env: world.environment, cwd: world.agents.directory, signal });
    expect(await runCli(words, io)).toBe(code);
    expect(io.written.stderr).toMatch(/no process works on the queue/);
  }
  const late = await world.agents.json("plan", "wait", id, "--timeout", "0.3");
  expect(late).toMatchObject({ exit_code: 1, error: { code: "TIMED_OUT", kept: "The plan continues." } });
  expect((await world.jobOf(id))?.["state"]).toBe("queued");
});

test("the command works until the queue is empty, or until Ctrl-C; a running plan goes back into the queue", async () => {
  await world.tool(SLOW);
  const id = await world.queued("--automation-profile", await world.ci());
  const stop = new AbortController();
  const working = world.workCommand(["--workers", "1"], stop.signal);
  await expect
    .poll(async () => (await world.do("plan", "status", id))["state"], { timeout: 30_000 })
    .toBe("processing");
  expect((await world.agents.json("plan", "execute", id, "--background")).exit_code).toBe(4);
  expect((await world.do("jobs", "list"))["workers"]).toBe(1);
  stop.abort();
  const { code, stderr } = await working;
  expect(code).toBe(0);
  expect(stderr).toMatch(/1 at a time, until Ctrl-C[^]*begun[^]*back in the queue[^]*0 plans came to an end/);
  expect(await world.jobOf(id)).toMatchObject({ state: "queued", attempts: 0 });
  await world.do("plan", "cancel", id);
  const empty = await world.workCommand(["--until-empty", "--per-project", "2"]);
  expect(empty.stderr).toMatch(/0 plans came to an end/);
  expect((await world.workCommand(["--workers", "0"])).code).toBe(2);
});

test("a running plan that is cancelled stops at once, and its worker takes the next", async () => {
  await world.tool(SLOW);
  const id = await world.queued("--automation-profile", await world.ci());
  const stop = new AbortController();
  const working = world.work({ untilEmpty: false, signal: stop.signal, workers: 1 });
  await expect
    .poll(async () => (await world.do("plan", "status", id))["state"], { timeout: 30_000 })
    .toBe("processing");
  await world.do("plan", "cancel", id);
  const next = await world.queued();
  await expect.poll(async () => (await world.jobOf(next))?.["state"], { timeout: 20_000 }).toBe("active");
  expect((await world.jobOf(id))?.["state"]).toBe("cancelled");
  stop.abort();
  expect((await working).filter((line) => line.includes("begun"))).toHaveLength(2);
});

test("a server carries queued plans out beside what it serves, and hands them back when it is told to end", async () => {
  await world.tool(WRITE);
  const { child, finished } = world.agents.start(["server", "start", "--port", "0", "--workers", "1"]);
  const id = await world.queued("--automation-profile", await world.ci());
  expect(await world.do("plan", "wait", id, "--until", "applied")).toMatchObject({ standing: "applied" });
  expect((await world.do("jobs", "list"))["workers"]).toBe(1);
  child.kill("SIGTERM");
  const { code, stderr } = await finished;
  expect(code).toBe(0);
  expect(stderr).toMatch(new RegExp(`info +plan ${id}: done`));
  expect((await world.do("jobs", "list"))["workers"]).toBe(0);
});
