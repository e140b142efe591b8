import { inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentsError, ConfigurationError } from "../domain/errors/errors.ts";
import { ModelGateway } from "./model-gateway.ts";
import type { ModelCall } from "./models/model.ts";
import {
  callOf,
  failure,
  gatewayAt,
  KEYS,
  KINDS,
  modelServer,
  patience,
  plainServer,
  READ_FILE,
} from "./testing/model-world.ts";

const VLLM = { provider: "vllm", model: "qwen3" };

/** Ways in which a server can fail, all of them. */
const FAILURES: Readonly<Record<string, Parameters<typeof plainServer>[0]>> = {
  "500": (_request, response) => response.writeHead(500).end("{}"),
  "404": (_request, response) => response.writeHead(404).end('{"error":{"message":"model not found"}}'),
  "401": (_request, response) => response.writeHead(401).end("{}"),
  hangup: (request) => request.socket.destroy(),
  nonsense: (_request, response) => response.writeHead(200).end("no stream"),
  silence: () => {},
};

describe("a model of a local endpoint", () => {
  test.each(Object.keys(FAILURES))("is sent nowhere else when the endpoint answers with %s", async (name) => {
    await using elsewhere = await plainServer((_request, response) => response.end());
    await using local = await plainServer(FAILURES[name] ?? (() => {}));
    const gateway = new ModelGateway({
      settings: new Map([
        ["provider.vllm.base-url", local.url],
        ["provider.vllm.timeout", "1"],
      ]),
      // Every address that the libraries could find by themselves leads to the server that must see nothing.
      environment: {
        ...KEYS,
        OPENAI_BASE_URL: elsewhere.url,
        ANTHROPIC_BASE_URL: elsewhere.url,
        GOOGLE_GEMINI_BASE_URL: elsewhere.url,
      },
      count: (text) => text.length,
      patience: patience(),
    });
    const error = await failure(gateway, callOf(VLLM, "our secret plan"));
    expect(error.model).toEqual(VLLM);
    expect(error.attempts.every(({ model }) => model.provider === "vllm")).toBe(true);
    expect(local.seen()).toBeGreaterThan(0);
    expect(elsewhere.seen()).toBe(0);
  });

  test("refuses a public one as a fallback, configured or asked for, before anything is sent", async () => {
    await using local = await plainServer((_request, response) => response.writeHead(500).end());
    const settings = new Map([["provider.vllm.base-url", local.url]]);
    const parts = { environment: { OPENAI_API_KEY: KEYS.OPENAI_API_KEY }, count: () => 1, patience: patience() };
    const gateway = new ModelGateway({ settings, ...parts });
    const fallbacks = [{ provider: "openai", model: "gpt-4o" }];
    await expect(gateway.call(callOf(VLLM, "our secret plan", { fallbacks }))).rejects.toThrow(
      "vllm is a local endpoint, so openai/gpt-4o, which is not, cannot stand in for it.",
    );
    expect(local.seen()).toBe(0);
    const configured = new Map([...settings, ["provider.vllm.fallbacks", "openai/gpt-4o"]]);
    await expect(
      new ModelGateway({ settings: configured, ...parts }).call(callOf(VLLM, "our secret plan")),
    ).rejects.toThrow("is a local endpoint");
    const unknown = new Map([...settings, ["provider.vllm.fallbacks", "unknown/m"]]);
    await expect(
      new ModelGateway({ settings: unknown, ...parts }).call(callOf(VLLM, "our secret plan")),
    ).rejects.toThrow('The provider "unknown" is not configured, but vllm is to fall back to it.');
    expect(local.seen()).toBe(0);
  });

  test("may have another local one stand in", async () => {
    await using first = await plainServer((_request, response) => response.writeHead(500).end("{}"));
    await using second = await modelServer();
    second.onMessage("greet", { content: "Hello." });
    const more = {
      "provider.vllm.base-url": first.url,
      "provider.vllm.fallbacks": "spare/m",
      "provider.spare.base-url": `${second.url}/v1`,
    };
    const answer = await gatewayAt(second.url, more).call(callOf(VLLM, "greet me"));
    expect(answer).toMatchObject({ text: "Hello.", model: { provider: "spare", model: "m" } });
    expect(answer.attempts.map(({ model }) => model.provider)).toEqual(["vllm", "vllm", "vllm", "spare"]);
  });
});

describe("without a listed fallback", () => {
  test.each(KINDS)("no other provider stands in for $provider", async (kind) => {
    await using server = await plainServer((_request, response) => response.writeHead(500).end("{}"));
    await using others = await plainServer((_request, response) => response.end());
    const own = { [`provider.${kind.provider}.base-url`]: server.url };
    const error = await failure(gatewayAt(others.url, own), callOf(kind, "greet me"));
    expect([error.kind, server.seen(), others.seen()]).toEqual(["server", 10, 0]);
  });

  test("a provider that is not configured is an error that says how to configure it", async () => {
    const gateway = new ModelGateway({ settings: new Map(), environment: {}, count: () => 1 });
    const error = await gateway
      .call(callOf({ provider: "openai", model: "gpt-4o" }, "hi"))
      .catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      kept: "Nothing was sent.",
      next: [{ text: expect.stringContaining("OPENAI_API_KEY") }, expect.anything()],
    });
    await expect(gatewayAt("http://127.0.0.1:9").call(callOf({ provider: "vlm", model: "m" }, "hi"))).rejects.toThrow(
      'did you mean "vllm"?',
    );
  });

  test("a call that is wrong in itself is not sent to another", async () => {
    await using server = await plainServer((_request, response) =>
      response.writeHead(400).end('{"error":{"message":"bad"}}'),
    );
    const error = await failure(
      gatewayAt(server.url),
      callOf(VLLM, "hi", { fallbacks: [{ provider: "openai", model: "gpt-4o" }] }),
    );
    expect([error.kind, server.seen()]).toEqual(["rejected", 1]);
  });
});

/** Everything there is to see of an error: also what a log or a debugger would show. */
function everythingOf(error: unknown): string {
  const seen = [inspect(error, { depth: 20, showHidden: true, getters: true }), JSON.stringify(error), String(error)];
  if (error instanceof AgentsError)
    seen.push(error.stack ?? "", JSON.stringify([error.detail, error.next, error.kept]));
  return seen.join("\n");
}

describe("keys and prompts", () => {
  const PROMPT = "a sentence that no error may contain";

  /** A server that repeats all it was sent, in every way it can. */
  const echo =
    (status: number, extra: string): Parameters<typeof plainServer>[0] =>
    (request, response) => {
      const said = `Denied: ${JSON.stringify(request.headers)} ${request.url} ${extra}`;
      response.writeHead(status, { "content-type": "application/json", "x-said": encodeURIComponent(said) });
      response.end(JSON.stringify({ error: { message: said, type: "x", code: status }, message: said }));
    };

  test("are in no error, even if the server sends them back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...KINDS),
        fc.constantFrom(200, 302, 400, 401, 403, 404, 408, 413, 429, 500, 503),
        fc.string({ maxLength: 30 }),
        async (kind, status, extra) => {
          await using server = await plainServer(echo(status, extra));
          const error = await failure(gatewayAt(server.url), callOf(kind, PROMPT));
          const seen = everythingOf(error);
          for (const key of Object.values(KEYS)) expect(seen).not.toContain(key);
          expect(seen).not.toContain(PROMPT);
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each(KINDS)("are in no error of $provider when no server listens or the connection breaks", async (kind) => {
    await using server = await plainServer((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(request.headers)}\n\n`);
      setTimeout(() => response.destroy(), 20);
    });
    for (const url of [server.url, "http://127.0.0.1:1"]) {
      const seen = everythingOf(await failure(gatewayAt(url), callOf(kind, PROMPT)));
      for (const key of Object.values(KEYS)) expect(seen).not.toContain(key);
      expect(seen).not.toContain(PROMPT);
    }
  });

  test("a gateway shows no key when it is printed", () => {
    const gateway = gatewayAt("http://127.0.0.1:9", {
      "provider.spare.base-url": "https://example.com",
      "provider.spare.api-key": "from-the-file-1",
    });
    expect(gateway.providers.find(({ name }) => name === "spare")?.apiKey?.reveal()).toBe("from-the-file-1");
    const seen = inspect(gateway, { depth: 20, showHidden: true }) + JSON.stringify(gateway.providers);
    for (const key of [...Object.values(KEYS), "from-the-file-1"]) expect(seen).not.toContain(key);
  });

  test.each(KINDS)("secrets are masked in all that $provider is shown", async (kind) => {
    await using server = await modelServer();
    server.on({ hasToolResult: true }, { content: "Hello." });
    const secret = `${KEYS.OPENAI_API_KEY} and ${KEYS.VLLM_API_KEY}`;
    const call: ModelCall = callOf(kind, "", {
      system: `Mind ${secret}`,
      messages: [
        { role: "user", content: secret },
        {
          role: "assistant",
          content: secret,
          toolCalls: [
            { id: "c1", tool: "local/read_file", params: { path: secret }, raw: JSON.stringify({ path: secret }) },
          ],
        },
        { role: "tool", callId: "c1", tool: "local/read_file", output: { deep: [secret] }, failed: false },
      ],
      tools: [{ ...READ_FILE, description: `Reads ${secret}` }],
    });
    const answer = await gatewayAt(server.url).call(call);
    const body = JSON.stringify(server.getLastRequest()?.body);
    expect(body).toContain("[masked: configured key]");
    for (const key of [KEYS.OPENAI_API_KEY, KEYS.VLLM_API_KEY]) expect(body).not.toContain(key);
    expect(answer.masked).toBe(14);
  });
});
