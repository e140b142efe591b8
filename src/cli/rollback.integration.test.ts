/** Decisions, tool calls, checkpoints and rollback, through the command line. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { SandboxHome } from "../execution/testing/sandbox-home.ts";
import { seededRandom } from "../testing/random.ts";
import { Agents, ROOT } from "./testing/agents.ts";
import { ToolPlan } from "./testing/tool-plan.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });
const ROUNDS = FULL ? 60 : 5;
const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

const STEPS = `  - { id: write, tool: write_file, params: { path: x.txt, content: "one\\n" } }
  - { id: shell, tool: shell_execute, params: { command: "echo two >> x.txt; ln -s x.txt link; mkdir -p d; echo d > d/d" }, needs: [write] }
  - { id: move, tool: move_file, params: { path: d/d, to: e }, needs: [shell] }
  - { id: apart, tool: write_file, params: { path: apart.txt, content: apart }, needs: [write] }
`;

interface TreeNode {
  readonly id: string;
  readonly step: string | null;
  readonly state: string;
  readonly changes: number;
  readonly children: readonly TreeNode[];
}

async function tree(plan: ToolPlan, ...options: string[]): Promise<readonly TreeNode[]> {
  const { data } = await plan.agents.json("plan", "tree", plan.id, ...options);
  return (data["tree"] as TreeNode).children;
}

async function checkpointAfter(plan: ToolPlan, step: string): Promise<string> {
  const { data } = await plan.agents.json("plan", "rollback", plan.id);
  const all = data["checkpoints"] as { id: string; after_step: string | null }[];
  return all.find((checkpoint) => checkpoint.after_step === step)?.id ?? "";
}

async function files(plan: ToolPlan): Promise<string[]> {
  const { data } = await plan.agents.json("plan", "diff", plan.id);
  return (data["files"] as { path: string; steps: string[] }[]).map(({ path, steps }) => `${path}: ${steps.join()}`);
}

test("from decisions to tool calls to files, back to a checkpoint and on again", async () => {
  using agents = new Agents();
  const plan = await ToolPlan.make(agents, STEPS);
  expect((await agents.json("plan", "tree", plan.id)).data).toMatchObject({ tree: null, summary: { nodes: 0 } });
  expect((await agents.json("plan", "execute", plan.id)).exit_code).toBe(0);
  const made = await files(plan);
  const first = await tree(plan);
  expect(first).toMatchObject([
    { step: "write", tool: "write_file", state: "done", changes: 1 },
    { step: "shell", tool: "shell_execute", state: "done", changes: 3 },
    { step: "apart", tool: "write_file", state: "done", changes: 1 },
    { step: "move", tool: "move_file", state: "done", changes: 1 },
  ]);
  const decision = first.find(({ step }) => step === "shell")?.id ?? "";

  const byStep = await agents.json("plan", "explain", plan.id, "shell");
  const byId = await agents.json("plan", "explain", plan.id, decision.toLowerCase());
  expect(byStep.data).toEqual(byId.data);
  expect(byStep.data).toMatchObject({
    decision: { id: decision, needs: [{ step: "write" }], state: "done", chosen: { tool: "shell_execute" } },
    dependants: [{ step: "move" }],
    tool_calls: [{ tool: "shell_execute", outcome: "ok", changes: 3, superseded: false }],
    files: [
      { path: "d/d", operation: "create", counts: true },
      { path: "link", counts: true },
      { path: "x.txt", operation: "modify", counts: true },
    ],
  });
  const diff = (await agents.json("plan", "diff", plan.id)).data["files"] as { path: string; decisions: string[] }[];
  expect(diff.find(({ path }) => path === "link")?.decisions).toEqual([decision]);
  const artifacts = (await agents.json("plan", "artifacts", plan.id)).data["artifacts"];
  expect(artifacts).toContainEqual(expect.objectContaining({ path: "link", steps: ["shell"], decisions: [decision] }));

  const checkpoint = await checkpointAfter(plan, "write");
  expect((await agents.json("plan", "rollback", plan.id, checkpoint)).exit_code).toBe(2);
  const rolled = await agents.json("plan", "rollback", plan.id, checkpoint.slice(0, 25), "--yes");
  expect(rolled.data).toMatchObject({
    rolled_back: true,
    checkpoint: { id: checkpoint, after_step: "write", changes: 1, files: ["api/x.txt"] },
    impact: {
      decisions_discarded: 3,
      tool_calls_undone: 3,
      files_affected: ["api/apart.txt", "api/d/d", "api/e", "api/link", "api/x.txt"],
    },
    post_rollback: { phase: "execute", state: "queued", checkpoints: 2 },
  });
  expect(await files(plan)).toEqual(["x.txt: write"]);
  expect((await agents.json("plan", "rollback", plan.id, checkpoint, "--yes")).exit_code).toBe(4);
  expect((await agents.json("plan", "rollback", plan.id, "0Z")).exit_code).toBe(3);
  const discarded = await agents.json("plan", "explain", plan.id, decision);
  expect(discarded.data).toMatchObject({
    decision: { state: "superseded", superseded_by: expect.stringMatching(/^01/) },
    tool_calls: [{ superseded: true }],
  });
  expect((discarded.data["files"] as { counts: boolean }[]).some(({ counts }) => counts)).toBe(false);

  expect((await agents.json("plan", "execute", plan.id)).data).toMatchObject({ ran: true, state: "complete" });
  expect(await files(plan)).toEqual(made);
  expect(plan.file("x.txt")).toBe("one\ntwo\n");
  const second = await tree(plan);
  expect(second.map(({ step, state }) => [step, state])).toEqual(first.map(({ step, state }) => [step, state]));
  expect(second.filter(({ id }) => first.some((old) => old.id === id)).map(({ step }) => step)).toEqual(["write"]);
  expect(await tree(plan, "--show-superseded")).toHaveLength(7);
  expect((await agents.run(["plan", "tree", plan.id])).stdout).toContain("3 superseded (--show-superseded)");
  expect((await agents.run(["plan", "explain", plan.id, "move"])).stdout).toContain("d/d → e");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("what was refused is on record, and a failure with control characters in it is told like any other", async () => {
  using agents = new Agents();
  const plan = await ToolPlan.make(
    agents,
    `  - { id: color, tool: shell_execute, params: { command: "printf '\\\\033[31mred\\\\033[0m \\\\0'; exit 1" } }\n`,
  );
  expect(await agents.json("plan", "execute", plan.id)).toMatchObject({ exit_code: 1, error: { code: "TOOL_FAILED" } });
  expect((await agents.json("plan", "status", plan.id)).data).toMatchObject({ phase: "execute", state: "errored" });
  const { data } = await agents.json("plan", "explain", plan.id, "color");
  expect(data).toMatchObject({
    decision: { state: "failed" },
    tool_calls: [{ outcome: "failed", error: expect.stringContaining("red") }],
  });
});

test("what was decided is what runs, although the actor is gone", async () => {
  using agents = new Agents();
  const plan = await ToolPlan.make(
    agents,
    `  - { id: first, tool: shell_execute, params: { command: "test -e $HOME/flag" } }
  - { id: second, tool: write_file, params: { path: second.txt, content: decided } }\n`,
  );
  expect((await agents.json("plan", "execute", plan.id)).exit_code).toBe(1);
  const database = new DatabaseSync(agents.database);
  database.exec("DELETE FROM actor_steps; DELETE FROM actors");
  database.close();
  new SandboxHome(agents.dataDir, plan.id).write("flag");
  expect((await agents.json("plan", "execute", plan.id)).exit_code).toBe(0);
  expect(plan.file("second.txt")).toBe("decided");
  // Another attempt needs a new strategy, and there is no terminal to ask on.
  await agents.json("plan", "revert", plan.id);
  expect((await agents.json("plan", "execute", plan.id)).exit_code).toBe(3);
});

test("a plan that is being executed is not rolled back; of several who roll one back at once one does", async () => {
  using agents = new Agents();
  const plan = await ToolPlan.make(
    agents,
    `  - { id: first, tool: write_file, params: { path: first.txt, content: "1" } }
  - { id: slow, tool: shell_execute, params: { command: "touch $HOME/began; until test -e $HOME/go; do sleep 0.05; done; echo s > s" } }\n`,
  );
  const running = agents.process(["plan", "execute", plan.id]);
  const home = new SandboxHome(agents.dataDir, plan.id);
  await home.until("began");
  const refused = await agents.json("plan", "rollback", plan.id, "start", "--yes");
  expect(refused).toMatchObject({ exit_code: 4, error: { message: expect.stringContaining("worked on") } });
  home.write("go");
  expect((await running).code).toBe(0);

  const checkpoint = await checkpointAfter(plan, "first");
  const all = await Promise.all(
    Array.from({ length: 4 }, () => agents.processJson("plan", "rollback", plan.id, checkpoint, "--yes")),
  );
  expect(all.map((one) => one.exit_code).sort((a, b) => a - b)).toEqual([0, 4, 4, 4]);
  expect(await tree(plan, "--show-superseded")).toHaveLength(3);
});

test(`killed ${ROUNDS} times while rolling back, a plan is as before or as after (seed ${SEED})`, async () => {
  using agents = new Agents();
  const random = seededRandom(SEED);
  const plan = await ToolPlan.make(agents, STEPS);
  await agents.json("plan", "execute", plan.id);
  const whole = await files(plan);
  let killed = 0;
  let longest = 400;
  for (let round = 0; round < ROUNDS; round += 1) {
    const checkpoint = await checkpointAfter(plan, "write");
    const args = ["--data-dir", agents.dataDir, "plan", "rollback", plan.id, checkpoint, "--yes"];
    const child = spawn(process.execPath, [join(ROOT, "bin/agents"), ...args], { stdio: "ignore" });
    const began = performance.now();
    const exited = new Promise((resolve) => child.on("exit", resolve));
    await Promise.race([exited, sleep(longest * (0.3 + 0.7 * random()))]);
    child.kill("SIGKILL");
    await exited;
    if (child.exitCode === 0) longest = performance.now() - began;
    else killed += 1;
    const { data } = await agents.json("plan", "status", plan.id);
    const state = `${String(data["phase"])}/${String(data["state"])}`;
    const [now, live] = [await files(plan), await tree(plan)];
    expect(live.map(({ step }) => step)).toEqual(["write", "shell", "apart", "move"]);
    if (state === "execute/complete") {
      expect([now, live.every((node) => node.state === "done")]).toEqual([whole, true]);
      continue;
    }
    expect([state, now]).toEqual(["execute/queued", ["x.txt: write"]]);
    expect(live.filter((node) => node.state === "pending")).toHaveLength(3);
    await agents.json("plan", "execute", plan.id);
    expect(await files(plan)).toEqual(whole);
  }
  expect(killed).toBeGreaterThan(0);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});
