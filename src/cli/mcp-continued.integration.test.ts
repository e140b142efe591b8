/** A plan that goes on in another process than the one that asked its MCP servers for their tools. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { stepTurn, strategyTurn, ThinkingWorld, turn } from "./testing/thinking-world.ts";

const STEPS = [{ id: "work", description: "Work", confidence: 0.9, risk: 0.1, resources: ["api"] }];
const FIND = {
  name: "find",
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
} as const;
/** A number must not be sent as a header: the tool is not one that may be called. */
const WRONG = {
  name: "wrong",
  inputSchema: { type: "object", properties: { n: { type: "number", "x-mcp-header": "N" } } },
} as const;

/** A server of the newest version of the protocol, and the method and region of each request that came. */
async function newestServer() {
  const asked: (readonly [string, unknown])[] = [];
  let calls = 0;
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "newest", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: [FIND, WRONG] }));
    server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "found" }] }));
    return server;
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { method = "" } = (body === "" ? {} : JSON.parse(body)) as { method?: string };
    asked.push([method, request.headers["mcp-param-region"]]);
    // The first call is never answered.
    if (method === "tools/call" && ++calls === 1) return;
    const headers = new Headers(
      Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as [string, string]] : [],
      ),
    );
    const sent = request.method === "POST" ? { body } : {};
    const answered = await handler.fetch(
      new Request(`http://x.test${request.url}`, { method: request.method ?? "GET", headers, ...sent }),
    );
    response
      .writeHead(answered.status, Object.fromEntries(answered.headers))
      .end(Buffer.from(await answered.arrayBuffer()));
  };
  const http = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    asked,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      http.close();
      await handler.close();
    },
  };
}

/** A plan that was killed while it waited for the answer to its first call. */
async function killedPlan(world: ThinkingWorld, { asked, url }: Awaited<ReturnType<typeof newestServer>>) {
  const { agents } = world;
  await agents.run(["mcp", "server", "add", "newest", "--url", url, "--read-only", "*"]);
  const tool = "mcp__newest__find";
  world.script(
    strategyTurn(STEPS),
    stepTurn("work", { tool_calls: [{ tool, parameters: { region: "north" } }] }),
    stepTurn("work", { match: { tool }, text: "Done." }),
    turn({ text: "Nothing needs to change.", times: 5 }),
  );
  const id = await world.thinking();
  const { child, finished } = agents.start(["plan", "execute", id]);
  while (!asked.some(([method]) => method === "tools/call")) await sleep(20);
  child.kill("SIGKILL");
  const { stderr } = await finished;
  asked.length = 0;
  return { id, printed: stderr };
}

test("the first call in a new process has the headers that its tool asks for", { timeout: 60_000 }, async () => {
  await using server = await newestServer();
  using world = new ThinkingWorld();
  const { id, printed } = await killedPlan(world, server);
  const continued = await world.agents.process(["plan", "execute", id]);
  expect(continued.code).toBe(0);
  expect(server.asked).toEqual([
    ["server/discover", undefined],
    ["tools/list", undefined],
    ["tools/call", "north"],
  ]);
  // The words of the SDK are not for people: what they mean is told in ours.
  expect(printed).toMatch(/lists tools that are not offered: .*wrong.*header/);
  expect(printed + continued.stderr).not.toContain("mcp-sdk");
});

test("a plan whose server was removed meanwhile tells its model, and goes on", { timeout: 60_000 }, async () => {
  await using server = await newestServer();
  using world = new ThinkingWorld();
  const { agents } = world;
  const { id } = await killedPlan(world, server);
  expect((await agents.json("mcp", "server", "remove", "newest", "--yes")).exit_code).toBe(0);
  expect((await agents.processJson("plan", "execute", id)).exit_code).toBe(0);
  expect(server.asked).toEqual([]);
  const { stdout } = await agents.run(["plan", "explain", id, "work.2", "--show-context"]);
  expect(stdout).toContain("is not there any more.");
});
