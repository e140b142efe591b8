/** The server behind HTTP, by the official client, in both versions of the protocol. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { composeCleverAgents } from "../app/open.ts";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { tellNothing } from "../domain/run-event.ts";
import { mcpHandler } from "./http-handler.ts";
import { RunningPlans } from "./running-plans.ts";
import { connected, ERAS, PlanClient, serverParts, type ClientOptions } from "./testing/plan-client.ts";

const TRUSTED = { automationProfile: "trusted", actor: undefined, budget: undefined };

function world(...turns: readonly object[]): LoopWorld {
  const made = new LoopWorld();
  made.script(strategy(FIX), ...turns);
  return made;
}

async function handled(loop: LoopWorld) {
  const parts = serverParts(loop, { directory: undefined, options: TRUSTED });
  const agents = composeCleverAgents({ environment: parts.environment, directory: loop.directory });
  const handler = await mcpHandler({ ...parts, agents });
  const url = new URL("http://plans.test/mcp");
  return {
    handler,
    client: async (options: ClientOptions): Promise<PlanClient> => {
      const fetch = (to: string | URL, init?: RequestInit): Promise<Response> => handler.fetch(new Request(to, init));
      const transport = new StreamableHTTPClientTransport(url, { fetch });
      return new PlanClient(await connected(transport, options), () => Promise.resolve());
    },
    [Symbol.asyncDispose]: async () => {
      await handler[Symbol.asyncDispose]();
      await agents[Symbol.asyncDispose]();
    },
  };
}

test.each(ERAS)("request, apply by arguments and undo; work goes on between the requests (%s)", async (era) => {
  await using loop = world(
    step("fix", { match: { tool: "write_file" }, text: "It is there." }),
    step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
  );
  await using served = await handled(loop);
  await using agent = await served.client({ era, roots: ["file:///nowhere"] });
  const directory = loop.repository;
  expect((await agent.call("run", { request: "write b.txt" })).text).toMatch(/^error usage: directory: /);
  const { plan_id: plan } = (await agent.call("run", { request: "write b.txt", directory })).data;
  const { version, standing } = (await agent.call("plan_wait", { plan, timeout_seconds: 60 })).data;
  expect(standing).toBe("ready to review");
  const apply = { plan, approve: true, expected_version: version };
  expect((await agent.call("plan_apply", apply)).data).toMatchObject({ applied: true });
  expect(existsSync(join(loop.repository, "b.txt"))).toBe(true);
});

test("a form reaches the user by the newer version, and its state cannot be made up", async () => {
  await using loop = world(
    step("fix", { match: { tool: "write_file" }, text: "It is there." }),
    step("fix", calls("write_file", { path: "b.txt", content: "new\n" })),
  );
  await using served = await handled(loop);
  const onForm = () => ({ action: "accept" as const, content: { approve: true } });
  await using agent = await served.client({ era: "auto", onForm });
  const run = { request: "write b.txt", directory: loop.repository, wait_seconds: 60 };
  const { plan_id: plan } = (await agent.call("run", run)).data;
  const forged = Buffer.from(JSON.stringify({ p: { tool: "plan_apply", plan, version: 1, input: {} } })).toString(
    "base64url",
  );
  const made = {
    name: "plan_apply",
    arguments: { plan },
    inputResponses: { approve: onForm() },
    requestState: `v1.${forged}.AAAA`,
  };
  await expect(agent.client.callTool(made)).rejects.toThrow(/requestState/);
  expect(existsSync(join(loop.repository, "b.txt"))).toBe(false);
  expect((await agent.call("plan_apply", { plan })).data).toMatchObject({ applied: true });
});

test("closing the handler stops the plans that its clients began, and those that begin while it closes", async () => {
  await using loop = world({ ...step("fix", { text: "." }), times: "always", delay_ms: 60_000 });
  await using served = await handled(loop);
  await using agent = await served.client({ era: "legacy" });
  const run = { request: "write b.txt", directory: loop.repository };
  const { plan_id: plan } = (await agent.call("run", run)).data;
  await served.handler[Symbol.asyncDispose]();
  await expect(agent.call("plan_status")).rejects.toThrow("closed");
  const agents = await loop.agents();
  expect((await agents.run("plan.status", { plan: String(plan) })).standing).toBe("stopped");
  const late = new RunningPlans(agents);
  await late.close();
  const running = await late.begin("plan.execute", { plan: String(plan) }, tellNothing);
  await running.ended;
  expect(running.failure).toMatchObject({ code: "plan", message: expect.stringContaining("interrupted") });
});
