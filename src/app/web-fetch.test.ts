/** The tool that reads the web, from outside: a server on loopback, which a setting must allow. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { calls, LoopWorld } from "./testing/loop-world.ts";

const PAGE = `<html><head><title>T</title><style>p {}</style></head><body><nav>menu</nav>
<h1>The news</h1><p>It is <b>green</b>.</p><script>evil()</script><ul><li>one</li></ul></body></html>`;

interface Site extends AsyncDisposable {
  readonly host: string;
  readonly asked: string[];
}

async function site(): Promise<Site> {
  const asked: string[] = [];
  const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
    "/page": (response) => response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE),
    "/moved": (response) => response.writeHead(302, { location: "/page" }).end(),
    "/metadata": (response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
    "/inside": (response) => response.writeHead(302, { location: "http://127.0.0.2:1/x" }).end(),
    "/loop": (response) => response.writeHead(302, { location: "/loop" }).end(),
    "/picture": (response) => response.writeHead(200, { "content-type": "image/png" }).end("x"),
    "/large": (response) => response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(6 * 1024 * 1024)),
    "/leak": (response) => response.writeHead(200, { "content-type": "text/plain" }).end(`key ${SECRET}`),
  };
  const server = createServer((request: IncomingMessage, response) => {
    asked.push(request.url ?? "");
    const answer = answers[request.url ?? ""];
    if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SECRET = "sk-proj-abcdefghijklmnop0123456789";

/** Reads all addresses in one answer and returns the results in order. */
async function fetched(world: LoopWorld, urls: readonly string[]): Promise<{ planId: string; told: string[] }> {
  world.script(
    { match: { user: "Decide" }, tool_calls: urls.map((url) => ({ tool: "web_fetch", parameters: { url } })) },
    { match: { tool: "web_fetch" }, ...calls("record_strategy", { answer: "Read." }) },
  );
  await world.restart();
  const { planId } = (await world.run("read it", { automationProfile: "full-auto" })) as { planId: string };
  const { messages } = await world.shown(planId, "strategy.2");
  return { planId, told: messages.filter(({ role }) => role === "tool").map(({ output }) => String(output)) };
}

test("a page is read as text, through redirects, and the call is recorded with secrets masked", async () => {
  await using server = await site();
  await using world = new LoopWorld();
  world.settings = { "web.private-hosts": server.host };
  const at = (path: string): string => `http://${server.host}${path}`;
  const { planId, told } = await fetched(world, [at("/moved"), at("/leak"), at(`/q?token=${SECRET}`)]);
  expect(told[0]).toBe(`${at("/page")}\n\nThe news\n\nIt is green.\n\n * one`);
  expect(told[1]).toContain("key [masked");
  expect(told[2]).toContain("holds a secret");
  expect(server.asked).toEqual(["/moved", "/page", "/leak"]);
  const { decisionIds } = await (await world.agents()).run("plan.tree", { plan: planId });
  const { toolCalls } = await (await world.agents()).run("plan.explain", { id: String(decisionIds["strategy"]) });
  expect(toolCalls.map(({ tool, outcome }) => [tool, outcome])).toEqual([
    ["web_fetch", "ok"],
    ["web_fetch", "ok"],
    ["web_fetch", "failed"],
  ]);
  expect(JSON.stringify([toolCalls, told])).not.toContain(SECRET);
});

test("addresses that are not the internet, pages without text and pages without end are refused", async () => {
  await using server = await site();
  await using world = new LoopWorld();
  world.settings = { "web.private-hosts": server.host };
  const at = (path: string): string => `http://${server.host}${path}`;
  const refused: readonly (readonly [string, RegExp])[] = [
    [at("/metadata"), /169\.254\.169\.254 is not an address of the internet/],
    [at("/inside"), /127\.0\.0\.2:1 is not an address of the internet/],
    [at("/loop"), /leads on more than 5 times/],
    [at("/picture"), /is image\/png; only text can be read/],
    [at("/large"), /is longer than 5242880 bytes/],
    [at("/none"), /answers 404/],
    ["http://localhost:1/", /localhost:1 is not an address of the internet/],
    ["http://[::ffff:10.0.0.1]/", /is not an address of the internet/],
    ["http://2130706433/", /127\.0\.0\.1 is not an address of the internet/],
    ["http://user:word@example.org/", /must not hold a name or a password/],
    ["file:///etc/passwd", /begins with https/],
  ];
  const { told } = await fetched(
    world,
    refused.map(([url]) => url),
  );
  for (const [index, [, why]] of refused.entries()) expect(told[index]).toMatch(why);
});

test("a plan that may not use the network does not have the tool", async () => {
  await using world = new LoopWorld();
  world.script({ match: { user: "Decide" }, ...calls("record_strategy", { answer: "Nothing." }) });
  const { planId } = (await world.run("read it")) as { planId: string };
  const { tools } = await world.shown(planId, "strategy");
  expect(tools.map(({ name }) => name)).not.toContain("web_fetch");
});
