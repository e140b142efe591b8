/** An actor with an endpoint of its own is asked there and nowhere else, counted at real servers. */
import { expect, test } from "vitest";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { ModelGateway } from "../model-gateway.ts";
import { callOf, failure, KEYS, patience, plainServer, type PlainServer } from "../testing/model-world.ts";

const ANSWER = `data: ${JSON.stringify({
  id: "1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { role: "assistant", content: "here" }, finish_reason: "stop" }],
})}\n\ndata: [DONE]\n\n`;

interface World extends AsyncDisposable {
  readonly own: PlainServer;
  readonly elsewhere: PlainServer;
  /** The content of the header that a key would be in. */
  readonly keys: (string | undefined)[];
  gateway(settings?: Readonly<Record<string, string>>): ModelGateway;
}

async function world(answer: "text" | "failure" = "text"): Promise<World> {
  const keys: (string | undefined)[] = [];
  const own = await plainServer((request, response) => {
    keys.push(request.headers.authorization ?? String(request.headers["x-api-key"] ?? ""));
    if (answer === "text") response.writeHead(200, { "content-type": "text/event-stream" }).end(ANSWER);
    else response.writeHead(503).end("{}");
  });
  const elsewhere = await plainServer((_request, response) => response.writeHead(200).end());
  const environment = {
    ...KEYS,
    OPENAI_BASE_URL: elsewhere.url,
    ANTHROPIC_BASE_URL: elsewhere.url,
    GOOGLE_GEMINI_BASE_URL: elsewhere.url,
    HTTP_PROXY: elsewhere.url,
    HTTPS_PROXY: elsewhere.url,
  };
  return {
    own,
    elsewhere,
    keys,
    gateway: (settings = {}) =>
      new ModelGateway({
        settings: new Map(Object.entries(settings)),
        environment,
        count: (text) => text.length,
        patience: patience(),
      }),
    [Symbol.asyncDispose]: async () => {
      await own[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
}

test.each(["openai", "openai-compatible", "vllm", "unknown"])(
  "as a model of %s it gets an answer from there, and no key of another provider goes with it",
  async (provider) => {
    await using w = await world();
    const gateway = w.gateway({ "provider.vllm.base-url": w.elsewhere.url });
    const ref = { provider, model: "m", baseUrl: w.own.url };
    const answer = await gateway.call({ ...callOf(ref, "our secret plan"), model: ref });
    expect(answer).toMatchObject({ text: "here", model: ref });
    await gateway.call({ ...callOf(ref, "again"), model: ref });
    expect([w.own.seen(), w.elsewhere.seen()]).toEqual([2, 0]);
    expect(w.keys).toEqual(["", ""]);
    expect(gateway.costOf(answer.model, answer.usage)).toBe(0);
  },
);

test.each(["openai", "anthropic", "google"])(
  "as a model of %s it is sent nowhere else when it fails",
  async (provider) => {
    await using w = await world("failure");
    const gateway = w.gateway({
      [`provider.${provider}.fallbacks`]: "vllm/m",
      "provider.vllm.base-url": w.elsewhere.url,
    });
    const ref = { provider, model: "m", baseUrl: w.own.url };
    const error = await failure(gateway, { ...callOf(ref, "our secret plan"), model: ref });
    expect(error.attempts.every(({ model }) => model.baseUrl === w.own.url)).toBe(true);
    expect(w.own.seen()).toBe(10);
    expect(w.elsewhere.seen()).toBe(0);
    for (const key of w.keys) expect(Object.values(KEYS).some((secret) => key?.includes(secret))).toBe(false);
  },
);

test("the key of a provider goes along only where its own endpoint is meant", async () => {
  await using w = await world();
  const gateway = w.gateway({ "provider.vllm.base-url": w.own.url, "provider.vllm.fallbacks": "openai/gpt-4o" });
  const ref = { provider: "vllm", model: "m", baseUrl: w.own.url };
  await gateway.call({ ...callOf(ref, "hello"), model: ref });
  expect(w.keys).toEqual([`Bearer ${KEYS.VLLM_API_KEY}`]);
});

test("no other model may stand in for it, also not when the caller says so", async () => {
  await using w = await world();
  const ref = { provider: "openai", model: "m", baseUrl: w.own.url };
  const call = { ...callOf(ref, "our secret plan"), model: ref, fallbacks: [{ provider: "openai", model: "gpt-4o" }] };
  await expect(w.gateway().call(call)).rejects.toThrow(ConfigurationError);
  expect([w.own.seen(), w.elsewhere.seen()]).toEqual([0, 0]);
});

test("one that wants a key is a provider's business, and is said so before anything is sent", async () => {
  await using w = await world();
  const ref = { provider: "anthropic", model: "m", baseUrl: "https://models.example.com" };
  await expect(w.gateway().call({ ...callOf(ref, "hello"), model: ref })).rejects.toThrow("make it a provider");
});
