import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resetSandbox, type Sandbox } from "./sandbox.ts";
import { ExecutingPlan } from "../testing/executing-plan.ts";
import { UserRepository } from "../testing/user-repository.ts";
import type { PendingChange } from "../workspace/pending-changes.ts";
import type { Workspace } from "../workspace/workspace.ts";

let plan: ExecutingPlan;
let sandbox: Sandbox;
let workspace: Workspace;

beforeEach(async () => {
  const user = await UserRepository.make();
  plan = await ExecutingPlan.start({ strategy: "none", user, target: { versioned: true } });
  ({ workspace } = await plan.open());
  ({ sandbox } = workspace);
});
afterEach(() => plan[Symbol.asyncDispose]());

test("there is no copy: the user's own directory is what is worked in", () => {
  expect(sandbox).toMatchObject({ strategy: "none", root: plan.user.path, base: undefined, fresh: false });
  expect(existsSync(join(plan.directory, plan.id))).toBe(false);
});

test("nothing moves before the call has ended; then it is handed over once, whole", async () => {
  await workspace.change("one", "new.txt", () => ({ content: Buffer.from("new\n"), mode: 0o100644 }));
  expect(existsSync(join(sandbox.root, "new.txt"))).toBe(false);
  const landed: PendingChange[] = [];
  const land = (by: string): Promise<boolean> =>
    workspace.landCall(by, async ({ changes }) => void landed.push(...changes));
  expect(await land("two")).toBe(false);
  expect(await land("one")).toBe(true);
  expect(landed).toMatchObject([{ path: "new.txt", operation: "create", before: undefined }]);
  workspace.dropCall("one");
  expect(await land("one")).toBe(false);
  expect(landed).toHaveLength(1);
});

test("what is found by comparing is refused before it runs", async () => {
  let ran = false;
  const running = workspace.capture("step", async () => {
    ran = true;
  });
  await expect(running).rejects.toMatchObject({ code: "policy", message: expect.stringContaining("in place") });
  expect(ran).toBe(false);
});

test("the user's repository stays as it is set up, and the user's files are never reset", async () => {
  const config = join(sandbox.root, ".git/config");
  const before = readFileSync(config, "utf8");
  await expect(resetSandbox(sandbox)).rejects.toThrow("user's own directory");
  await workspace.restore(new Map([["gone.txt", { before: undefined, after: { hash: "0", mode: 0o100644 } }]]));
  expect(readFileSync(config, "utf8")).toBe(before);
  expect(existsSync(join(sandbox.root, ".git/info/attributes"))).toBe(false);
  expect(existsSync(join(sandbox.root, "gone.txt"))).toBe(false);
});
