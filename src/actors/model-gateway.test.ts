import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ModelGateway } from "./model-gateway.ts";
import type { ModelAttempt, ModelRef, UpperBound } from "./models/model.ts";
import { callOf, failure, patience } from "./testing/model-world.ts";

/** The behavior that all providers share, tested with scripted ones. */
let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "gateway-"))));
afterEach(() => rmSync(directory, { recursive: true }));

function gateway(
  transcript: string,
  more: Readonly<Record<string, string>> = {},
  count = (text: string): number => text.length,
): ModelGateway {
  writeFileSync(join(directory, "a.yaml"), transcript);
  writeFileSync(join(directory, "b.yaml"), "turns: [{ text: from b, usage: { input_tokens: 3, output_tokens: 4 } }]");
  return new ModelGateway({
    settings: new Map(Object.entries(more)),
    environment: {},
    count,
    patience: patience(),
    directory,
  });
}

const A = { provider: "scripted", model: "a.yaml" };
const B = { provider: "scripted", model: "b.yaml" };

describe("each try", () => {
  test("is announced with the most it can cost, and told of when it ended", async () => {
    const told: [string, ModelRef, unknown][] = [];
    const call = callOf(A, "hi", {
      fallbacks: [B],
      settings: { maxOutputTokens: 10 },
      beforeTry: async (model: ModelRef, bound: UpperBound) => void told.push(["before", model, bound.cost]),
      afterTry: async ({ model, usage }: ModelAttempt) => void told.push(["after", model, usage?.outputTokens]),
    });
    const failing = "turns: [{ error: network, times: always, usage: { output_tokens: 9 } }]";
    const answer = await gateway(failing, { "provider.scripted.prices": "b.yaml=1/2, *=0/1" }).call(call);
    expect(answer).toMatchObject({ text: "from b", model: B, usage: { inputTokens: 3, outputTokens: 4 } });
    const bound = told.at(-2)?.[2];
    expect(bound).toBeGreaterThan(20);
    expect(told).toEqual([
      ...[1, 2, 3].flatMap(() => [
        ["before", A, 10],
        ["after", A, 9],
      ]),
      ["before", B, bound],
      ["after", B, 4],
    ]);
    expect(answer.attempts.map(({ usage }) => usage?.outputTokens)).toEqual([9, 9, 9, 4]);
  });

  test("is not made when the budget says no, and nothing follows", async () => {
    let tries = 0;
    const call = callOf(A, "hi", {
      fallbacks: [B],
      beforeTry: async () => {
        tries += 1;
        if (tries === 2) throw new Error("The budget is used up.");
      },
    });
    await expect(gateway("turns: [{ error: network, times: always }]").call(call)).rejects.toThrow(
      "The budget is used up.",
    );
    expect(tries).toBe(2);
  });

  test("is reported even if it failed in an unforeseen way", async () => {
    const ended: ModelAttempt[] = [];
    const call = callOf(A, "hi", { afterTry: async (attempt: ModelAttempt) => void ended.push(attempt) });
    await expect(gateway("turns: [{ match: { user: bye }, text: x }]").call(call)).rejects.toThrow("no turn left");
    expect(ended).toMatchObject([{ model: A, error: expect.stringContaining("no turn left"), usage: undefined }]);
  });

  test("counts tokens only where the caller asks for it", async () => {
    let counted = 0;
    const counting = (text: string): number => {
      counted += 1;
      return text.length;
    };
    await gateway("turns: [{ text: x }]", {}, counting).call(callOf(A, "hi"));
    expect(counted).toBe(0);
  });
});

describe("stopping", () => {
  test.each([
    ["for the next try", "{ error: network, times: always }", 1],
    ["for an answer", "{ text: late, delay_ms: 50 }", 1],
  ])("ends the wait %s", async (_what, turn, attempts) => {
    writeFileSync(join(directory, "a.yaml"), `turns: [${turn}]`);
    const stop = new AbortController();
    const sleep = async (_milliseconds: number, signal: AbortSignal): Promise<void> => {
      stop.abort();
      signal.throwIfAborted();
    };
    const calm = { random: () => 0, now: Date.now, sleep };
    const waiting = new ModelGateway({
      settings: new Map(),
      environment: {},
      count: () => 1,
      directory,
      patience: calm,
    });
    const error = await failure(waiting, callOf(A, "hi", { signal: stop.signal, fallbacks: [B] }));
    expect([error.kind, error.attempts.length]).toEqual(["cancelled", attempts]);
  });

  test("before anything begins sends nothing", async () => {
    const error = await failure(gateway("turns: [{ text: x }]"), callOf(A, "hi", { signal: AbortSignal.abort() }));
    expect([error.kind, error.attempts.length]).toEqual(["cancelled", 0]);
  });
});

test("a failure names what was tried, and what to do", async () => {
  const error = await failure(gateway("turns: [{ error: server, times: always }]"), callOf(A, "hi"));
  expect(error).toMatchObject({
    name: "ModelError",
    code: "model_server",
    detail: { provider: "scripted", model: "a.yaml", attempts: 3 },
    kept: "Nothing changed; earlier steps are kept.",
  });
  expect(error.message).toMatch(/says server \(turn 1\)\. It was tried 3 times\.$/);
  expect(error.meaning.exit).toBe(1);
});
