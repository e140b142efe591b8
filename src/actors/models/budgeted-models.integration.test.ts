/**
 * Spending stops at the cap however many ask, in one process or in several: a server on loopback counts what really
 * goes out.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { budgetedModels } from "../../runs/budget-caps.ts";
import { daySpending } from "../../ledger/budget-report.ts";
import { ModelGateway } from "../model-gateway.ts";
import type { BudgetError } from "../../domain/errors/errors.ts";
import type { Caps } from "../../ledger/budgets.ts";
import type { ModelCall, ModelRef } from "./model.ts";
import { Program } from "../../testing/program.ts";
import { TemporaryStore } from "../../testing/temporary-store.ts";
import { countingServer } from "../testing/counting-server.ts";
import { lyingServer, times } from "../testing/lying-server.ts";
import { patience } from "../testing/model-world.ts";
import { nextStep } from "../../domain/errors/next-step.ts";

/** The most that one call of "hello" can cost at a dollar for a million tokens: see `upperBoundOf`. */
const BOUND = Math.ceil((16 + 16 + 5) * 1.4) + 128 + 100;
const NONE: Caps = { perPlan: undefined, perDay: undefined };
const MODEL: ModelRef = { provider: "house", model: "m" };

function callOf(more: Partial<ModelCall> = {}): ModelCall {
  return {
    model: MODEL,
    system: "",
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    settings: { maxOutputTokens: 100 },
    signal: new AbortController().signal,
    ...more,
  };
}

async function world(url: string, cap: number | undefined, more: Readonly<Record<string, string>> = {}) {
  const temporary = await TemporaryStore.open("file");
  const { store } = temporary;
  const settings = new Map([
    ["provider.house.base-url", `${url}/v1`],
    ["provider.house.prices", "m=1/1"],
    ...Object.entries(more),
  ]);
  const count = (text: string): number => text.length;
  const gateway = new ModelGateway({ settings, environment: {}, count, patience: patience() });
  const caps = cap === undefined ? NONE : { ...NONE, perDay: { amount: cap, raise: { text: "raise it" } } };
  const models = budgetedModels({ models: gateway, store, caps, lease: undefined, user: "test" });
  /** The same with delays that take their time. */
  const patient = new ModelGateway({ settings, environment: {}, count });
  const slow = budgetedModels({ models: patient, store, caps, lease: undefined, user: "test" });
  const spending = () => store.read((reader) => daySpending(reader, caps));
  return { temporary, models, slow, spending, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

test("of 50 calls at once exactly the 10 that fit go out, and what they cost is known to the last token", async () => {
  // As much as was reserved, so that nothing given back makes room for an eleventh.
  await using server = await countingServer({ prompt_tokens: BOUND - 100, completion_tokens: 100 });
  await using at = await world(server.url, BOUND * 10);
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => at.models.call(callOf())));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(server.asked()).toBe(10);
  const refusals = outcomes.flatMap((one) => (one.status === "rejected" ? [(one.reason as BudgetError).code] : []));
  expect(new Set(refusals)).toEqual(new Set(["budget_exceeded"]));
  expect(await at.spending()).toMatchObject({ calls: 10, spent: BOUND * 10, reserved: 0, assumed: 0 });
});

test("the same from five processes with ten calls each", async () => {
  await using server = await countingServer({ prompt_tokens: BOUND - 100, completion_tokens: 100 });
  await using at = await world(server.url, BOUND * 10);
  const { store, directory } = at.temporary;
  await using programs = new AsyncDisposableStack();
  const spenders = Array.from({ length: 5 }, (_, index) =>
    programs.use(
      new Program("spender", [store.url, server.url, String(BOUND * 10), "10"], join(directory, `out-${index}`)),
    ),
  );
  for (const spender of spenders) await spender.written(1);
  for (const spender of spenders) spender.go();
  for (const spender of spenders) expect(await spender.exit()).toBe(0);
  const ended = spenders.flatMap((spender) => spender.lines<string>().slice(1));
  expect(ended.filter((one) => one === "answered")).toHaveLength(10);
  expect(ended.filter((one) => one === "budget_exceeded")).toHaveLength(40);
  expect(server.asked()).toBe(10);
  expect(await at.spending()).toMatchObject({ calls: 10, spent: BOUND * 10, reserved: 0 });
});

test("each try is reserved and settled: refused ones cost nothing", async () => {
  await using server = await countingServer({ prompt_tokens: 30, completion_tokens: 10 }, (response, asked) => {
    if (asked === 3) return false;
    response.writeHead(429).end("{}");
    return true;
  });
  await using at = await world(server.url, BOUND);
  expect((await at.models.call(callOf())).attempts).toHaveLength(3);
  expect(await at.spending()).toMatchObject({ calls: 1, spent: 40, reserved: 0 });
  const error: unknown = await at.models.call(callOf()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "budget_exceeded", detail: { spent_usd: 0.00004 } });
  expect(server.asked()).toBe(3);
});

test("what broke off after it was sent is assumed in full; what never got through costs nothing", async () => {
  await using server = await countingServer({ prompt_tokens: 30, completion_tokens: 10 }, (response) => {
    response.destroy();
    return true;
  });
  await using at = await world(server.url, BOUND * 10);
  await expect(at.models.call(callOf())).rejects.toMatchObject({ code: "model_network" });
  expect(await at.spending()).toMatchObject({ calls: 3, spent: 0, assumed: BOUND * 3, reserved: 0 });

  const gone = await countingServer({ prompt_tokens: 1, completion_tokens: 1 });
  await gone[Symbol.asyncDispose]();
  await using offline = await world(gone.url, BOUND * 10);
  await expect(offline.models.call(callOf())).rejects.toMatchObject({ code: "model_network" });
  expect(await offline.spending()).toMatchObject({ calls: 0, spent: 0, assumed: 0, reserved: 0 });
});

test("a retry that does not fit any more is not sent", async () => {
  await using server = await countingServer({ prompt_tokens: 30, completion_tokens: 10 }, (response) => {
    response.destroy();
    return true;
  });
  await using at = await world(server.url, BOUND * 2 - 1);
  await expect(at.models.call(callOf())).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(server.asked()).toBe(1);
});

test("a call that we stop is settled at what was sent and what had come, as an estimate", async () => {
  const stop = new AbortController();
  await using server = await lyingServer({ pieces: () => ["sixteen letters!"], ending: "falls silent" });
  await using at = await world(server.url, BOUND * 10, { "provider.house.timeout": "1" });
  // Said by the tests' tokenizer, which has a token for each character.
  const sent = 16 + 16 + 5;
  const stopped = at.models.call(callOf({ signal: stop.signal, onText: () => stop.abort() }));
  await expect(stopped).rejects.toMatchObject({ code: "model_cancelled" });
  const once = { calls: 1, spent: sent + 16, estimated: sent + 16, assumed: 0, reserved: 0 };
  expect(await at.spending()).toMatchObject(once);

  await expect(at.models.call(callOf())).rejects.toMatchObject({ code: "model_timeout" });
  const twice = { calls: 2, spent: 2 * (sent + 16), estimated: 2 * (sent + 16), assumed: 0, reserved: 0 };
  expect(await at.spending()).toMatchObject(twice);
  await expect.poll(server.left).toBe(2);
});

test("an answer that breaks off after fifty characters is assumed in full, each time it is tried", async () => {
  await using server = await lyingServer({ pieces: () => times(10, "five!"), ending: "breaks off" });
  await using at = await world(server.url, BOUND * 4);
  await expect(at.models.call(callOf())).rejects.toMatchObject({ code: "model_network" });
  expect(await at.spending()).toMatchObject({ calls: 3, spent: 0, assumed: BOUND * 3, reserved: 0 });
  await expect(at.models.call(callOf())).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(server.asked()).toBe(4);
  expect(await at.spending()).toMatchObject({ calls: 4, spent: 0, assumed: BOUND * 4, reserved: 0 });
});

test("an answer that the endpoint gives up in the middle is assumed in full", async () => {
  await using server = await countingServer({ prompt_tokens: 1, completion_tokens: 1 }, (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "half" } }] })}\n\n`);
    response.end(`data: ${JSON.stringify({ error: { message: "overloaded" } })}\n\n`);
    return true;
  });
  await using at = await world(server.url, BOUND * 10);
  await expect(at.models.call(callOf())).rejects.toMatchObject({ attempts: expect.any(Array) });
  const tries = server.asked();
  expect(await at.spending()).toMatchObject({ calls: tries, spent: 0, assumed: BOUND * tries, reserved: 0 });
});

test("a scripted call that is stopped is an estimate of what was sent", async () => {
  await using at = await world("http://127.0.0.1:1", undefined, { "provider.scripted.prices": "*=1/1" });
  const file = join(at.temporary.directory, "slow.yaml");
  writeFileSync(file, "turns:\n  - { text: late, delay_ms: 60000 }\n");
  const stop = new AbortController();
  const beforeTry = async (): Promise<void> => void setImmediate(() => stop.abort());
  const model = { provider: "scripted", model: file };
  const stopped = at.slow.call(callOf({ model, signal: stop.signal, beforeTry }));
  await expect(stopped).rejects.toMatchObject({ code: "model_cancelled" });
  expect(await at.spending()).toMatchObject({ calls: 1, spent: 37, estimated: 37, assumed: 0, reserved: 0 });
});

test("an answer that continues past its limit is ended, and costs no more than was asked for", async () => {
  await using server = await lyingServer({ pieces: () => times(1_000_000, "ten chars!") });
  await using at = await world(server.url, BOUND * 2);
  const answer = await at.models.call(callOf());
  expect(answer).toMatchObject({ finish: "length", usage: { inputTokens: 37, outputTokens: 100, estimated: true } });
  // 1.4 times the limit, a sixteenth until it is counted again, and the piece in which it is seen.
  expect(answer.text.length).toBeLessThanOrEqual(100 * 1.4 * (1 + 1 / 16) + 10);
  expect(await at.spending()).toMatchObject({ calls: 1, spent: 137, estimated: 137, assumed: 0, reserved: 0 });
  await expect.poll(server.left).toBe(1);
});

/** Thirty tokens each way; what is counted around the question makes it 62. */
const TEXT = "this text has thirty character";
const LONG_BOUND = Math.ceil((16 + 16 + 30) * 1.4) + 128 + 100;

test.each([
  ["below zero", { prompt_tokens: -5_000, completion_tokens: -5_000 }, 62 + 30, true],
  ["one number below zero", { prompt_tokens: 30, completion_tokens: -1 }, 62 + 30, true],
  ["fractions", { prompt_tokens: 0.1, completion_tokens: 0.2 }, 62 + 30, true],
  ["fractions of the right size", { prompt_tokens: 40.5, completion_tokens: 28.5 }, 62 + 30, true],
  ["10^15", { prompt_tokens: 1e15, completion_tokens: 1e15 }, 62 + 30, true],
  ["nothing", undefined, 62 + 30, true],
  ["too little of both", { prompt_tokens: 1, completion_tokens: 0 }, 62 + 30, true],
  ["too little output", { prompt_tokens: 40, completion_tokens: 10 }, 40 + 30, true],
  ["too little input", { prompt_tokens: 10, completion_tokens: 25 }, 62 + 25, true],
  ["as little as another tokenizer may need", { prompt_tokens: 15, completion_tokens: 15 }, 30, false],
  ["more than was asked for", { prompt_tokens: 1_000_000_000, completion_tokens: 1_000_000_000 }, LONG_BOUND, true],
  ["what can be true", { prompt_tokens: 100, completion_tokens: 80 }, 180, false],
])("an endpoint that says it used %s", async (_what, usage, cost, estimated) => {
  await using server = await lyingServer({ pieces: () => [TEXT], ...(usage === undefined ? {} : { usage }) });
  await using at = await world(server.url, LONG_BOUND);
  const answer = await at.models.call(callOf({ messages: [{ role: "user", content: TEXT }] }));
  expect(answer).toMatchObject({ text: TEXT, usage: { estimated } });
  expect(at.models.costOf(MODEL, answer.usage)).toBe(cost);
  expect(await at.spending()).toMatchObject({ spent: cost, estimated: estimated ? cost : 0, assumed: 0, reserved: 0 });
});

test("a model without a known price is not asked under a cap, and the user is told how to continue", async () => {
  const far = { "provider.far.base-url": "https://models.invalid/v1" };
  await using at = await world("http://127.0.0.1:1", 1_000_000, far);
  const error: unknown = await at.models
    .call(callOf({ model: { provider: "far", model: "big" }, settings: {} }))
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "price_unknown",
    next: [
      nextStep("config.set", { key: "provider.far.prices", value: "big=<dollars per million tokens in>/<out>" }),
      { text: "limit the answer: max_output_tokens of the actor, or --max-output-tokens" },
      { text: "raise it" },
    ],
  });
  expect(await at.spending()).toMatchObject({ calls: 0 });
});
