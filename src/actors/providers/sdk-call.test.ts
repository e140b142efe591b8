import { afterEach, describe, expect, test, vi } from "vitest";
import type { ModelMessage } from "../models/model.ts";
import { callOf, failure, gatewayAt, KINDS, modelServer, plainServer, READ_FILE } from "../testing/model-world.ts";

afterEach(() => vi.restoreAllMocks());

const SCHEMA = {
  type: "object",
  properties: { steps: { type: "array", items: { type: "string" } } },
  required: ["steps"],
};

describe.each(KINDS)("what $provider is sent", (kind) => {
  test("has the settings, a limit for what it may write, and the schema of the answer", async () => {
    await using server = await modelServer();
    server.onMessage("plan", { content: '{"steps":["a"]}' });
    const bodies: string[] = [];
    await using proxy = await plainServer((request, response) => {
      let body = "";
      request.on("data", (piece: Buffer) => (body += piece.toString()));
      request.on("end", () => {
        bodies.push(body);
        void fetch(`${server.url}${request.url}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        }).then(async (answer) =>
          response.writeHead(answer.status, { "content-type": "text/event-stream" }).end(await answer.text()),
        );
      });
    });
    const more = { responseSchema: SCHEMA, settings: { temperature: 0.25, topP: 0.75, maxOutputTokens: 321 } };
    const answer = await gatewayAt(proxy.url).call(callOf(kind, "plan it", more));
    expect(JSON.parse(answer.text)).toEqual({ steps: ["a"] });
    const [body = ""] = bodies;
    expect(body).toContain("321");
    expect(body).toContain("0.25");
    expect(body).toContain('"steps"');
    expect(body).toContain("You help.");
    if (kind.provider === "openai") expect(body).toContain('"store":false');
    if (kind.provider === "vllm") return;
    await gatewayAt(proxy.url).call(callOf(kind, "plan it"));
    // As much as the model can and one answer needs, so that the bound of its cost holds.
    expect(bodies[1]).toMatch(/16384|32000/);
  });

  test("and nothing is printed, even if something fails or is not supported", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await using server = await plainServer((_request, response) => response.writeHead(500).end("{}"));
    const settings = { temperature: 7, topP: 0.5 };
    await failure(gatewayAt(server.url), callOf({ ...kind, model: "o3" }, "hi", { settings, tools: [READ_FILE] }));
    await using working = await modelServer();
    working.onMessage("hi", { content: "Hello." });
    await gatewayAt(working.url).call(callOf({ ...kind, model: "o3" }, "hi", { settings }));
    expect([printed.mock.calls, warned.mock.calls]).toEqual([[], []]);
  });
});

test("google gets back the signature it gave a call", async () => {
  const bodies: string[] = [];
  await using server = await plainServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      bodies.push(body);
      const parts =
        bodies.length === 1
          ? [{ functionCall: { name: "local_S_read_file", args: { path: "a" } }, thoughtSignature: "c2lnbmVk" }]
          : [{ text: "ok" }];
      const event = {
        candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 65, candidatesTokenCount: 2, totalTokenCount: 67 },
      };
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${JSON.stringify(event)}\n\n`);
    });
  });
  const gateway = gatewayAt(server.url);
  const kind = { provider: "google", model: "gemini-3-flash-preview" };
  const asked = await gateway.call(callOf(kind, "read", { tools: [READ_FILE] }));
  expect(asked).toMatchObject({ finish: "tool_calls", usage: { inputTokens: 65, outputTokens: 2, estimated: false } });
  const [toolCall] = asked.toolCalls;
  const messages: ModelMessage[] = [
    { role: "user", content: "read" },
    // As it comes out of the store.
    {
      role: "assistant",
      content: "",
      toolCalls: JSON.parse(JSON.stringify(asked.toolCalls)) as typeof asked.toolCalls,
    },
    { role: "tool", callId: toolCall?.id ?? "", tool: "local/read_file", output: "text", failed: false },
  ];
  expect((await gateway.call(callOf(kind, "", { messages, tools: [READ_FILE] }))).text).toBe("ok");
  expect(bodies[1]).toContain("c2lnbmVk");
});

test.each([
  ["content_filter", "refused"],
  ["length", undefined],
])("an answer that ends with %s", async (reason, error) => {
  await using server = await plainServer((_request, response) => {
    const chunk = (delta: object, finish: string | null): string =>
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(`${chunk({ content: "Half" }, null)}${chunk({}, reason)}data: [DONE]\n\n`);
  });
  const call = callOf({ provider: "vllm", model: "m" }, "hi");
  if (error === undefined) {
    expect(await gatewayAt(server.url).call(call)).toMatchObject({
      text: "Half",
      finish: "length",
      usage: { estimated: true },
    });
  } else {
    expect(await failure(gatewayAt(server.url), call)).toMatchObject({ kind: error, usage: { estimated: true } });
  }
});
