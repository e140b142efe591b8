/** Files with servers that other programs read too: of VS Code and Cursor, with their variables. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

const HOSTILE = fileURLToPath(new URL("testing/hostile-server.ts", import.meta.url));
const WRITE = calls("write_file", { path: "b.txt", content: "b\n" });
const END = { match: { tool: "write_file" }, text: "Done." };

/** As an editor writes it, with comments and last commas. */
const VS_CODE = `{
  // asked for once // "by" the editor
  "inputs": [{ "type": "promptString", "id": "api-token", "password": true, "description": "a /* token */" }],
  "servers": {
    "bad": {
      "type": "stdio",
      "command": ${JSON.stringify(process.execPath)},
      "args": ["\${workspaceFolder}/tools/server.ts", "/dev/null", "\${env:SERVER_MODE}"], /* odd */
      "env": { "API_TOKEN": "\${input:api-token}", },
    },
  },
}`;

function notices(world: LoopWorld): string {
  return world.events.flatMap((event) => (event.type === "notice" ? [event.text] : [])).join("\n");
}

test("a file of VS Code is used after one yes, and its inputs are variables", { timeout: 60_000 }, async () => {
  await using world = new LoopWorld();
  world.commit({ ".vscode/mcp.json": VS_CODE, "tools/server.ts": readFileSync(HOSTILE) });
  const agents = await world.agents();
  const accepted = await agents.run("mcp.server.accept", { here: world.repository });
  expect(accepted).toMatchObject({ file: join(world.repository, ".vscode/mcp.json"), servers: ["bad"] });
  expect(accepted.wants.join("\n")).toMatch(/SERVER_MODE[^]*API_TOKEN/);
  expect(accepted.wants.join("\n")).not.toMatch(/workspaceFolder \(|input/);
  world.script(strategy(FIX), step("fix", WRITE), END);
  await world.run("write");
  expect(notices(world)).toMatch(/The MCP server "bad" needs .*API_TOKEN.*, which your environment does not have/);
  world.environment = { API_TOKEN: "hunter2-hunter2-hunter2", SERVER_MODE: "odd" };
  await world.restart();
  const secret = calls("mcp__bad__secret", {});
  world.script(strategy(FIX), step("fix", secret), { match: { tool: "mcp__bad__secret" }, ...WRITE }, END);
  const { planId } = await world.run("ask");
  const { messages } = await world.shown(planId, "fix.2");
  expect(messages.at(-1)?.output).toBe("it is [masked: configured key]");
});

test("a file of Cursor is read, and forms that only an editor can fill in are refused in words", async () => {
  await using world = new LoopWorld();
  const file = (server: object): string => JSON.stringify({ mcpServers: { far: server } });
  const headers = { Authorization: "Bearer ${env:FAR_TOKEN}" };
  world.commit({ ".cursor/mcp.json": file({ url: "https://far.example/mcp", headers }) });
  const agents = await world.agents();
  const accept = () => agents.run("mcp.server.accept", { here: world.repository });
  expect((await accept()).wants.join("\n")).toContain("FAR_TOKEN");
  const added = await agents.run("mcp.server.add", { server: "own", url: "https://own.example", headers });
  expect(JSON.stringify(added)).toContain("Bearer ${FAR_TOKEN}");
  const path = join(world.repository, ".cursor/mcp.json");
  writeFileSync(path, file({ command: "prog", args: ["${command:pick}"], env: { A: "${config:a.b}" } }));
  await expect(accept()).rejects.toThrow(
    "args.0 has ${command:pick}, which only an editor can fill in; write the value, or a variable",
  );
  await expect(accept()).rejects.toThrow("A has ${config:a.b}");
  writeFileSync(path, file({ command: "prog", envFile: "${workspaceFolder}/.env" }));
  await expect(accept()).rejects.toThrow("envFile is not read; name its variables in env");
  const { repository } = await agents.run("mcp.server.list", { directory: world.repository });
  expect(repository).toMatchObject({ file: path, state: "not usable" });
  rmSync(path);
});
