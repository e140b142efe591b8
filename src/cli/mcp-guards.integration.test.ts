/** Guards of plans hold for the tools of MCP servers: by tool, by pattern, and by server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const HOSTILE = fileURLToPath(new URL("../app/testing/hostile-server.ts", import.meta.url));
const STEPS = [{ id: "work", description: "Work", confidence: 0.9, risk: 0.1, resources: ["api"] }];

test.each(["mcp__bad__count", "mcp__bad__*", "mcp__bad"])(
  "%s can be denied, and is then never called",
  async (denied) => {
    using world = new ThinkingWorld();
    const { agents } = world;
    const log = join(agents.directory, "log");
    await agents.run(["mcp", "server", "add", "bad", "--", process.execPath, HOSTILE, log]);
    world.script(
      strategyTurn(STEPS),
      stepTurn("work", { tool_calls: [{ tool: "mcp__bad__count", parameters: {} }] }),
      stepTurn("work", { match: { tool: "mcp__bad__count" }, text: "Done." }),
      turn({ text: "Nothing needs to change.", times: 5 }),
    );
    const id = await world.thinking();
    expect((await agents.json("plan", "guard", id, "--deny-tool", denied)).exit_code).toBe(0);
    await agents.json("plan", "execute", id);
    expect(readFileSync(log, "utf8")).not.toContain("called count");
  },
);
