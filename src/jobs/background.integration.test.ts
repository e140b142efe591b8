/** Plans that are left to plan workers, through the command line: what is carried out, where it stops, what is said. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../cli/run-cli.ts";
import { capturedIo } from "../cli/testing/captured-io.ts";
import { QueueWorld } from "./testing/queue-world.ts";

const WRITE = `  - { id: write, tool: write_file, params: { path: new.txt, content: "new\\n" } }\n`;
const FAIL = `  - { id: fail, tool: edit_file, params: { path: missing.txt, old: a, new: b } }\n`;

const STRATEGY = {
  match: { user: "Decide" },
  tool_calls: [{ tool: "record_strategy", parameters: { steps: [{ id: "note", description: "Write the note" }] } }],
};
const NOTE = {
  match: { user: 'step "note"' },
  tool_calls: [{ tool: "write_file", parameters: { path: "note.txt", content: "x\n" } }],
};
const DONE = { match: { tool: "write_file" }, text: "Done." };
const ASK = {
  match: { user: 'step "note"' },
  tool_calls: [{ tool: "ask_user", parameters: { question: "Which name?", options: ["a", "b"] } }],
};
const ANSWERED = {
  match: { tool: "ask_user" },
  tool_calls: [{ tool: "write_file", parameters: { path: "note.txt", content: "x\n" } }],
};

let world: QueueWorld;
beforeEach(() => {
  world = new QueueWorld();
});
afterEach(() => {
  world[Symbol.dispose]();
});

describe("a queued plan", () => {
  test("is carried out by a worker, and stops where its profile asks", async () => {
    await world.tool(WRITE);
    const { data, messages } = await world.agents.json("plan", "use", "work", "shop", "--background");
    const id = String(data["plan_id"]);
    expect(data["queued"]).toEqual({ workers: 0 });
    const idle = "No process works on the queue now; the plan stays in it until one does.";
    expect(messages.map(({ text }) => text)).toEqual([`Plan ${id} created and queued.`, idle]);
    expect(data["next_steps"]).toEqual(["agents jobs work", `agents plan watch ${id}`, `agents plan wait ${id}`]);
    expect((await world.do("jobs", "list"))["next_steps"]).toEqual(["agents jobs work"]);
    expect(await world.do("watch")).toMatchObject({ plans: [{ plan_id: id, group: "working", needs: null }] });
    expect(await world.work()).toEqual([`plan ${id}: begun`, `plan ${id}: waits for a person`]);
    expect(await world.stateOf(id)).toBe("execute/complete");
    expect(await world.jobOf(id)).toMatchObject({ state: "waiting", attempts: 1, request: "Do the work" });
    expect((await world.agents.json("plan", "wait", id)).exit_code).toBe(0);
    const applied = await world.agents.json("plan", "wait", id, "--until", "applied");
    expect(applied).toMatchObject({ exit_code: 5, error: { message: expect.stringMatching(/waits for a review/) } });
  });

  test("whose profile lets it is applied, and a job that comes again changes nothing", async () => {
    await world.tool(WRITE);
    const id = await world.queued("--automation-profile", await world.ci());
    await world.work();
    expect(await world.stateOf(id)).toBe("apply/applied");
    expect(readFileSync(join(world.repository, "new.txt"), "utf8")).toBe("new\n");
    const { version } = await world.do("plan", "status", id);
    world.sql("UPDATE jobs SET state = 'queued'");
    expect(await world.work()).toEqual([`plan ${id}: begun (try 2)`, `plan ${id}: done`]);
    expect((await world.do("plan", "status", id))["version"]).toBe(version);
    expect(await world.do("plan", "wait", id, "--until", "ended")).toMatchObject({ standing: "applied" });
  });

  test("that fails says why, and can be tried again", async () => {
    await world.tool(FAIL);
    const id = await world.queued();
    await world.work();
    expect(await world.jobOf(id)).toMatchObject({ state: "failed", error: expect.stringMatching(/missing\.txt/) });
    const waited = await world.agents.json("plan", "wait", id);
    expect(waited).toMatchObject({ exit_code: 1, error: { code: "PLAN", message: expect.stringMatching(/missing/) } });
    expect(await world.do("jobs", "retry", id)).toMatchObject({ outcome: "queued", workers: 0 });
    await world.work();
    expect(await world.stateOf(id)).toBe("execute/errored");
  });

  test("that cannot be worked on now is tried again later, and stays queued when its worker stops", async () => {
    await world.tool(WRITE);
    const id = await world.queued();
    world.sql("DELETE FROM actor_steps; DELETE FROM actors");
    const stop = new AbortController();
    const working = world.work({ untilEmpty: false, signal: stop.signal });
    await expect.poll(async () => (await world.jobOf(id))?.["error"], { timeout: 20_000 }).toMatch(/is not registered/);
    stop.abort();
    expect((await working).at(-1)).toMatch(/tried again later: /);
    expect(await world.jobOf(id)).toMatchObject({ state: "queued" });
    expect(await world.stateOf(id)).toBe("strategize/queued");
    expect((await world.do("jobs", "list"))["workers"]).toBe(0);
  });

  test("that another process works on is left to it", async () => {
    await world.tool(`  - { id: slow, tool: shell_execute, params: { command: "sleep 60" } }\n`);
    const id = await world.queued();
    const stop = new AbortController();
    const io = capturedIo({ env: world.environment, cwd: world.agents.directory, signal: stop.signal });
    const executing = runCli(["plan", "execute", id], io);
    await expect.poll(() => world.stateOf(id), { timeout: 30_000 }).toBe("execute/processing");
    expect(await world.work()).toEqual([`plan ${id}: begun`, `plan ${id}: done`]);
    expect(await world.stateOf(id)).toBe("execute/processing");
    stop.abort();
    expect(await executing).toBe(1);
  });

  test("whose apply was begun is applied, and one that a check refused waits", async () => {
    await world.tool(WRITE);
    const id = await world.queued();
    await world.work();
    world.sql("UPDATE plans SET phase = 'apply', state = 'constrained'; UPDATE jobs SET state = 'queued'");
    expect((await world.work()).at(-1)).toBe(`plan ${id}: waits for a person`);
    world.sql("UPDATE plans SET state = 'queued'; UPDATE jobs SET state = 'queued'");
    expect((await world.work()).at(-1)).toBe(`plan ${id}: done`);
    expect(await world.stateOf(id)).toBe("apply/applied");
  });

  test("is cancelled together with the plan, or taken out of the queue without it", async () => {
    await world.tool(WRITE);
    const [cancelled, dropped] = [await world.queued(), await world.queued()];
    await world.do("plan", "cancel", cancelled);
    await world.do("jobs", "cancel", dropped);
    expect(await world.work()).toEqual([]);
    expect([await world.stateOf(cancelled), await world.stateOf(dropped)]).toEqual([
      "strategize/cancelled",
      "strategize/queued",
    ]);
    expect((await world.agents.json("plan", "wait", cancelled)).exit_code).toBe(4);
    for (const words of [
      ["jobs", "retry", cancelled],
      ["jobs", "cancel", dropped],
    ])
      expect((await world.agents.json(...words)).exit_code).toBe(4);
    const stopped = await world.agents.json("plan", "wait", dropped);
    expect(stopped.error?.message).toMatch(/no process works on it/);
  });
});

describe("a plan that a model decides on", () => {
  test("waits for a yes, which a job that comes again is not", async () => {
    await world.model(STRATEGY, NOTE, DONE);
    const id = await world.asked();
    await world.work();
    expect(await world.stateOf(id)).toBe("strategize/complete");
    const waiting = await world.agents.json("plan", "wait", id);
    expect(waiting).toMatchObject({ exit_code: 5, error: { message: expect.stringMatching(/a yes to its strategy/) } });
    world.sql("UPDATE jobs SET state = 'queued'");
    await world.work();
    expect(await world.stateOf(id)).toBe("strategize/complete");
    const yes = await world.agents.json("plan", "execute", id, "--background");
    expect(yes.data).toMatchObject({ outcome: "queued", plan_id: id });
    await world.work();
    expect(await world.stateOf(id)).toBe("execute/complete");
    expect((await world.jobOf(id))?.["state"]).toBe("done");
  });

  test("is carried to its end when its user said yes beforehand", async () => {
    await world.model(STRATEGY, NOTE, DONE);
    const id = await world.asked("--yes");
    await world.work();
    expect(await world.stateOf(id)).toBe("apply/applied");
  });

  test("asks, waits for the answer, and continues with it", async () => {
    await world.model(STRATEGY, ASK, ANSWERED, DONE);
    const id = await world.asked("--automation-profile", await world.ci());
    await world.work();
    const waiting = await world.agents.json("plan", "wait", id);
    expect(waiting).toMatchObject({ exit_code: 5, error: { message: `The plan ${id} asks: Which name?` } });
    const refused = await world.agents.json("plan", "execute", id, "--background");
    expect(refused.exit_code).toBe(5);
    await world.do("plan", "prompt", id, "a");
    expect((await world.jobOf(id))?.["state"]).toBe("queued");
    await world.work();
    expect(await world.stateOf(id)).toBe("apply/applied");
  });
});

test("what cannot be left to workers is refused before anything is written", async () => {
  await world.model(STRATEGY, NOTE, DONE);
  const several = ["run", "--project", "shop", "--background", "--best-of", "2", "do it"];
  const refused = await world.agents.json(...several);
  expect(refused).toMatchObject({ exit_code: 2, error: { message: expect.stringMatching(/begins one new plan/) } });
  const id = await world.asked("--yes");
  await world.work();
  expect((await world.agents.json("plan", "execute", id, "--background")).exit_code).toBe(4);
  expect((await world.do("plan", "list"))["plans"]).toHaveLength(1);
});
