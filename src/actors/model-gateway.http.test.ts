import type { AskWait } from "../domain/run-event.ts";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { ModelMessage } from "./models/model.ts";
import {
  callOf,
  failure,
  gatewayAt,
  KINDS,
  modelServer,
  patience,
  plainServer,
  type PlainServer,
  READ_FILE,
} from "./testing/model-world.ts";

describe.each(KINDS)("$provider over HTTP", (kind) => {
  test("text comes as it is written, and whole at the end", async () => {
    await using server = await modelServer();
    server.onMessage("greet", { content: "Hello, my good friend in the north." }, { chunkSize: 7 });
    const seen: string[] = [];
    const answer = await gatewayAt(server.url).call(callOf(kind, "greet me", { onText: (text) => seen.push(text) }));
    expect(answer).toMatchObject({
      text: "Hello, my good friend in the north.",
      toolCalls: [],
      finish: "stop",
      model: { provider: kind.provider, model: kind.model },
      masked: 0,
    });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.join("")).toBe(answer.text);
    expect(answer.usage.outputTokens).toBeGreaterThan(0);
    expect(answer.attempts).toHaveLength(1);
    expect(answer.attempts[0]).toMatchObject({ error: undefined, usage: answer.usage });
  });

  test("a tool call is put together from its pieces and its result goes back", async () => {
    await using server = await modelServer();
    const parameters = { path: "src/a file.ts", lines: [1, 2, { deep: "é" }] };
    server.on(
      { userMessage: "read", hasToolResult: false },
      { toolCalls: [{ name: "local_S_read_file", arguments: JSON.stringify(parameters) }] },
      { chunkSize: 3 },
    );
    server.on({ hasToolResult: true }, { content: "It says 42." });
    const gateway = gatewayAt(server.url);
    const asked = await gateway.call(callOf(kind, "read it", { tools: [READ_FILE] }));
    expect(asked).toMatchObject({ finish: "tool_calls", toolCalls: [{ tool: "local/read_file", params: parameters }] });
    const [toolCall] = asked.toolCalls;
    if (toolCall === undefined) throw new Error("No tool was called.");
    expect(JSON.parse(toolCall.raw)).toEqual(parameters);
    const messages: ModelMessage[] = [
      { role: "user", content: "read it" },
      { role: "assistant", content: asked.text, toolCalls: asked.toolCalls },
      { role: "tool", callId: toolCall.id, tool: toolCall.tool, output: { content: "42" }, failed: false },
    ];
    const answer = await gateway.call(callOf(kind, "", { messages, tools: [READ_FILE] }));
    expect(answer).toMatchObject({ text: "It says 42.", toolCalls: [], finish: "stop" });
    const body = JSON.stringify(server.getLastRequest()?.body);
    expect(body).toContain("local_S_read_file");
    expect(body).toContain("42");
  });

  test("a call whose parameters were not JSON may go back as it was written", async () => {
    await using server = await modelServer();
    server.on({ hasToolResult: true }, { content: "Sorry." });
    const messages: ModelMessage[] = [
      { role: "user", content: "read it" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "call_1", tool: "local/read_file", params: undefined, raw: '{"path": "a.ts", ' }],
      },
      { role: "tool", callId: "call_1", tool: "local/read_file", output: "no JSON", failed: true },
    ];
    const answer = await gatewayAt(server.url).call(callOf(kind, "", { messages, tools: [READ_FILE] }));
    expect(answer.text).toBe("Sorry.");
    expect(JSON.stringify(server.getLastRequest()?.body)).toContain("a.ts");
  });

  test("a tool that was not offered is handed on by the name the model gave it", async () => {
    await using server = await modelServer();
    server.onMessage("read", { toolCalls: [{ name: "no_such_tool", arguments: "{}" }] });
    const answer = await gatewayAt(server.url).call(callOf(kind, "read it", { tools: [READ_FILE] }));
    expect(answer.toolCalls).toMatchObject([{ tool: "no_such_tool", params: {} }]);
  });

  test("an empty answer is an answer", async () => {
    await using server = await modelServer();
    server.onMessage("nothing", { content: "" });
    const answer = await gatewayAt(server.url).call(callOf(kind, "nothing"));
    expect(answer).toMatchObject({ text: "", toolCalls: [], finish: "stop" });
  });

  test("too many calls: waits as long as the provider asks, then continues", async () => {
    await using server = await modelServer();
    server.on(
      { userMessage: "greet", sequenceIndex: 0 },
      { error: { message: "Slow down", type: "rate_limit_error" }, status: 429, retryAfter: 7 },
    );
    server.onMessage("greet", { content: "Hello." });
    const calm = patience();
    const answer = await gatewayAt(server.url, {}, calm).call(callOf(kind, "greet me"));
    expect(answer.text).toBe("Hello.");
    expect(calm.slept).toEqual([7_000]);
    expect(answer.attempts.map(({ error }) => error)).toEqual([
      expect.stringContaining("is rate-limiting us"),
      undefined,
    ]);
  });

  test("too many calls for longer than a quarter of an hour: the user is told, nothing waits", async () => {
    await using server = await modelServer();
    server.onMessage("greet", { error: { message: "Slow down" }, status: 429, retryAfter: 901 });
    const calm = patience();
    const error = await failure(gatewayAt(server.url, {}, calm), callOf(kind, "greet me"));
    expect(error).toMatchObject({ code: "model_rate_limit", kind: "rate_limit", retryAfterMs: 901_000 });
    expect([calm.slept, error.attempts.length]).toEqual([[], 1]);
  });

  test("a server that fails is tried ten times, ever more patiently, and each wait is told", async () => {
    await using server = await modelServer();
    server.onMessage("greet", { error: { message: "Oops" }, status: 529 });
    const calm = patience();
    const waits: AskWait[] = [];
    const call = callOf(kind, "greet me", { onWait: (wait) => void waits.push(wait) });
    const error = await failure(gatewayAt(server.url, {}, calm), call);
    expect(error).toMatchObject({ code: "model_overloaded", detail: { status: 529, attempts: 10 } });
    expect(error.message).toMatch(/ It was tried 10 times\.$/);
    expect([error.attempts.length, server.getRequests().length]).toEqual([10, 10]);
    const longest = [2, 4, 8, 16, 32, 60, 60, 60, 60].map((seconds) => seconds * 1_000);
    expect(calm.slept).toHaveLength(9);
    for (const [index, most] of longest.entries()) {
      expect(calm.slept[index]).toBeGreaterThanOrEqual(most / 2);
      expect(calm.slept[index]).toBeLessThanOrEqual(most);
    }
    expect(waits).toEqual(
      calm.slept.map((delayMs, index) => ({ why: "overloaded", delayMs, next: index + 2, most: 10 })),
    );
  });

  test("a provider may be given fewer tries", async () => {
    await using server = await modelServer();
    server.onMessage("greet", { error: { message: "Oops" }, status: 500 });
    const gateway = gatewayAt(server.url, { [`provider.${kind.provider}.tries`]: "2" });
    const error = await failure(gateway, callOf(kind, "greet me"));
    expect([error.kind, error.attempts.length]).toEqual(["server", 2]);
  });

  test.each([
    [401, "Incorrect API key", "authentication"],
    [403, "Forbidden", "authentication"],
    [404, "The model does not exist", "unavailable"],
    [400, "This model's maximum context length is 8192 tokens", "context_too_long"],
    [400, "Unknown parameter", "rejected"],
  ])("%i %s is %s, and not tried again", async (status, message, kindOfError) => {
    await using server = await modelServer();
    server.onMessage("greet", { error: { message }, status });
    const error = await failure(gatewayAt(server.url), callOf(kind, "greet me"));
    expect(error).toMatchObject({ code: `model_${kindOfError}`, kind: kindOfError, detail: { status } });
    expect(error.message).toContain(message);
    expect(error.attempts).toHaveLength(1);
    expect(error.kept).toContain("kept");
    expect(error.next.length).toBeGreaterThan(0);
  });

  test("a connection that breaks in the middle is tried again while nothing was shown", async () => {
    await using server = await modelServer();
    const text = "A long answer that will not arrive at once but in many pieces.";
    server.on({ userMessage: "greet", sequenceIndex: 0 }, { content: text }, { chunkSize: 5, truncateAfterChunks: 4 });
    server.onMessage("greet", { content: text });
    const answer = await gatewayAt(server.url).call(callOf(kind, "greet me"));
    expect(answer.text).toBe(text);
    expect(answer.attempts).toHaveLength(2);
    expect(answer.attempts[0]?.error).toMatch(/broke off|could not be reached/);
  });

  test("a connection that breaks after text was shown fails, or begins again if the caller can take it", async () => {
    await using server = await modelServer();
    const text = "A long answer that will not arrive at once but in many pieces.";
    const cut = { chunkSize: 5, truncateAfterChunks: 6, latency: 5 };
    server.onMessage("greet", { content: text }, cut);
    const shown: string[] = [];
    const onText = (piece: string): void => void shown.push(piece);
    const error = await failure(gatewayAt(server.url), callOf(kind, "greet me", { onText }));
    // It is unknown how much the endpoint had made when it broke off.
    expect(error).toMatchObject({ code: "model_network", usage: undefined, mayBeBilled: true });
    expect(error.attempts).toHaveLength(1);
    expect(shown.length).toBeGreaterThan(0);

    server.clearFixtures();
    server.resetMatchCounts();
    server.on({ userMessage: "greet", sequenceIndex: 0 }, { content: text }, cut);
    server.onMessage("greet", { content: text });
    shown.length = 0;
    const onRestart = (): void => void shown.splice(0);
    const answer = await gatewayAt(server.url).call(callOf(kind, "greet me", { onText, onRestart }));
    expect([shown.join(""), answer.text]).toEqual([text, text]);
    expect(answer.attempts).toHaveLength(2);
  });

  test("ten megabytes are cut off, not kept", async () => {
    await using server = await modelServer();
    server.onMessage("greet", { content: "x".repeat(10 * 1024 * 1024) }, { chunkSize: 64 * 1024 });
    let shown = 0;
    const onText = (text: string): void => void (shown += text.length);
    const unlisted = { ...kind, model: "nothing-known-of-it" };
    const error = await failure(gatewayAt(server.url), callOf(unlisted, "greet me", { onText }));
    expect(error).toMatchObject({ code: "model_malformed", endedByUs: true, usage: { estimated: true } });
    expect(shown).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  test("an answer that does not end where it was asked to is ended here", async () => {
    await using server = await modelServer();
    server.onMessage("greet", { content: "word ".repeat(20_000) }, { chunkSize: 20 });
    const settings = { maxOutputTokens: 100 };
    const answer = await gatewayAt(server.url).call(callOf(kind, "greet me", { settings }));
    expect(answer).toMatchObject({ finish: "length", usage: { outputTokens: 100, estimated: true } });
    // Three characters are a token here; 1.4 times as many for another tokenizer, and what comes until the next count.
    expect(answer.text.length).toBeGreaterThanOrEqual(300);
    expect(answer.text.length).toBeLessThan(300 * 1.4 * 1.1 + 20);
  });

  test.each([
    ["below zero", -5_000],
    ["fractions", 0.2],
    ["more than any call has", 1e15],
    ["nothing", 0],
  ])("usage of %s is not believed: it is counted, and the answer is there", async (_what, said) => {
    await using server = await modelServer();
    server.onMessage("greet", { content: "Hello, my good friend." });
    await using lying = await claimingServer(server.url, said);
    const answer = await gatewayAt(lying.url).call(callOf(kind, "greet me"));
    expect(answer).toMatchObject({ text: "Hello, my good friend.", usage: { outputTokens: 8, estimated: true } });
    expect(answer.usage.inputTokens).toBeGreaterThan(6);
  });

  test("silence is given up", async () => {
    await using server = await plainServer(() => {});
    const more = { [`provider.${kind.provider}.timeout`]: "1" };
    const error = await failure(gatewayAt(server.url, more), callOf(kind, "greet me"));
    expect(error).toMatchObject({ code: "model_timeout" });
    expect(error.message).toContain("no sign of life for 1 s");
    expect(server.seen()).toBe(1);
  });

  test("silence in the middle is given up too", async () => {
    await using server = await plainServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": thinking\n\n");
    });
    const more = { [`provider.${kind.provider}.timeout`]: "1" };
    const error = await failure(gatewayAt(server.url, more), callOf(kind, "greet me"));
    expect(error).toMatchObject({ code: "model_timeout" });
  });

  test("it is stopped at once when the caller says so", async () => {
    await using server = await plainServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": thinking\n\n");
    });
    const stop = new AbortController();
    const call = failure(gatewayAt(server.url), callOf(kind, "greet me", { signal: stop.signal }));
    await expect.poll(() => server.seen()).toBe(1);
    stop.abort();
    expect(await call).toMatchObject({ code: "model_cancelled" });
    expect(await failure(gatewayAt(server.url), callOf(kind, "greet me", { signal: stop.signal }))).toMatchObject({
      code: "model_cancelled",
    });
    expect(server.seen()).toBe(1);
  });

  test("an answer that is not a stream at all is a malformed or broken one", async () => {
    await using server = await plainServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("data: {nonsense\n\n");
    });
    const error = await failure(gatewayAt(server.url), callOf(kind, "greet me"));
    expect(["model_malformed", "model_network"]).toContain(error.code);
  });

  test("a redirect is not followed", async () => {
    await using elsewhere = await plainServer((_request, response) => response.end());
    await using server = await plainServer((_request, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1` });
      response.end();
    });
    const error = await failure(gatewayAt(server.url), callOf(kind, "greet me"));
    expect(error).toMatchObject({ code: "model_rejected" });
    expect(error.message).toContain("nothing is sent there");
    expect([server.seen(), elsewhere.seen()]).toEqual([1, 0]);
  });
});

/** Hands on what another server answers, with these numbers of tokens in it. */
async function claimingServer(url: string, tokens: number): Promise<PlainServer> {
  return plainServer((request, response) => {
    void (async () => {
      const answer = await fetch(`${url}${request.url}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: await text(request),
      });
      const said = (await answer.text()).replaceAll(USAGE_FIELD, (_, field: string) => `"${field}":${tokens}`);
      response.writeHead(200, { "content-type": "text/event-stream" }).end(said);
    })();
  });
}

const USAGE_FIELD =
  /"((?:in|out)put_tokens|(?:prompt|completion|total)_tokens|(?:prompt|candidates|total)TokenCount)":\s*\d+/g;

/** Google's interface has an object where the others have text, so this cannot be said there. */
describe.each(KINDS.filter(({ provider }) => provider !== "google"))("$provider", (kind) => {
  test("parameters that are not JSON come as they were written", async () => {
    const broken = '{"path": "a.ts", ';
    await using server = await modelServer();
    await using anthropic = await plainServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of brokenToolCall(broken))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
    server.onMessage("read", { toolCalls: [{ name: "local_S_read_file", arguments: broken }] });
    const gateway = gatewayAt(kind.provider === "anthropic" ? anthropic.url : server.url);
    const answer = await gateway.call(callOf(kind, "read it", { tools: [READ_FILE] }));
    expect(answer.toolCalls).toMatchObject([{ tool: "local/read_file", params: undefined, raw: broken }]);
  });
});

function brokenToolCall(broken: string): { type: string }[] {
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "c",
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  };
  const block = { type: "tool_use", id: "toolu_1", name: "local_S_read_file", input: {} };
  const parts = [broken.slice(0, 5), broken.slice(5)].map((partial_json) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json },
  }));
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    ...parts,
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ] as { type: string }[];
}
