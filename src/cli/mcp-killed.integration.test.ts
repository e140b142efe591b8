/** A call of an MCP tool that writes outside of the plan is made once, also if our process is killed during it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ifCode } from "../platform/contained-path.ts";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const HOSTILE = fileURLToPath(new URL("../app/testing/hostile-server.ts", import.meta.url));
const STEPS = [{ id: "work", description: "Work", confidence: 0.9, risk: 0.1, resources: ["api"] }];

function logged(world: ThinkingWorld): string[] {
  try {
    return readFileSync(join(world.agents.directory, "log"), "utf8").trim().split("\n");
  } catch (error) {
    return ifCode("ENOENT")(error) ?? [];
  }
}

async function killedDuring(world: ThinkingWorld, tool: string, ...more: string[]): Promise<string> {
  const words = ["mcp", "server", "add", "bad", ...more, "--", process.execPath, HOSTILE];
  await world.agents.run([...words, join(world.agents.directory, "log")]);
  world.script(
    strategyTurn(STEPS),
    stepTurn("work", { tool_calls: [{ tool: `mcp__bad__${tool}`, parameters: {} }] }),
    stepTurn("work", { match: { tool: `mcp__bad__${tool}` }, text: "Done." }),
    turn({ text: "Nothing needs to change.", times: 5 }),
  );
  const id = await world.thinking();
  const { child, finished } = world.agents.start(["plan", "execute", id]);
  while (!logged(world).includes(`called ${tool}`)) await sleep(20);
  child.kill("SIGKILL");
  await finished;
  return id;
}

test("a call that writes is told as unknown after a kill, and not repeated", { timeout: 90_000 }, async () => {
  using world = new ThinkingWorld();
  const id = await killedDuring(world, "slow");
  expect((await world.agents.processJson("plan", "execute", id)).exit_code).toBe(0);
  expect(logged(world).filter((line) => line === "called slow")).toHaveLength(1);
  const { stdout } = await world.agents.run(["plan", "explain", id, "work.2", "--show-context"]);
  expect(stdout).toContain("Whether the call was carried out is not known");
});
