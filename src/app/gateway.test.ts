/** The gateway through the package: real HTTP on both sides, a real store, and a model server that is strict. */
import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import {
  GATEWAY_DIALECTS,
  GatewayWorld,
  headersOf,
  PRICE,
  REAL_KEYS,
  type GatewayDialect,
} from "./testing/gateway-world.ts";

const FORMS = GATEWAY_DIALECTS.flatMap((dialect) => [true, false].map((stream) => ({ dialect, stream })));

test.each(FORMS)("$dialect, streamed $stream: the bytes are the provider's, usage and cost are right", async (form) => {
  const { dialect, stream } = form;
  const script = () => ({ text: "Hello to you.", calls: [{ name: "look", input: { at: "a.txt" } }] });
  await using world = await GatewayWorld.open({ script });
  const answer = await world.ask(dialect, { stream });
  expect(answer.status).toBe(200);
  const bytes = await answer.text();
  const [logged] = world.server.log;
  expect(logged?.refused).toBeUndefined();
  // A second server of the same kind gives the same bytes to what was sent to the first.
  await using twin = await strictServer({ script });
  const direct = await fetch(`${twin.url}${logged?.path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(logged?.body),
  });
  expect(bytes).toBe(await direct.text());
  expect(answer.headers.get("content-type")).toBe(direct.headers.get("content-type"));
  const { input = 0, output = 0 } = logged?.usage ?? {};
  const { cost, tokens, refusedCalls, exitCode } = await world.stop();
  expect(tokens).toMatchObject({ input, output });
  const spentUsd = (input * PRICE.input + output * PRICE.output) / 1_000_000;
  expect(cost).toMatchObject({ calls: 1, spentUsd, estimatedUsd: 0, assumedUsd: 0, reservedUsd: 0, capUsd: 5 });
  expect([refusedCalls, exitCode]).toEqual([0, null]);
  expect(await world.costToday()).toMatchObject({ calls: 1, spentUsd });
});

/** The most that one `ask` of this world can cost. */
async function boundOf(dialect: GatewayDialect): Promise<number> {
  const held = Promise.withResolvers<void>();
  const script = async () => {
    await held.promise;
    return { text: "x" };
  };
  await using world = await GatewayWorld.open({ script });
  const asked = world.ask(dialect);
  await expect
    .poll(() => world.server.log.length === 0 && world.costToday().then(({ reservedUsd }) => reservedUsd))
    .toBeGreaterThan(0);
  const { reservedUsd } = await world.costToday();
  held.resolve();
  await (await asked).text();
  return reservedUsd;
}

const REFUSED = { anthropic: 402, chat: 402, responses: 429, gemini: 402 } as const;

test.each(GATEWAY_DIALECTS)("%s: of 20 requests at once under a cap for 5 exactly 5 go out", async (dialect) => {
  const bound = await boundOf(dialect);
  const refused = Promise.withResolvers<void>();
  let sent = 0;
  const script = async () => {
    // One too many would wait for refusals that never come.
    if ((sent += 1) > 5) refused.resolve();
    await refused.promise;
    return { text: "x" };
  };
  await using world = await GatewayWorld.open({ script, input: { budget: (bound * 5.5).toFixed(6) } });
  let count = 0;
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const answer = await world.ask(dialect);
      if (answer.status !== 200 && (count += 1) === 15) refused.resolve();
      return { status: answer.status, text: await answer.text() };
    }),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(world.server.log).toHaveLength(5);
  const others = answers.filter(({ status }) => status !== 200);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([REFUSED[dialect]]));
  const [one] = others.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
  expect(JSON.stringify(one)).toMatch(/can cost .* of this run's .* budget is left/);
  if (dialect === "anthropic") expect(one).toMatchObject({ type: "error", error: { type: "billing_error" } });
  if (dialect === "chat" || dialect === "responses")
    expect(one).toMatchObject({ error: { code: "insufficient_quota" } });
  if (dialect === "gemini") expect(one).toMatchObject({ error: { code: 402, status: "FAILED_PRECONDITION" } });
  const { cost, refusedCalls } = await world.stop();
  expect([cost.calls, refusedCalls]).toEqual([5, 15]);
  expect(cost.spentUsd).toBeLessThanOrEqual(bound * 5.5);
});

test("a secret in the prompt, in a call and in a result never reaches the provider; key order is kept", async () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  await using world = await GatewayWorld.open();
  const messages = [
    { role: "user", content: [{ type: "text", text: `my token is ${secret}, my key ${REAL_KEYS.OPENAI_API_KEY}` }] },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "run", input: { z: secret, a: 1 } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: `found ${secret}` }] },
  ];
  const send = async () => (await world.ask("anthropic", { body: { messages } })).text();
  await send();
  await send();
  const sent = world.server.log.map(({ body }) => JSON.stringify(body));
  expect(world.server.log.map(({ refused }) => refused)).toEqual([undefined, undefined]);
  expect(sent[0]).not.toContain(secret);
  expect(sent[0]).not.toContain(REAL_KEYS.OPENAI_API_KEY);
  expect(sent[0]).toContain("[masked: GitHub token]");
  expect(sent[0]).toContain(String.raw`"input":{"z":"[masked: GitHub token]","a":1}`);
  expect(sent[1]).toBe(sent[0]);
});

test("the provider sees its own key, and not the token of the run", async () => {
  await using world = await GatewayWorld.open();
  for (const dialect of GATEWAY_DIALECTS) await (await world.ask(dialect)).text();
  const seen = world.server.log.map(({ headers }) => headers);
  expect(seen.map((one) => one["x-api-key"] ?? one["x-goog-api-key"] ?? one["authorization"])).toEqual([
    REAL_KEYS.ANTHROPIC_API_KEY,
    `Bearer ${REAL_KEYS.OPENAI_API_KEY}`,
    `Bearer ${REAL_KEYS.OPENAI_API_KEY}`,
    REAL_KEYS.GEMINI_API_KEY,
  ]);
  expect(JSON.stringify(world.server.log)).not.toContain(world.token);
});

test("without the token of the run nothing is sent, and each dialect is told so in its form", async () => {
  await using world = await GatewayWorld.open();
  const bodies = [];
  for (const dialect of GATEWAY_DIALECTS) {
    const answer = await world.ask(dialect, { token: `${world.token}x` });
    expect(answer.status).toBe(401);
    bodies.push(await answer.json());
  }
  expect(bodies).toMatchObject([
    { type: "error", error: { type: "authentication_error" } },
    { error: { code: "invalid_api_key" } },
    { error: { code: "invalid_api_key" } },
    { error: { code: 401, status: "UNAUTHENTICATED" } },
  ]);
  expect((await fetch(`${world.url}/v1/models`)).status).toBe(401);
  expect(world.server.log).toEqual([]);
});

test("a request under another host name is refused", async () => {
  await using world = await GatewayWorld.open();
  const { port } = new URL(world.url);
  const headers = { ...headersOf("chat", world.token), host: `rebound.example:${port}` };
  const asked = request({ port, host: "127.0.0.1", path: "/v1/models", headers }).end();
  const [answer] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
  answer.resume();
  expect(answer.statusCode).toBe(403);
  expect(world.server.log).toEqual([]);
});

test("a client that hangs up cancels the request at the provider, which counts at its bound", async () => {
  const left = Promise.withResolvers<void>();
  const bound = await boundOf("anthropic");
  await using world = await GatewayWorld.open({ script: () => left.promise.then(() => ({ text: "late" })) });
  const hangUp = new AbortController();
  const asked = world.ask("anthropic", { signal: hangUp.signal });
  asked.catch(() => undefined);
  await expect.poll(async () => (await world.costToday()).reservedUsd).toBeGreaterThan(0);
  hangUp.abort();
  await expect(asked).rejects.toThrow("aborted");
  await expect.poll(async () => (await world.costToday()).assumedUsd).toBeCloseTo(bound, 6);
  expect(await world.costToday()).toMatchObject({ calls: 1, reservedUsd: 0, spentUsd: 0 });
  left.resolve();
});

test("a refusal of the provider costs nothing and reaches the client as it is", async () => {
  const script = () => ({ status: 529, message: "Overloaded", headers: { "retry-after": "7" } });
  await using world = await GatewayWorld.open({ script });
  const answer = await world.ask("anthropic");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([529, "7"]);
  expect(await answer.json()).toMatchObject({ error: { type: "overloaded_error", message: "Overloaded" } });
  expect((await world.stop()).cost).toMatchObject({ calls: 0, spentUsd: 0, assumedUsd: 0, reservedUsd: 0 });
});
