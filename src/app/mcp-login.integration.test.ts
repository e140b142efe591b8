/** MCP servers over HTTP in plans, with keys and with logins: the tokens are renewed, kept, and never shown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CleverAgents } from "./open.ts";
import { LoginServer } from "./testing/login-server.ts";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const WRITE = calls("write_file", { path: "b.txt", content: "b\n" });
const END = { match: { tool: "write_file" }, text: "Done." };

/** Logs in as a person who opens the page. */
async function login(agents: CleverAgents, server: LoginServer, clientId?: string): Promise<void> {
  const pages: Promise<string>[] = [];
  const tell = (event: { readonly type: string; readonly text?: string }): void => {
    if (event.type === "notice") pages.push(server.visit(String(event.text).replace("Open ", "")));
  };
  await agents.run("mcp.server.login", { server: "docs", ...(clientId === undefined ? {} : { clientId }) }, { tell });
  expect(await Promise.all(pages)).toEqual(["You can close this page and go back to the terminal.\n"]);
}

function credentials(world: LoopWorld): string {
  return readFileSync(join(world.directory, "data/credentials.yaml"), "utf8");
}

/** The answers to the calls of the step. */
async function told(world: LoopWorld, plan: string, answer: string): Promise<string> {
  const { messages } = await world.shown(plan, answer);
  return messages.map(({ output }) => output ?? "").join("\n");
}

test("a plan calls a server over HTTP with a key that is masked when the server repeats it", async () => {
  await using server = await LoginServer.listen();
  await using world = new LoopWorld();
  server.key = "key-of-the-docs-12345";
  server.says = `your key is ${server.key}`;
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "docs", url: server.url, headers: { "X-Key": server.key } });
  expect(await agents.run("mcp.server.test", { server: "docs", directory: "/" })).toMatchObject({
    tools: [{ name: "look" }, { name: "put" }],
    resources: 1,
  });
  world.script(
    strategy(FIX),
    step("fix", calls("mcp__docs__look", {})),
    step("fix", { match: { tool: "mcp__docs__look" }, ...calls("mcp_list_resources", {}) }),
    step("fix", {
      match: { tool: "mcp_list_resources" },
      ...calls("mcp_read_resource", { server: "docs", uri: "mem://a" }),
    }),
    step("fix", { match: { tool: "mcp_read_resource" }, ...WRITE }),
    END,
  );
  const { planId } = await world.run("look");
  const text = await told(world, planId, "fix.5");
  expect(text).toContain("called look your key is [masked");
  expect(text).toContain("content your key is [masked");
  expect(text).toContain("docs mem://a a: your key is [masked");
  const { decisionIds } = await agents.run("plan.tree", { plan: planId });
  const explained = await Promise.all(Object.values(decisionIds).map((id) => agents.run("plan.explain", { id })));
  await world.restart();
  const database = readFileSync(join(world.directory, "data/cleveragents.db"), "latin1");
  expect(`${text}${JSON.stringify([world.events, explained])}${database}`).not.toContain(server.key);
});

test("a login with PKCE is kept, its tokens are renewed in plans, and a logout forgets it", async () => {
  await using server = await LoginServer.listen();
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "docs", url: server.url });
  const tried = agents.run("mcp.server.test", { server: "docs", directory: "/" });
  await expect(tried).rejects.toMatchObject({
    message: 'The MCP server "docs" wants a login.',
    next: [{ operation: "mcp.server.login" }],
  });
  await login(agents, server);
  expect(await agents.run("mcp.server.show", { server: "docs" })).toMatchObject({ loggedIn: true });
  const before = credentials(world);
  server.expire();
  server.says = "and more";
  const call = calls("mcp__docs__put", {});
  world.script(strategy(FIX), step("fix", call), { match: { tool: "mcp__docs__put" }, ...WRITE }, END);
  const { planId } = await world.run("put");
  expect(await told(world, planId, "fix.3")).toContain("called put and more");
  expect(server).toMatchObject({ renewals: 1, refusedRenewals: 0, registered: 1, calls: ["put"] });
  expect(credentials(world)).not.toBe(before);
  expect(JSON.stringify(world.events)).not.toMatch(/access-|refresh-/);
  expect(await agents.run("mcp.server.logout", { server: "docs" })).toMatchObject({ wasLoggedIn: true });
  expect(credentials(world)).not.toMatch(/access-|refresh-/);
  expect(await agents.run("mcp.server.logout", { server: "docs" })).toMatchObject({ wasLoggedIn: false });
});

test("a login asks for the scope that the server named, and after a refused call for the one that the call needed", async () => {
  await using server = await LoginServer.listen();
  await using world = new LoopWorld();
  server.scopes = { all: "look", put: "write" };
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "docs", url: server.url });
  await login(agents, server);
  const call = calls("mcp__docs__put", {});
  const script = [strategy(FIX), step("fix", call), { match: { tool: "mcp__docs__put" }, ...WRITE }, END];
  world.script(...script);
  const { planId } = await world.run("put");
  expect(await told(world, planId, "fix.3")).toContain('The MCP server "docs" wants a login.');
  expect(server).toMatchObject({ asked: ["look"], calls: [] });
  await login(agents, server);
  expect(server.asked.map((scope) => scope.split(" ").toSorted())).toEqual([["look"], ["look", "write"]]);
  world.script(...script);
  await world.run("put again");
  expect(server.calls).toEqual(["put"]);
  const secret = agents.run("mcp.server.login", { server: "docs", clientSecretEnv: "NONE" });
  await expect(secret).rejects.toThrow("give its --client-id too");
  const named = agents.run("mcp.server.login", { server: "docs", clientId: "x", clientSecretEnv: "NONE_SET" });
  await expect(named).rejects.toThrow("Your environment has no NONE_SET");
});

test("a login that the server took back is told with the command, and a plan goes on without the server", async () => {
  await using server = await LoginServer.listen();
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "docs", url: server.url });
  await login(agents, server, "own-client");
  expect(server.registered).toBe(0);
  server.revoke();
  world.script(strategy(FIX), step("fix", WRITE), END);
  expect(await world.run("write")).toMatchObject({ changes: { files: 1 } });
  const notice = world.events.find((event) => event.type === "notice" && event.text.includes("docs"));
  expect(notice).toMatchObject({
    text: 'The MCP server "docs" wants a login. The plan continues without its tools.',
    next: [{ operation: "mcp.server.login" }],
  });
  expect(await agents.run("mcp.server.show", { server: "docs" })).toMatchObject({ loggedIn: false });
});

test("a login that is refused or given up leaves the earlier one", async () => {
  await using server = await LoginServer.listen();
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "docs", url: server.url });
  await login(agents, server);
  const before = credentials(world);
  server.refuses = true;
  await expect(login(agents, server)).rejects.toThrow("The server refused the login: access_denied");
  const ending = new AbortController();
  const guesses: Promise<number>[] = [];
  const tell = (event: { readonly type: string; readonly text?: string }): void => {
    if (event.type !== "notice") return;
    const page = new URL(String(event.text).replace("Open ", ""));
    const back = new URL(String(page.searchParams.get("redirect_uri")));
    back.search = "?code=stolen&state=guessed";
    // A page that only guesses the state is not the login.
    guesses.push(fetch(back).then((answer) => (ending.abort(), answer.status)));
  };
  await expect(agents.run("mcp.server.login", { server: "docs" }, { tell, signal: ending.signal })).rejects.toThrow(
    /abort/i,
  );
  expect(await Promise.all(guesses)).toEqual([400]);
  expect(credentials(world)).toBe(before);
});

test("20 connections that renew at once lose no token", { timeout: 30_000 }, async () => {
  await using server = await LoginServer.listen();
  await using world = new LoopWorld();
  const agents = await world.agents();
  await agents.run("mcp.server.add", { server: "docs", url: server.url });
  await login(agents, server);
  server.expire();
  server.renewalMs = 50;
  const tests = Array.from({ length: 20 }, () => agents.run("mcp.server.test", { server: "docs", directory: "/" }));
  const outcomes = await Promise.allSettled(tests);
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => "fulfilled"));
  expect(server).toMatchObject({ renewals: 1, refusedRenewals: 0 });
  server.expire();
  expect(await agents.run("mcp.server.test", { server: "docs", directory: "/" })).toMatchObject({ name: "login" });
});
