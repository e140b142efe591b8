/** Plans that are left to plan workers, through the command line: what is carried out, where it stops, what is said. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { QueueWorld } from "./testing/queue-world.ts";

const WRITE = `  - { id: write, tool: write_file, params: { path: new.txt, content: "new\\n" } }\n`;

let world: QueueWorld;
beforeEach(() => {
  world = new QueueWorld();
});
afterEach(() => {
  world[Symbol.dispose]();
});

test("a queued plan is carried out by a worker, and stops where its profile asks", async () => {
  await world.tool(WRITE);
  const { data, messages } = await world.agents.json("plan", "use", "work", "shop", "--background");
  const id = String(data["plan_id"]);
  expect(data["queued"]).toEqual({ workers: 0 });
  expect(messages.map(({ text }) => text)).toContain(
    "No process works on the queue now; the plan stays in it until one does.",
  );
  expect(data["next_steps"]).toEqual(["agents jobs work", `agents plan watch ${id}`, `agents plan wait ${id}`]);
  expect((await world.jobOf(id))?.["state"]).toBe("queued");
  await world.work();
  expect(await world.stateOf(id)).toBe("execute/complete");
  expect((await world.jobOf(id))?.["state"]).toBe("waiting");
});

test("a plan whose profile lets it is applied by the worker, and once only", async () => {
  await world.tool(WRITE);
  const id = await world.queued("--automation-profile", await world.ci());
  await world.work();
  expect(await world.stateOf(id)).toBe("apply/applied");
  expect(readFileSync(join(world.repository, "new.txt"), "utf8")).toBe("new\n");
});
