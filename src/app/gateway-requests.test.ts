/** The gateway's dealings with odd requests and odd providers, through the package. */
import { once } from "node:events";
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { lyingServer, times } from "../actors/testing/lying-server.ts";
import { plainServer } from "../actors/testing/model-world.ts";
import { strictServer } from "../actors/testing/strict-server.ts";
import type { LoggedRequest } from "../actors/testing/strict-server.ts";
import { GATEWAY_DIALECTS, GatewayWorld, headersOf, type GatewayDialect } from "./testing/gateway-world.ts";

function sentTo(world: GatewayWorld): readonly LoggedRequest["body"][] {
  expect(world.server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  return world.server.log.map(({ body }) => body);
}

test("an answer gets a limit where it has none or a higher one, and thinking fits below it", async () => {
  await using world = await GatewayWorld.open({ input: { maxOutputTokens: 4_000 } });
  const bodies: readonly (readonly [GatewayDialect, Record<string, unknown>])[] = [
    ["anthropic", { max_tokens: 128_000, thinking: { type: "enabled", budget_tokens: 32_000 } }],
    ["anthropic", { max_tokens: 500 }],
    ["chat", { max_tokens: undefined }],
    ["chat", { max_tokens: undefined, max_completion_tokens: 128_000 }],
    ["responses", { max_output_tokens: undefined }],
    ["gemini", { generationConfig: { maxOutputTokens: 65_536, thinkingConfig: { thinkingBudget: 24_576 } } }],
    ["gemini", { generationConfig: undefined }],
  ];
  for (const [dialect, body] of bodies) expect((await world.ask(dialect, { body })).status).toBe(200);
  expect(sentTo(world)).toMatchObject([
    { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 3_000 } },
    { max_tokens: 500 },
    { max_completion_tokens: 4_000, stream_options: { include_usage: true } },
    { max_completion_tokens: 4_000 },
    { max_output_tokens: 4_000 },
    { generationConfig: { maxOutputTokens: 4_000, thinkingConfig: { thinkingBudget: 3_000 } } },
    { generationConfig: { maxOutputTokens: 4_000 } },
  ]);
});

test("below the least that a model can think with, it does not think", async () => {
  await using world = await GatewayWorld.open({ input: { maxOutputTokens: 1_000 } });
  const body = { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 4_000 } };
  await (await world.ask("anthropic", { body })).text();
  expect(sentTo(world)).toMatchObject([{ max_tokens: 1_000, thinking: { type: "disabled" } }]);
});

const SCHEMA = { type: "object", properties: {} };
const OWN = {
  anthropic: { name: "look", input_schema: SCHEMA },
  chat: { type: "function", function: { name: "look", parameters: SCHEMA } },
  responses: { type: "function", name: "look", parameters: SCHEMA },
  gemini: { functionDeclarations: [{ name: "look", description: "Looks", parameters: SCHEMA }] },
};
const AT_THE_PROVIDER: Readonly<Record<GatewayDialect, readonly object[]>> = {
  anthropic: [
    { type: "web_search_20250305", name: "web_search" },
    { type: "web_fetch_20250910", name: "web_fetch" },
    { type: "code_execution_20250825", name: "code_execution" },
    { type: "mcp_toolset", mcp_server_name: "x" },
  ],
  chat: [{ type: "openrouter:web_search" }],
  responses: [{ type: "web_search" }, { type: "file_search" }, { type: "mcp", server_url: "https://x.example" }],
  gemini: [{ googleSearch: {} }, { codeExecution: {} }, { urlContext: {} }],
};
const MORE: Readonly<Record<GatewayDialect, object>> = {
  anthropic: { mcp_servers: [{ type: "url", url: "https://x.example" }], service_tier: "priority", speed: "fast" },
  chat: { web_search_options: {}, plugins: [{ id: "web" }], models: ["dear/one"], service_tier: "priority" },
  responses: { service_tier: "priority", tool_choice: { type: "web_search" } },
  gemini: {},
};

test.each(GATEWAY_DIALECTS)(
  "%s: tools that run at the provider are taken out, and the agent's stay",
  async (dialect) => {
    await using world = await GatewayWorld.open();
    const body = { tools: [...AT_THE_PROVIDER[dialect], OWN[dialect]], ...MORE[dialect] };
    // The server refuses every word that it does not know, so a tool that stays would be refused.
    expect((await world.ask(dialect, { body })).status).toBe(200);
    await (await world.ask(dialect, { body: { tools: AT_THE_PROVIDER[dialect], tool_choice: undefined } })).text();
    const [some, none] = sentTo(world);
    expect(some?.["tools"]).toEqual([OWN[dialect]]);
    expect(none).not.toHaveProperty("tools");
  },
);

test("with --network, tools of the provider stay", async () => {
  const bodies: unknown[] = [];
  await using upstream = await plainServer((request, response) => {
    bodies.push(request.url);
    response.writeHead(400).end("{}");
  });
  const settings = { "provider.anthropic.base-url": `${upstream.url}/v1` };
  await using world = await GatewayWorld.open({ settings, input: { network: true } });
  const asked = await world.ask("anthropic", { body: { tools: AT_THE_PROVIDER.anthropic } });
  expect([asked.status, bodies]).toEqual([400, ["/v1/messages"]]);
  await using strict = await GatewayWorld.open({ input: { network: true } });
  const refused = await strict.ask("anthropic", { body: { tools: AT_THE_PROVIDER.anthropic } });
  // The strict server does not know such tools, and says so.
  expect([refused.status, strict.server.log[0]?.body["tools"]]).toEqual([400, AT_THE_PROVIDER.anthropic]);
});

test("an hour in the cache is asked for as five minutes, whose price is known", async () => {
  await using world = await GatewayWorld.open();
  const system = [{ type: "text", text: "Help.", cache_control: { type: "ephemeral", ttl: "1h" } }];
  await (await world.ask("anthropic", { body: { system } })).text();
  expect(sentTo(world)[0]?.["system"]).toEqual([{ type: "text", text: "Help.", cache_control: { type: "ephemeral" } }]);
});

test.each<[GatewayDialect, object]>([
  ["responses", { previous_response_id: "resp_1" }],
  ["responses", { background: true }],
  ["responses", { input: [{ type: "item_reference", id: "msg_1" }] }],
  ["gemini", { cachedContent: "cachedContents/1" }],
  ["gemini", { contents: [{ role: "user", parts: [{ fileData: { fileUri: "https://x.example/a" } }] }] }],
  ["gemini", { generationConfig: { responseModalities: ["IMAGE"] } }],
  ["chat", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x.example" } }] }] }],
  [
    "anthropic",
    { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: "https://x" } }] }] },
  ],
])("%s with %j is refused: its cost would not be known", async (dialect, body) => {
  await using world = await GatewayWorld.open();
  const answer = await world.ask(dialect, { body: { ...body } });
  expect([answer.status, world.server.log]).toEqual([400, []]);
  expect((await world.stop()).cost.calls).toBe(0);
});

test("parameters of a tool may have any names", async () => {
  await using world = await GatewayWorld.open();
  const messages = [
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "get", input: { file_id: "7", type: "url" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ok" }] },
  ];
  expect((await world.ask("anthropic", { body: { messages } })).status).toBe(200);
});

test("a model without a known price is refused under a cap, and passes without one", async () => {
  const settings = {
    "provider.anthropic.prices": "other=1/1",
    "provider.anthropic.base-url": "https://models.example/v1",
  };
  await using capped = await GatewayWorld.open({ settings, input: { budget: "5" } });
  const answer = await capped.ask("anthropic");
  expect(answer.status).toBe(402);
  expect(await answer.text()).toContain("The price of anthropic/a-model-of-anthropic is not known");
  expect((await capped.stop()).refusedCalls).toBe(1);
  await using open = await GatewayWorld.open({ input: { budget: "none" } });
  expect((await open.ask("anthropic")).status).toBe(200);
  expect((await open.stop()).cost.capUsd).toBeNull();
});

test("a request to count tokens is masked too", async () => {
  let seen = "";
  await using upstream = await plainServer((request, response) => {
    request.on("data", (bytes: Buffer) => (seen += bytes.toString("utf8")));
    request.on("end", () => response.writeHead(200).end("{}"));
  });
  await using world = await GatewayWorld.open({ settings: { "provider.anthropic.base-url": `${upstream.url}/v1` } });
  const messages = [{ role: "user", content: "my token is ghp_0123456789abcdefghijABCDEFGHIJ012345" }];
  const headers = headersOf("anthropic", world.token);
  const body = JSON.stringify({ model: "m", messages });
  await fetch(`${world.url}/v1/messages/count_tokens`, { method: "POST", headers, body });
  expect(JSON.parse(seen)).toEqual({
    model: "m",
    messages: [{ role: "user", content: "my token is [masked: GitHub token]" }],
  });
});

test("paths that cost nothing pass; all others are refused", async () => {
  const seen: string[] = [];
  await using server = await strictServer({
    script: () => ({ text: "x" }),
    other: (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(200, { "content-type": "application/json" }).end('{"free":true}');
      return true;
    },
  });
  await using world = await GatewayWorld.open({ server });
  const get = (path: string, dialect: GatewayDialect) =>
    fetch(`${world.url}${path}`, { headers: headersOf(dialect, world.token) });
  const post = (path: string, dialect: GatewayDialect) =>
    fetch(`${world.url}${path}`, { method: "POST", headers: headersOf(dialect, world.token), body: '{"model":"m"}' });
  const passed = [
    await get("/v1/models", "anthropic"),
    await get("/v1/models/gpt-5", "chat"),
    await get(`/v1beta/models?key=${world.token}`, "gemini"),
    await post("/v1/messages/count_tokens", "anthropic"),
    await post("/v1beta/models/m:countTokens", "gemini"),
  ];
  expect(await Promise.all(passed.map((one) => one.text()))).toEqual(passed.map(() => '{"free":true}'));
  expect(seen).toEqual([
    "GET /v1/models",
    "GET /v1/models/gpt-5",
    "GET /v1beta/models",
    "POST /v1/messages/count_tokens",
    "POST /v1beta/models/m:countTokens",
  ]);
  const refused = [
    await post("/v1/embeddings", "chat"),
    await post("/v1/messages/batches", "anthropic"),
    await post("/v1beta/models/m:batchGenerateContent", "gemini"),
    await get("/v1/responses/resp_1", "responses"),
    await get("//", "chat"),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404));
  expect(seen).toHaveLength(5);
  expect((await world.stop()).cost.calls).toBe(0);
});

test("with --model every request goes to that model; a provider of another language is refused", async () => {
  await using world = await GatewayWorld.open({
    input: { model: "vllm/qwen3" },
    settings: { "provider.vllm.prices": "*=1/1" },
  });
  expect((await world.ask("chat")).status).toBe(200);
  expect((await world.ask("anthropic")).status).toBe(200);
  const answer = await world.ask("gemini");
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("vllm is a provider of the type openai-compatible");
  expect(sentTo(world).map(({ model }) => model)).toEqual(["qwen3", "qwen3"]);
});

test("a request may name a provider", async () => {
  await using world = await GatewayWorld.open();
  expect((await world.ask("chat", { model: "vllm/qwen3" })).status).toBe(200);
  expect((await world.ask("chat", { model: "gpt-5:online" })).status).toBe(200);
  expect(sentTo(world).map(({ model }) => model)).toEqual(["qwen3", "gpt-5"]);
});

test("what is not JSON, too large or packed is refused before anything is counted", async () => {
  await using world = await GatewayWorld.open();
  const post = (body: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}) =>
    fetch(`${world.url}/v1/messages`, {
      method: "POST",
      headers: { ...headersOf("anthropic", world.token), ...more },
      body,
    });
  expect((await post("{")).status).toBe(400);
  expect((await post("[1]")).status).toBe(400);
  expect((await post(new Uint8Array(gzipSync("{}")), { "content-encoding": "gzip" })).status).toBe(415);
  const large = await post(" ".repeat(32 * 1024 * 1024 + 1));
  expect([large.status, await large.json()]).toMatchObject([413, { error: { type: "request_too_large" } }]);
  expect((await fetch(`${world.url}/v1/models`, { headers: { "x-api-key": "x".repeat(40_000) } })).status).toBe(431);
  const { port } = new URL(world.url);
  const path = "/v1/messages";
  const endless = request({
    port,
    host: "127.0.0.1",
    path,
    method: "POST",
    headers: headersOf("anthropic", world.token),
  });
  endless.on("error", () => undefined);
  const answered = once(endless, "response") as Promise<[{ statusCode: number; resume(): void }]>;
  for (let written = 0; written <= 33; written += 1) endless.write(Buffer.alloc(1024 * 1024, " "));
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(413);
  endless.destroy();
  expect(world.server.log).toEqual([]);
});

test("more than 64 requests under way are told to try again", async () => {
  const held = Promise.withResolvers<void>();
  await using world = await GatewayWorld.open({
    script: () => held.promise.then(() => ({ text: "x" })),
    input: { budget: "none" },
  });
  let refused = 0;
  const asked = Array.from({ length: 80 }, async () => {
    const answer = await world.ask("chat");
    if (answer.status === 429 && (refused += 1) === 16) held.resolve();
    await answer.text();
    return answer.status;
  });
  const statuses = await Promise.all(asked);
  expect(statuses.filter((status) => status === 429)).toHaveLength(16);
  expect(world.server.log).toHaveLength(64);
});

const NO_LIES = { "provider.openai.prices": "*=100/100", "provider.openai.timeout": "1" };

test.each(["breaks off", "falls silent"] as const)("an answer that %s counts at its bound", async (ending) => {
  await using upstream = await lyingServer({ pieces: () => times(10, " word"), ending });
  const settings = { ...NO_LIES, "provider.openai.base-url": `${upstream.url}/v1` };
  await using world = await GatewayWorld.open({ settings });
  const answer = await world.ask("chat");
  await expect(answer.text()).rejects.toThrow("terminated");
  const { cost, tokens } = await world.stop();
  expect(cost).toMatchObject({ calls: 1, spentUsd: 0, reservedUsd: 0 });
  expect(cost.assumedUsd).toBeGreaterThan(0.1);
  expect(tokens.output).toBe(0);
});

test("a client that hangs up in the middle is seen at the provider", async () => {
  await using upstream = await lyingServer({ pieces: () => times(10, " word"), ending: "falls silent" });
  const settings = { ...NO_LIES, "provider.openai.timeout": "60", "provider.openai.base-url": `${upstream.url}/v1` };
  await using world = await GatewayWorld.open({ settings });
  const hangUp = new AbortController();
  const answer = await world.ask("chat", { signal: hangUp.signal });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  // All of it has come, so that nothing but the hang-up can end the request at the provider.
  for (let text = ""; text.split(" word").length <= 10;) text += (await reader?.read())?.value ?? "";
  hangUp.abort();
  await expect.poll(upstream.left).toBe(1);
  await expect.poll(async () => (await world.costToday()).assumedUsd).toBeGreaterThan(0.1);
});

test("a provider that claims too little is not believed, and one that cannot be reached costs nothing", async () => {
  const usage = { prompt_tokens: 0, completion_tokens: 1 };
  await using upstream = await lyingServer({ pieces: () => times(800, " word"), usage });
  const settings = { ...NO_LIES, "provider.openai.base-url": `${upstream.url}/v1` };
  await using world = await GatewayWorld.open({ settings });
  await (await world.ask("chat")).text();
  const { cost, tokens } = await world.stop();
  expect(tokens.output).toBe(800);
  expect(cost.estimatedUsd).toBe(cost.spentUsd);

  const gone = await plainServer(() => undefined);
  await gone[Symbol.asyncDispose]();
  await using offline = await GatewayWorld.open({ settings: { "provider.openai.base-url": `${gone.url}/v1` } });
  const answer = await offline.ask("chat");
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([502, "false"]);
  expect((await offline.stop()).cost).toMatchObject({ calls: 0, assumedUsd: 0, reservedUsd: 0 });
});

test("a redirect of the provider is not followed", async () => {
  await using upstream = await plainServer((_request, response) => {
    response.writeHead(307, { location: "https://elsewhere.example/v1" }).end();
  });
  await using world = await GatewayWorld.open({ settings: { "provider.openai.base-url": `${upstream.url}/v1` } });
  expect((await world.ask("chat")).status).toBe(502);
  expect((await world.stop()).cost).toMatchObject({ calls: 0, assumedUsd: 0, reservedUsd: 0 });
});
