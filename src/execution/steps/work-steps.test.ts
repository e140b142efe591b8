/**
 * Tool calls by a caller that continues after a failure: after every call, base and recorded changes are the sandbox.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { tellNothing } from "../../domain/run-event.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import { seededRandom } from "../../testing/random.ts";
import { runToolSteps } from "./step-runner.ts";
import type { WorkStep } from "../../changes/decided-steps.ts";
import { ExecutingPlan } from "../testing/executing-plan.ts";

const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

type Call = readonly [tool: string, params: JsonObject];

/** Carries out these calls in one step each, all steps at the same time, and says how each call ended. */
async function work(plan: ExecutingPlan, steps: Readonly<Record<string, readonly Call[]>>): Promise<string[]> {
  const ended: string[] = [];
  const wave: WorkStep[] = [];
  for (const id of Object.keys(steps)) {
    const chosen = { description: id, resources: [], complexity: "low", risk: null };
    wave.push({ id, tool: undefined, work: chosen, decision: await plan.decision(id) });
  }
  await using _opened = await runToolSteps({
    lease: plan.lease,
    directory: plan.directory,
    targets: [plan.target],
    waves: [wave],
    signal: new AbortController().signal,
    tell: tellNothing,
    work: async ({ id, decision }, place) => {
      for (const [index, [tool, params]] of (steps[id] ?? []).entries()) {
        const order = (): number[] => [...place.order, index + 1];
        const outcome = await place.call({
          key: `${id}/${index + 1}`,
          order,
          tool,
          params,
          by: id,
          decision,
        });
        ended.push(outcome.ok ? `${id}: ok` : `${id}: ${outcome.error}`);
      }
      return "done";
    },
  });
  return ended;
}

async function expectOracle(plan: ExecutingPlan): Promise<void> {
  expect(await plan.replayed(await plan.recorded())).toEqual(await plan.tree());
}

const REFUSED: readonly Call[] = [
  ["read_file", { path: "nowhere.txt" }],
  ["edit_file", { path: "a.txt", old: "not in it", new: "x" }],
  ["write_file", { path: "src", content: "where a directory is" }],
  ["write_file", { path: "a.txt/b", content: "below a file" }],
  ["write_file", { path: "../outside.txt", content: "x" }],
  ["write_file", { path: "/etc/passwd", content: "x" }],
  ["write_file", { path: "x.log", content: "ignored" }],
  ["write_file", { path: ".git/config", content: "x" }],
  ["write_file", { path: `${"n".repeat(300)}.txt`, content: "too long" }],
  ["write_file", { path: "x".repeat(5_000), content: "much too long" }],
  ["write_file", { content: "no path" }],
  ["write_file", { path: "x", content: "x", resource: "unknown" }],
  ["move_file", { path: "a.txt", to: "script.sh" }],
  ["move_file", { path: "a.txt", to: "script.sh/below" }],
  ["delete_directory", { path: "a.txt" }],
  ["write_files", { path: "no such tool" }],
  ["shell_execute", { command: "exit 3" }],
  ["shell_execute", { command: "true", cwd: "../.." }],
  ["search_files", { pattern: "(" }],
  ["git_blame", { path: "nowhere.txt" }],
];

describe.each(["git_worktree", "filesystem_copy"] as const)("%s", (strategy) => {
  test("a call that is refused is a result, and leaves nothing behind", async () => {
    await using plan = await ExecutingPlan.start({ strategy });
    const before = await plan.user.fingerprint();
    const refused = strategy === "git_worktree" ? REFUSED : REFUSED.filter(([, { path }]) => path !== "x.log");
    const ended = await work(plan, { one: [...refused, ["write_file", { path: "after.txt", content: "on" }]] });
    expect(ended.filter((end) => end === "one: ok")).toHaveLength(1);
    expect(ended).toHaveLength(refused.length + 1);
    expect((await plan.recorded()).map(({ path }) => path)).toEqual(["after.txt"]);
    await expectOracle(plan);
    expect(await plan.user.fingerprint()).toEqual(before);
  });

  test("what a failing command changed before it failed counts, and what it would do later does not happen", async () => {
    await using plan = await ExecutingPlan.start({ strategy });
    const late = "echo half > half.txt; rm a.txt; (sleep 0.7; echo late > late.txt) & sleep 30";
    const [first, second] = await work(plan, {
      one: [
        ["shell_execute", { command: late, timeout_ms: 400 }],
        ["shell_execute", { command: "echo more >> half.txt; mkdir sub; echo s > sub/s; exit 1" }],
        ["edit_file", { path: "half.txt", old: "more", new: "MORE" }],
      ],
    });
    expect(first).toContain("did not end within 400 ms");
    expect(second).toContain("exit code 1");
    await sleep(700);
    expect((await plan.recorded()).map(({ step, path }) => `${step} ${path}`).sort()).toEqual([
      "one/1 a.txt",
      "one/1 half.txt",
      "one/2 half.txt",
      "one/2 sub/s",
      "one/3 half.txt",
    ]);
    await expectOracle(plan);
  });

  test("a command that changes what another step changed at the same time is put back altogether", async () => {
    await using plan = await ExecutingPlan.start({ strategy });
    const grab =
      "until test -e mine.txt; do sleep 0.01; done; echo grabbed > mine.txt; rm -r src; mkdir a; echo x > a/x";
    // A command has the sandbox to itself, so the other one comes first or last; it waits until it came first.
    const ended = await work(plan, {
      one: [["write_file", { path: "mine.txt", content: "mine\n" }]],
      two: [
        ["shell_execute", { command: "true" }],
        ["shell_execute", { command: grab, timeout_ms: 5_000 }],
        ["write_file", { path: "mine.txt", content: "mine too\n" }],
        ["write_file", { path: "theirs.txt", content: "theirs\n" }],
      ],
    });
    expect(ended.sort()).toEqual([
      "one: ok",
      'two: The steps "one" and "two" run at the same time and both change "mine.txt".',
      'two: The steps "one" and "two" run at the same time and both change "mine.txt".',
      "two: ok",
      "two: ok",
    ]);
    expect((await plan.recorded()).map(({ path }) => path).sort()).toEqual(["mine.txt", "theirs.txt"]);
    await expectOracle(plan);
  });
});

test("whose a path is stays so when the run is interrupted", async () => {
  await using plan = await ExecutingPlan.start();
  const late: readonly Call[] = [["write_file", { path: "x.txt", content: "by one" }]];
  // The first step does nothing yet, the second one writes; then another process takes over and the first one wants
  // to write too.
  await work(plan, {
    one: [["read_file", { path: "a.txt" }]],
    two: [["write_file", { path: "x.txt", content: "by two" }]],
  });
  await plan.store.transaction((tx) => tx.run("DELETE FROM steps WHERE key = 'worked:one'"));
  await plan.takeOver();
  const ended = await work(plan, { one: [["read_file", { path: "a.txt" }], ...late], two: [] });
  expect(ended).toEqual(["one: ok", expect.stringContaining("run at the same time")]);
  await expectOracle(plan);
});

test("calls that were recorded are not made again, those that failed neither", async () => {
  await using plan = await ExecutingPlan.start();
  const calls: readonly Call[] = [
    ["shell_execute", { command: "echo 1 >> count.txt; exit 1" }],
    ["shell_execute", { command: "echo 1 >> count.txt" }],
  ];
  const ended = await work(plan, { one: calls });
  await plan.store.transaction((tx) => tx.run("DELETE FROM steps WHERE key = 'worked:one'"));
  await plan.takeOver();
  expect(await work(plan, { one: calls })).toEqual(ended);
  expect(await plan.recorded()).toHaveLength(2);
  await expectOracle(plan);
});

test(`calls of one step at the same time: who was last is never chance (seed ${SEED})`, async () => {
  await using plan = await ExecutingPlan.start();
  const random = seededRandom(SEED);
  const pick = <T>(all: readonly T[]): T => all[Math.trunc(random() * all.length)] as T;
  const paths = ["x.txt", "a.txt", "src/z.ts"];
  const calls = Array.from({ length: 40 }, (_, index): Call => {
    const path = pick(paths);
    return pick<Call>([
      ["write_file", { path, content: `${index}\n` }],
      ["shell_execute", { command: `echo ${index} > ${path}` }],
      ["delete_directory", { path: "src" }],
      ["move_file", { path, to: `moved-${index}` }],
    ]);
  });
  let made = 0;
  const decision = await plan.decision("one");
  const chosen = { description: "one", resources: [], complexity: "low", risk: null };
  await using _opened = await runToolSteps({
    lease: plan.lease,
    directory: plan.directory,
    targets: [plan.target],
    waves: [[{ id: "one", tool: undefined, work: chosen, decision }]],
    signal: new AbortController().signal,
    tell: tellNothing,
    work: async (_step, place) => {
      for (let next = 0; next < calls.length; next += 4) {
        await Promise.all(
          calls.slice(next, next + 4).map(([tool, params], index) => {
            const key = `one/${next + index}`;
            return place.call({ key, order: () => [...place.order, (made += 1)], tool, params, by: key, decision });
          }),
        );
      }
      return "done";
    },
  });
  expect(made).toBe(40);
  await expectOracle(plan);
});

test("of many steps of a wave so many are worked on at a time, all of them in the end", async () => {
  await using plan = await ExecutingPlan.start();
  const steps = Array.from({ length: 20 }, (_, index) => `s${index}`);
  let [now, most, done] = [0, 0, 0];
  const wave: WorkStep[] = [];
  for (const id of steps) {
    const chosen = { description: id, resources: [], complexity: "low", risk: null };
    wave.push({ id, tool: undefined, work: chosen, decision: await plan.decision(id) });
  }
  const run = runToolSteps({
    lease: plan.lease,
    directory: plan.directory,
    targets: [plan.target],
    waves: [wave],
    signal: new AbortController().signal,
    tell: tellNothing,
    work: async ({ id }) => {
      now += 1;
      most = Math.max(most, now);
      await sleep(5);
      now -= 1;
      done += 1;
      if (id === "s3") throw new Error("one of them fails");
      return "done";
    },
  });
  await expect(run).rejects.toThrow("one of them fails");
  expect([most, done]).toEqual([8, 20]);
});
