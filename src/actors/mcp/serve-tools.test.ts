import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../domain/values/json.ts";
import { serveTools, type ServedTools } from "./serve-tools.ts";

const TOKEN = "token-of-this-run";
const TOOLS = [
  {
    name: "read_file",
    description: "Read a file",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

async function served(parts: Partial<ServedTools> = {}): Promise<{ url: URL; calls: JsonObject[] }> {
  const calls: JsonObject[] = [];
  const tools = await serveTools({
    tools: TOOLS,
    token: TOKEN,
    call: async (tool, params) => {
      calls.push({ tool, params });
      return { text: `content of ${JSON.stringify(params["path"])}`, failed: false };
    },
    ...parts,
  });
  const server = createServer((request, response) => void tools.handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    await tools[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), calls };
}

async function client(url: URL, mode: "auto" | "legacy", token = TOKEN): Promise<Client> {
  const one = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await one.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  onTestFinished(() => one.close());
  return one;
}

test.each([
  ["auto", "2026-07-28"],
  ["legacy", "2025-11-25"],
] as const)("the official client lists and calls the tools (%s)", async (mode, version) => {
  const { url, calls } = await served();
  const agent = await client(url, mode);
  expect(agent.getNegotiatedProtocolVersion()).toBe(version);
  expect((await agent.listTools()).tools).toMatchObject([
    { name: "read_file", description: "Read a file", inputSchema: { required: ["path"] } },
  ]);
  const answer = await agent.callTool({ name: "read_file", arguments: { path: "a.txt" } });
  expect(answer).toMatchObject({ content: [{ type: "text", text: 'content of "a.txt"' }], isError: false });
  expect(calls).toEqual([{ tool: "read_file", params: { path: "a.txt" } }]);
});

test("a failure of a tool and an unknown tool are answers that the agent reads", async () => {
  const { url } = await served({ call: async () => ({ text: "There is no file b.txt.", failed: true }) });
  const agent = await client(url, "auto");
  const missing = await agent.callTool({ name: "read_file", arguments: { path: "b.txt" } });
  expect(missing).toMatchObject({ content: [{ text: "There is no file b.txt." }], isError: true });
  const unknown = await agent.callTool({ name: "rm", arguments: {} });
  expect(unknown).toMatchObject({ content: [{ text: 'There is no tool "rm" here.' }], isError: true });
});

test("an image comes with its text", async () => {
  const image = { mediaType: "image/png", bytes: Buffer.from("png") };
  const { url } = await served({ call: async () => ({ text: "a picture", failed: false, image }) });
  const answer = await (await client(url, "auto")).callTool({ name: "read_file", arguments: { path: "a.png" } });
  expect(answer.content).toEqual([
    { type: "text", text: "a picture" },
    { type: "image", data: Buffer.from("png").toString("base64"), mimeType: "image/png" },
  ]);
});

test("a call that the agent gives up is aborted", async () => {
  const aborted = Promise.withResolvers<void>();
  const { url } = await served({
    call: async (_tool, _params, signal) => {
      signal.addEventListener("abort", () => aborted.resolve());
      await aborted.promise;
      return { text: "", failed: true };
    },
  });
  const agent = await client(url, "auto");
  const ending = new AbortController();
  const call = agent.callTool({ name: "read_file", arguments: { path: "a" } }, { signal: ending.signal });
  setTimeout(() => ending.abort(), 100);
  await expect(call).rejects.toThrow(/abort/i);
  await aborted.promise;
});

test("only the token of this run is served, on this machine, and no page of a browser", async () => {
  const { url, calls } = await served();
  const ask = (headers: Record<string, string>): Promise<Response> =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: "{}" });
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: "Bearer other" })).status).toBe(401);
  const authorization = `Bearer ${TOKEN}`;
  expect((await ask({ authorization, origin: "https://evil.example" })).status).toBe(403);
  expect((await ask({ authorization })).status).toBe(400);
  const large = await fetch(url, {
    method: "POST",
    headers: { authorization },
    body: " ".repeat(9 * 1024 * 1024),
  }).catch(() => undefined);
  expect(large?.status ?? 413).toBe(413);
  await expect(client(url, "auto", "wrong")).rejects.toThrow(/401|unauthorized/i);
  expect(calls).toEqual([]);
});

test("an error that is not the tool's is heard by us, and is an error for the agent", async () => {
  const heard: unknown[] = [];
  const { url } = await served({
    call: async () => {
      throw new Error("the lease is lost");
    },
    onFailure: (error) => heard.push(error),
  });
  const agent = await client(url, "auto");
  await expect(agent.callTool({ name: "read_file", arguments: { path: "a" } })).rejects.toThrow("the lease is lost");
  expect(heard).toMatchObject([{ message: "the lease is lost" }]);
});
