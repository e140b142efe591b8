/** An outside agent stops for a person, at its limits and when its plan is cancelled, and leaves nothing running. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bash, byTurn, OutsideWorld, put, tiny, write } from "./testing/outside-world.ts";

const MAIN = join(import.meta.dirname, "../agents-program.ts");
const SPOKEN = ["acp", "run"] as const;

async function planOf(world: OutsideWorld): Promise<string> {
  const [row] = await world.reading((reader) => reader.all<{ id: string }>("SELECT id FROM plans"));
  return row?.id ?? "";
}

/** A command of ours as a process of its own. */
async function command(world: OutsideWorld, ...words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [MAIN, "--data-dir", world.dataDir, ...words], {
    cwd: world.repository,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => (output += String(bytes)));
  await once(child, "close");
  return output;
}

/** Whether a process has the word among those it was started with. */
function isRunning(word: string): boolean {
  return readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  });
}

test.each(SPOKEN)(
  "%s: a question gives the plan up, another process answers, and no answer is paid for twice",
  async (speaks) => {
    const create = speaks === "run" ? write : put;
    await using world = await OutsideWorld.open((request) =>
      JSON.stringify(request.messages).includes("The user answers: blue")
        ? byTurn({ calls: [create("color.txt", "blue\n")] }, { text: "It is blue." })(request)
        : { text: "Which color?" },
    );
    await world.add({ speaks });
    await expect(world.run("paint it")).rejects.toMatchObject({ code: "awaiting_input" });
    const plan = await planOf(world);
    const agents = await world.restart();
    expect(await agents.run("plan.status", { plan })).toMatchObject({ awaitingInput: { question: "Which color?" } });
    expect(world.server.log).toHaveLength(1);
    await command(world, "plan", "prompt", plan, "blue");
    expect(await agents.run("plan.execute", { plan })).toMatchObject({ phase: "execute", state: "complete" });
    expect(world.server.log).toHaveLength(3);
    expect((await world.credits()).map(({ path }) => path)).toEqual(["color.txt"]);
  },
);

test.each(SPOKEN)("%s: at its limit of rounds the step gives up, and the next execution raises it", async (speaks) => {
  const create = speaks === "run" ? write : put;
  await using world = await OutsideWorld.open(
    byTurn({ calls: [create("b.txt", "b\n")] }, { calls: [create("c.txt", "c\n")] }, { text: "Both." }),
  );
  await world.add({ speaks, more: "limits: { rounds: 2, minutes: 5 }" });
  await expect(world.run("write")).rejects.toMatchObject({ code: "stuck" });
  expect(world.server.log).toHaveLength(2);
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt", "c.txt"]);
  const plan = await planOf(world);
  const agents = await world.restart();
  expect(await agents.run("plan.execute", { plan })).toMatchObject({ phase: "execute", state: "complete" });
  expect(world.server.log).toHaveLength(3);
  expect((await world.credits()).map(({ path }) => path)).toEqual(["b.txt", "c.txt"]);
});

test.each([
  ["acp", "cancelled by another process"],
  ["run", "cancelled by another process"],
  ["acp", "stopped by the caller"],
  ["run", "stopped by the caller"],
] as const)("%s: a plan that is %s leaves nothing running", async (speaks, how) => {
  const word = `6${process.pid}${speaks === "acp" ? 1 : 2}${how.length}`;
  const sleep = speaks === "run" ? bash(`sleep ${word}`) : tiny("run", { command: `sleep ${word}` });
  await using world = await OutsideWorld.open(byTurn({ calls: [sleep] }, { text: "Slept." }));
  await world.add({ speaks });
  const stop = new AbortController();
  const agents = await world.agents();
  const wish = { request: "sleep", directory: world.repository, automationProfile: "trusted", actor: "local/helper" };
  const running = agents.run("run", wish, { answers: "none", signal: stop.signal }).catch((error: unknown) => error);
  await expect.poll(() => isRunning(word), { timeout: 30_000 }).toBe(true);
  const plan = await planOf(world);
  if (how === "stopped by the caller") stop.abort();
  else await command(world, "plan", "cancel", plan);
  expect(await running).toBeInstanceOf(Error);
  expect(isRunning(word)).toBe(false);
  expect(world.server.log).toHaveLength(1);
  const state = how === "stopped by the caller" ? "processing" : "cancelled";
  expect(await agents.run("plan.status", { plan })).toMatchObject({ state });
});
