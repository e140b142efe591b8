/** A tool actor's steps: in waves, each once, what is done stays done. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StaleLeaseError } from "../../domain/errors/errors.ts";
import { recordedSteps } from "../../changes/plan-changes.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";

test("waves come one after another, the steps of a wave side by side", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([
    [step("a", "write_file", { path: "x", content: "1" }), step("b", "write_file", { path: "y", content: "1" })],
    [step("c", "edit_file", { path: "x", old: "1", new: "2" })],
  ]);
  expect(plan.events.slice(0, 2)).toEqual(["a started", "b started"]);
  expect(plan.events.slice(4)).toEqual(["c started", "c done"]);
  expect(plan.events.slice(2, 4).sort()).toEqual(["a done", "b done"]);
  const steps = await recordedSteps(plan.store, plan.id, plan.lease.plan.attempt);
  expect([...steps.keys()]).toEqual(["a", "b", "c"]);
  for (const id of steps.values()) expect((await plan.changesets.get(id))?.closedAt).toBeDefined();
});

test("a failing step keeps the others' work and stops the next wave; a resumed run repeats only it", async () => {
  await using plan = await ExecutingPlan.start();
  const waves = (command: string) => [
    [
      step("fails", "shell_execute", { command }),
      step("works", "write_file", { path: "kept", content: "kept" }),
      step("works-too", "shell_execute", { command: "echo once >> once" }),
    ],
    [step("later", "write_file", { path: "later", content: "later" })],
  ];
  await expect(plan.run(waves("echo half > half; exit 1"))).rejects.toThrow("ended with exit code 1");
  expect(plan.events).toContain("fails failed");
  expect(plan.events).toContain("works done");
  expect(plan.events).not.toContain("later started");
  const kept = await plan.recorded();
  expect(kept.map(({ path }) => path)).toEqual(["kept", "once"]);

  plan.events.length = 0;
  await plan.takeOver();
  await plan.run(waves("test ! -e half && echo whole > whole"));
  expect([...plan.events].sort()).toEqual(
    ["fails started", "fails done", "works recorded", "works-too recorded", "later started", "later done"].sort(),
  );
  const entries = await plan.recorded();
  expect(entries.map((entry) => `${entry.step} ${entry.path}`)).toEqual([
    "fails whole",
    "works kept",
    "works-too once",
    "later later",
  ]);
  expect(await plan.replayed(entries)).toEqual(await plan.tree());
  expect(await readFile(join(plan.root, "once"), "utf8")).toBe("once\n");
});

test("two that change one path at the same time fail, in either order; resumed the outcome is the first's", async () => {
  await using plan = await ExecutingPlan.start();
  const waves = [
    [
      step("one", "write_file", { path: "x", content: "1" }),
      step("two", "shell_execute", { command: "sleep 0.05; echo 2 > x" }),
    ],
  ];
  await expect(plan.run(waves)).rejects.toThrow("run at the same time and both change");
  await plan.takeOver();
  await plan.run([]);
  expect(await plan.replayed(await plan.recorded())).toEqual(await plan.tree());
});

test("without the lease nothing counts; aborted, nothing begins", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("a", "write_file", { path: "a", content: "a" })]]);
  await expect(
    plan.run([[step("b", "write_file", { path: "b", content: "b" })]], AbortSignal.abort(new Error("stop"))),
  ).rejects.toThrow("stop");
  await plan.service.cancelPlan(plan.id);
  await expect(plan.run([[step("c", "write_file", { path: "c", content: "c" })]])).rejects.toBeInstanceOf(
    StaleLeaseError,
  );
  expect((await plan.recorded()).map(({ path }) => path)).toEqual(["a"]);
});
