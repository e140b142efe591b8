/** However plans end, nothing is left behind once it is cleaned up. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { gone } from "../testing/processes.ts";
import { ROOT } from "./testing/agents.ts";
import { World } from "./testing/world.ts";
import { sized } from "../testing/size.ts";

const PLANS = sized({ normal: 5, full: 100 });

test(`${PLANS} failed and cancelled plans leave refs, sandboxes, temporary directories and processes as they were`, async () => {
  using world = new World();
  const { agents } = world;
  const temporary = join(agents.directory, "temporary");
  mkdirSync(temporary);
  const run = (args: readonly string[]): ReturnType<typeof agents.process> =>
    agents.process(args, { env: { TMPDIR: temporary } });
  const marker = `leaves-${Math.random()}`;
  const first = await world.plan(`  - { id: begin, tool: write_file, params: { path: new.txt, content: "${marker}" } }
  - { id: fail, tool: shell_execute, params: { command: "(sleep 300; : ${marker}) & git tag x; mktemp; exit 3" } }
`);
  const before = { state: world.state(), refs: world.git("for-each-ref") };
  await run(["info"]);
  const plans = [first];
  while (plans.length < PLANS) plans.push(await world.another());
  // Some at the same time, some stopped halfway, some before they began.
  for (let next = 0; next < plans.length; next += 5) {
    await Promise.all(
      plans.slice(next, next + 5).map(async (id, index) => {
        if (index < 4) expect((await run(["plan", "execute", id])).code).toBe(1);
        expect((await run(["plan", "cancel", id])).code).toBe(0);
      }),
    );
  }
  expect(world.git("for-each-ref")).not.toBe(before.refs);
  const { data } = await agents.json("cleanup", "run", "--yes");
  expect(data["removed"]).toHaveLength(plans.length - Math.floor(plans.length / 5));
  expect({ state: world.state(), refs: world.git("for-each-ref") }).toEqual(before);
  expect(readdirSync(join(agents.dataDir, "sandboxes"))).toEqual([]);
  // Node keeps compiled code there.
  expect(readdirSync(temporary).filter((name) => name !== "node-compile-cache")).toEqual([]);
  expect(await gone(marker)).toBe(true);
  world.git("fsck", "--strict");
});

/** Lets `plan execute` make a large sandbox, and kills it in the middle. */
async function killWhileMaking(world: World, id: string): Promise<void> {
  const attempt = join(world.agents.dataDir, "sandboxes", id, "1");
  const args = [join(ROOT, "bin/agents"), "--data-dir", world.agents.dataDir, "plan", "execute", id];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const half = (): boolean =>
    existsSync(attempt) &&
    readdirSync(attempt).some((name) => name.endsWith(".tmp") && existsSync(join(attempt, name, "tree", "0.bin")));
  while (!half()) await sleep(2);
  child.kill("SIGKILL");
  await ended;
  expect(readdirSync(attempt).some((name) => name.endsWith(".tmp"))).toBe(true);
}

test("the part of a sandbox that a killed process left is listed, kept while its plan may need it, and removed with its ref", async () => {
  using world = new World();
  const { agents } = world;
  for (let file = 0; file < 40; file += 1)
    writeFileSync(join(world.repository, `${file}.bin`), Buffer.alloc(2 * 1024 * 1024, file));
  world.commit("large");
  const id = await world.plan(`  - { tool: write_file, params: { path: new.txt, content: x } }\n`);
  await killWhileMaking(world, id);
  const attempt = join(agents.dataDir, "sandboxes", id, "1");
  const kept = await agents.json("cleanup", "list");
  expect(kept.data["sandboxes"]).toMatchObject([{ resource: "api", left_over: true, removable: false }]);
  expect((await agents.json("cleanup", "run", "--yes")).data["removed"]).toEqual([]);
  expect((await agents.run(["cleanup", "list"])).stdout).toContain("api (half)");
  // Its git may still be writing; what it writes goes with the rest.
  await agents.json("plan", "cancel", id);
  expect(world.git("for-each-ref", "refs/cleveragents")).not.toBe("");
  const { data } = await agents.json("cleanup", "run", "--yes");
  expect(data["removed"]).toMatchObject([{ path: world.repository, why: "left by a process that was killed" }]);
  expect(existsSync(attempt)).toBe(false);
  expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
});

test("a sandbox that is being made is not removed", async () => {
  using world = new World();
  const { agents } = world;
  for (let file = 0; file < 40; file += 1)
    writeFileSync(join(world.repository, `${file}.bin`), Buffer.alloc(2 * 1024 * 1024, file));
  world.commit("large");
  const id = await world.plan(`  - { tool: write_file, params: { path: new.txt, content: x } }\n`);
  const attempt = join(agents.dataDir, "sandboxes", id, "1");
  const executing = agents.json("plan", "execute", id);
  while (!existsSync(attempt) || !readdirSync(attempt).some((name) => name.endsWith(".tmp"))) await sleep(2);
  // Even if its plan is final.
  await agents.json("plan", "cancel", id);
  const during = await agents.json("cleanup", "run", "--yes");
  await executing;
  expect(during.exit_code).toBe(0);
  await agents.json("cleanup", "run", "--yes");
  expect(existsSync(attempt)).toBe(false);
  expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
  rmSync(join(agents.dataDir, "sandboxes"), { recursive: true });
  expect((await agents.json("cleanup", "list")).data).toMatchObject({ summary: { total: 0 } });
});

test("apply says how its sandbox is taken away, and the list how large each one is and why it is kept", async () => {
  using world = new World();
  const { agents } = world;
  writeFileSync(join(world.repository, "large.bin"), Buffer.alloc(3 * 1024 * 1024, 1));
  world.commit("large");
  const id = await world.plan(`  - { tool: write_file, params: { path: new.txt, content: x } }\n`);
  await agents.json("plan", "execute", id);
  const { data } = await agents.json("cleanup", "list");
  expect(data).toMatchObject({
    sandboxes: [{ removable: false, why: "the plan is executed but not applied" }],
    in_place: [],
  });
  const [sandbox] = data["sandboxes"] as { bytes: number }[];
  expect(sandbox?.bytes).toBeGreaterThan(3 * 1024 * 1024);
  const applied = await agents.run(["plan", "apply", id, "--yes"]);
  expect(applied.stdout).toContain("agents cleanup run");
  const listed = await agents.run(["cleanup", "list"]);
  expect(listed.stdout).toMatch(/\d(\.\d)? MiB +yes +the plan is applied/);
});
