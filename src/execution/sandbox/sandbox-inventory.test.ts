/** Sandboxes that no plan needs any more are removed, with their refs; those in use stay. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listSandboxes, removeUnneeded } from "./sandbox-inventory.ts";
import { removeHome } from "./sandbox.ts";
import { withTemporaryHome } from "./temporary-home.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";

const NAME = "api.0a1b2c3d-0000-4000-8000-00000000abcd";

async function begun(): Promise<{ plan: ExecutingPlan; attempt: string }> {
  const plan = await ExecutingPlan.start();
  await plan.run([[step("write", "write_file", { path: "new.txt", content: "new" })]]);
  return { plan, attempt: join(plan.directory, plan.id, "1") };
}

const facts = (list: readonly { leftOver: boolean; removable: boolean; why: string }[]): unknown[] =>
  list.map(({ leftOver, removable, why }) => [leftOver, removable, why]);

test("a sandbox under a temporary name is in use while its lock is held, in any state of the plan", async () => {
  const { plan, attempt } = await begun();
  await using _plan = plan;
  const home = join(attempt, "api");
  await plan.service.cancelPlan(plan.id);
  await withTemporaryHome(home, async (temporary) => {
    await rename(home, temporary);
    expect(facts(await listSandboxes(plan.store, plan.directory))).toEqual([
      [true, false, "another process is making or removing it"],
    ]);
    expect(await removeUnneeded(plan.store, plan.directory)).toEqual([]);
    expect(existsSync(join(temporary, "tree", "a.txt"))).toBe(true);
    await rename(temporary, home);
  });
  expect(facts(await listSandboxes(plan.store, plan.directory))).toEqual([[false, true, "the plan is cancelled"]]);
  expect(await removeUnneeded(plan.store, plan.directory)).toHaveLength(1);
  expect(await readdir(plan.directory)).toEqual([]);
  expect(await plan.user.git("for-each-ref", "refs/cleveragents")).toBe("");
});

test("what is left beside a whole sandbox goes at once, but not the ref of the whole one", async () => {
  const { plan, attempt } = await begun();
  await using _plan = plan;
  const pinned = await plan.user.git("for-each-ref", "refs/cleveragents");
  await mkdir(join(attempt, `${NAME}.tmp`, "tree"), { recursive: true });
  await copyFile(join(attempt, "api", "target.json"), join(attempt, `${NAME}.tmp`, "target.json"));
  await writeFile(join(attempt, `${NAME}.lock`), "");
  await mkdir(join(attempt, "api.not-ours.tmp"));
  expect(facts(await listSandboxes(plan.store, plan.directory))).toEqual([
    [false, false, "the plan is at work in execute"],
    [true, true, "left by a process that was killed"],
  ]);
  expect(await removeUnneeded(plan.store, plan.directory)).toHaveLength(1);
  expect((await readdir(attempt)).sort()).toEqual(["api", "api.not-ours.tmp"]);
  expect(await plan.user.git("for-each-ref", "refs/cleveragents")).toBe(pinned);
});

test("a half-made one of an active plan stays, because it alone knows where its ref is", async () => {
  const { plan, attempt } = await begun();
  await using _plan = plan;
  await rename(join(attempt, "api"), join(attempt, `${NAME}.tmp`));
  expect(facts(await listSandboxes(plan.store, plan.directory))).toEqual([
    [true, false, "the plan is at work in execute"],
  ]);
  await plan.service.cancelPlan(plan.id);
  expect(await removeUnneeded(plan.store, plan.directory)).toMatchObject([{ path: plan.user.path, leftOver: true }]);
  expect(await plan.user.git("for-each-ref", "refs/cleveragents")).toBe("");
  expect(await readdir(plan.directory)).toEqual([]);
});

test("a lock that was left alone is cleaned up with its plan; plans of other stores are left alone", async () => {
  const { plan, attempt } = await begun();
  await using _plan = plan;
  await removeHome(join(attempt, "api"));
  await removeHome(join(attempt, "api"));
  await writeFile(join(attempt, `${NAME}.lock`), "");
  const foreign = join(plan.directory, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "1", "api");
  await mkdir(foreign, { recursive: true });
  await writeFile(join(foreign, "target.json"), "{}");
  await plan.service.cancelPlan(plan.id);
  await removeUnneeded(plan.store, plan.directory);
  expect(await readdir(plan.directory)).toEqual(["01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
  expect(facts(await listSandboxes(plan.store, plan.directory))).toEqual([
    [false, false, "its plan is not in this store"],
  ]);
});
