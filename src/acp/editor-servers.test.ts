/** MCP servers that an editor hands over: not used silently, and a plan's after a yes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpServer } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { choose, editorOn } from "./testing/editor.ts";

const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const SECRET = "hunter2-hunter2-hunter2";
const every: McpServer = {
  name: "every",
  command: process.execPath,
  args: [EVERYTHING],
  env: [{ name: "API_TOKEN", value: SECRET }],
};
const docs: McpServer = { type: "http", name: "docs", url: "http://127.0.0.1:9/mcp", headers: [] };
const old: McpServer = { type: "sse", name: "old", url: "http://127.0.0.1:9/sse", headers: [] };

test("the editor's servers are named, added after a yes with their secrets kept apart, and then plans use them", async () => {
  await using loop = new LoopWorld();
  loop.script(
    strategy(FIX),
    step("fix", { match: { tool: "mcp__every__echo" }, text: "NOTHING TO DO: It said hello." }),
    step("fix", calls("mcp__every__echo", { message: "hello" })),
  );
  await using editor = await editorOn(loop, { profile: "trusted" });
  const { sessionId } = await editor.agent.request("session/new", {
    cwd: loop.repository,
    mcpServers: [every, docs, old],
  });
  await editor.until(() => editor.said.includes("are not used: every, docs, old. `/servers` adds them"));
  const agents = await loop.agents();
  const known = async (): Promise<string[]> =>
    (await agents.run("mcp.server.list", { directory: loop.repository })).servers.map(({ name }) => name);
  editor.answers = [choose("reject_once"), choose("allow_once")];
  await editor.prompt(sessionId, "/servers");
  expect(editor.said).toContain("Nothing was added. Not understood here: old.");
  expect(await known()).toEqual([]);
  await editor.prompt(sessionId, "/servers");
  expect(editor.permissions.map(({ toolCall }) => toolCall.title)).toEqual(
    Array(2).fill("Add these MCP servers? Their programs run with your rights."),
  );
  expect(JSON.stringify(editor.permissions[0]?.toolCall.content)).toContain(EVERYTHING);
  expect(JSON.stringify(editor.updates)).not.toContain(SECRET);
  expect(await known()).toEqual(["docs", "every"]);
  const database = readFileSync(join(loop.directory, "data", "cleveragents.db"), "latin1");
  expect(database).not.toContain(SECRET);
  await agents.run("mcp.server.remove", { server: "docs" });
  await editor.prompt(sessionId, "say hello");
  expect(editor.of("tool_call")).toContainEqual(expect.objectContaining({ name: "mcp__every__echo" }));
  expect(editor.said).toContain("It said hello.");
  // A server that is known already is not named again.
  await editor.agent.request("session/new", { cwd: loop.repository, mcpServers: [every] });
  expect(editor.said).not.toContain("are not used: every.");
});
