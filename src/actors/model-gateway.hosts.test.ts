import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ModelGateway } from "./model-gateway.ts";
import { answerMessage, type ModelCall, type ModelMessage } from "./models/model.ts";
import { patience, READ_FILE } from "./testing/model-world.ts";
import { strictServer } from "./testing/strict-server.ts";
import type { WireScript } from "./testing/wires/wire.ts";

/** Models behind clouds, routers and servers of one's own. */
const LONG = "Look before you change anything. ".repeat(300);

function gateway(
  settings: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>>,
): ModelGateway {
  const count = (text: string): number => Math.ceil(text.length / 4);
  return new ModelGateway({ settings: new Map(Object.entries(settings)), environment, count, patience: patience() });
}

function callOf(model: string, more: Partial<ModelCall> = {}): ModelCall {
  const [provider = "", ...rest] = model.split("/");
  return {
    model: { provider, model: rest.join("/") },
    system: LONG,
    messages: [{ role: "user", content: "Read a.txt." }],
    tools: [READ_FILE],
    settings: {},
    signal: new AbortController().signal,
    ...more,
  };
}

const reads: WireScript = ({ messages, tools }) => {
  const [name = ""] = tools;
  if (messages.some(({ role }) => role === "tool")) return { text: "Read." };
  return { reasoning: "I should read it.", calls: [{ name, input: { path: "a.txt" } }] };
};

/** Two calls: the second one with the result of the first. */
async function twoTurns(models: ModelGateway, call: ModelCall): Promise<string> {
  const first = await models.call(call);
  const results = first.toolCalls.map(({ id, tool }): ModelMessage => {
    return { role: "tool", callId: id, tool, output: "the content", failed: false };
  });
  const messages = [...call.messages, answerMessage(first), ...results];
  return (await models.call({ ...call, messages })).text;
}

test("OpenRouter needs only its key; Claude behind it is marked for its cache, and effort goes in its own words", async () => {
  await using server = await strictServer({ script: reads });
  const models = gateway(
    { "provider.openrouter.base-url": `${server.url}/api/v1` },
    { OPENROUTER_API_KEY: "or-key-1234" },
  );
  const call = callOf("openrouter/anthropic/claude-sonnet-4.5", { settings: { reasoning: "high" } });
  expect(await twoTurns(models, call)).toBe("Read.");
  const [first, second] = server.log;
  expect(first?.headers["authorization"]).toBe("Bearer or-key-1234");
  expect(first?.body["reasoning"]).toEqual({ effort: "high" });
  expect(first?.usage?.cacheWrite).toBeGreaterThan(1_024);
  expect(second?.usage?.cacheRead).toBeGreaterThan(1_024);
});

test("a key of OpenRouter alone makes it a provider, at its public endpoint", () => {
  const [router] = gateway({}, { OPENROUTER_API_KEY: "or-key-1234" }).providers.filter(
    ({ type }) => type !== "scripted",
  );
  expect(router).toMatchObject({ name: "openrouter", baseUrl: "https://openrouter.ai/api/v1", local: false });
});

test("Azure speaks Responses, with its own header for the key, and hands thoughts back", async () => {
  await using server = await strictServer({ script: reads });
  const models = gateway({ "provider.azure.base-url": `${server.url}/openai` }, { AZURE_API_KEY: "azure-key-1" });
  const call = callOf("azure/gpt-5", { settings: { reasoning: "low" }, cacheKey: "plan-1" });
  expect(await twoTurns(models, call)).toBe("Read.");
  expect(server.log[0]).toMatchObject({ wire: "responses", headers: { "api-key": "azure-key-1" } });
  expect(server.log[0]?.body).toMatchObject({ prompt_cache_key: "plan-1", store: false, reasoning: { effort: "low" } });
});

test("Vertex asks Gemini in its own language", async () => {
  await using server = await strictServer({ script: reads });
  const base = `${server.url}/v1/projects/p/locations/global/publishers/google`;
  const models = gateway({ "provider.vertex.base-url": base }, { GOOGLE_VERTEX_API_KEY: "vertex-key-1" });
  expect(await twoTurns(models, callOf("vertex/gemini-2.5-pro"))).toBe("Read.");
  expect(server.log[0]).toMatchObject({ wire: "gemini", headers: { "x-goog-api-key": "vertex-key-1" } });
});

test("the endpoints of clouds follow from what their own programs read", () => {
  const { providers } = gateway(
    {},
    {
      AZURE_RESOURCE_NAME: "shop",
      AZURE_API_KEY: "k-azure-1",
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "s",
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_CLOUD_LOCATION: "europe-west4",
    },
  );
  const at = Object.fromEntries(providers.map(({ name, baseUrl }) => [name, baseUrl]));
  expect(at).toMatchObject({
    azure: "https://shop.openai.azure.com/openai",
    bedrock: "https://bedrock-runtime.eu-west-1.amazonaws.com",
    vertex: "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google",
  });
});

test("Bedrock gets marks for the cache, signed with the keys of the account", async () => {
  const seen: { authorization: string; path: string; body: string }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      seen.push({ authorization: String(request.headers.authorization), path: request.url ?? "", body });
      response.writeHead(400, { "content-type": "application/json" }).end('{"message":"not here"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const access = {
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "secret-of-the-account",
  };
  const models = gateway({ "provider.bedrock.base-url": `http://127.0.0.1:${port}` }, access);
  const call = callOf("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0");
  await expect(models.call(call)).rejects.toMatchObject({ kind: "rejected" });
  server.close();
  expect(seen[0]?.authorization).toContain("Credential=AKIAEXAMPLE/");
  expect(seen[0]?.path).toContain("/converse-stream");
  expect(JSON.parse(seen[0]?.body ?? "").system).toContainEqual({ cachePoint: { type: "default" } });
});

/** A model that knows no tools, and writes calls as its system prompt says. */
const textual: WireScript = ({ tools, system, messages }) => {
  if (tools.length > 0) return { status: 400, message: "registry.ollama.ai/library/gemma does not support tools" };
  const last = messages.at(-1);
  if (last?.role === "user" && last.text.startsWith("Result of local/read_file:\nthe content"))
    return { text: "Read." };
  if (!system.includes("local/read_file")) return { text: "I have no tools." };
  const block = '```tool\n{"tool": "local/read_file", "parameters": {"path": "a.txt"}}\n```';
  return { text: `I read two files.\n${block}\n${block}` };
};

test("a model that refuses tools is asked in text, in the same try and from then on", async () => {
  await using server = await strictServer({ script: textual });
  const models = gateway({ "provider.ollama.base-url": `${server.url}/v1` }, {});
  const call = callOf("ollama/gemma");
  const first = await models.call(call);
  expect(first).toMatchObject({ text: "I read two files.", finish: "tool_calls" });
  expect(first.toolCalls.map(({ tool, params }) => [tool, params])).toEqual([
    ["local/read_file", { path: "a.txt" }],
    ["local/read_file", { path: "a.txt" }],
  ]);
  expect(first.attempts).toHaveLength(1);
  expect(await twoTurns(models, call)).toBe("Read.");
  expect(server.log.filter(({ refused }) => refused !== undefined)).toHaveLength(1);
});

test("a call that cannot be read in text is told to the model like any other", async () => {
  const broken = '```tool\n{"tool": "local/read_file", "parameters": {"path"\n```';
  await using server = await strictServer({
    script: ({ tools }) => (tools.length > 0 ? { status: 400, message: "does not support tools" } : { text: broken }),
  });
  const models = gateway({ "provider.ollama.base-url": `${server.url}/v1` }, {});
  const { toolCalls } = await models.call(callOf("ollama/gemma"));
  expect(toolCalls).toEqual([
    {
      id: "text-1-1",
      tool: "local/read_file",
      params: undefined,
      raw: '{"tool": "local/read_file", "parameters": {"path"',
    },
  ]);
});
