/** Apply and git's index: where its lock is, and the result if there is no index. */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./testing/world.ts";

const STEPS = `  - { id: make, tool: write_file, params: { path: new.txt, content: "new\\n" } }\n`;

test("in a linked work tree the lock that is in the way is named where it is", { timeout: 60_000 }, async () => {
  using world = new World();
  const linked = join(world.agents.directory, "linked");
  world.git("worktree", "add", "--quiet", linked, "-b", "side");
  const named = ["rev-parse", "--path-format=absolute", "--git-path", "index.lock"];
  const lock = execFileSync("git", named, { cwd: linked, encoding: "utf8" }).trim();
  world.resource = ["git-checkout", "api", "--path", linked];
  const id = await world.plan(STEPS);
  await world.agents.json("plan", "execute", id);
  writeFileSync(lock, "");
  const refused = await world.agents.json("plan", "apply", id, "--yes");
  expect(refused).toMatchObject({ exit_code: 4, error: { code: "RESOURCE_BUSY" } });
  expect(refused.error?.suggestions).toContain(`if none is running, remove ${lock}`);
  expect(existsSync(join(linked, "new.txt"))).toBe(false);
});

test("a clone that was never checked out is refused before anything is touched, and takes the plan afterwards", async () => {
  using world = new World();
  const clone = join(world.agents.directory, "clone");
  execFileSync("git", ["clone", "--quiet", "--no-checkout", world.repository, clone]);
  world.resource = ["git-checkout", "api", "--path", clone];
  const id = await world.plan(STEPS);
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: clone, encoding: "utf8" });
  await world.agents.json("plan", "execute", id);
  const head = git("rev-parse", "HEAD");
  const refused = await world.agents.json("plan", "apply", id, "--yes");
  expect(refused).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(refused.error?.message).toContain("nothing was ever checked out");
  expect(existsSync(join(clone, "new.txt"))).toBe(false);
  expect(existsSync(join(clone, ".git/index"))).toBe(false);
  expect(git("rev-parse", "HEAD")).toBe(head);
  git("reset", "--quiet", "--hard");
  expect((await world.agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  expect(git("status", "--porcelain")).toBe("");
});
