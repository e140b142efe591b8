import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { ModelGateway } from "../model-gateway.ts";
import type { ModelAnswer, ModelCall, ModelMessage } from "../models/model.ts";
import { callOf, failure, patience } from "../testing/model-world.ts";

const MODEL = { provider: "scripted", model: "demo.yaml" };

class Script implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "transcript-"));
  readonly calm = patience();

  constructor(source: string) {
    writeFileSync(join(this.directory, "demo.yaml"), source);
  }

  /** As in a new process: nothing is remembered. */
  gateway(settings: Readonly<Record<string, string>> = {}): ModelGateway {
    const { directory, calm } = this;
    return new ModelGateway({
      settings: new Map(Object.entries(settings)),
      environment: {},
      count: () => 1,
      patience: calm,
      directory,
    });
  }

  async ask(messages: readonly ModelMessage[], more: Partial<ModelCall> = {}): Promise<ModelAnswer> {
    return await this.gateway().call(callOf(MODEL, "", { messages, ...more }));
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }
}

const user = (content: string): ModelMessage => ({ role: "user", content });
const said = ({ text, toolCalls }: ModelAnswer): ModelMessage => ({ role: "assistant", content: text, toolCalls });
const result = ({ toolCalls }: ModelAnswer, output: string): ModelMessage => {
  const [call] = toolCalls;
  if (call === undefined) throw new Error("No tool was called.");
  return { role: "tool", callId: call.id, tool: call.tool, output, failed: false };
};

const LOOP = `
turns:
  - match: { user: health }
    tool_calls: [{ tool: read_file, parameters: { path: a.ts } }]
  - match: { result: "500" }
    times: 2
    tool_calls: [{ tool: write_file, parameters: { path: a.ts, content: "200" } }]
    usage: { input_tokens: 7, output_tokens: 3 }
  - match: { tool: write_file, result: /^wrote \\d+ bytes$/ }
    text: It answers 200 now.
`;

describe("a scripted model", () => {
  test("answers a whole conversation, the same in every process that is handed its messages", async () => {
    using script = new Script(LOOP);
    const messages = [user("make health answer")];
    const run = async (output: string): Promise<ModelAnswer> => {
      const answer = await script.ask(messages);
      expect(await script.ask(messages)).toEqual({
        ...answer,
        durationMs: expect.any(Number),
        attempts: expect.any(Array),
      });
      messages.push(said(answer));
      if (answer.toolCalls.length > 0) messages.push(result(answer, output));
      return answer;
    };
    expect(await run("status 500")).toMatchObject({
      finish: "tool_calls",
      toolCalls: [{ id: "scripted-1-1-1", tool: "read_file", params: { path: "a.ts" } }],
    });
    expect(await run("status 500 again")).toMatchObject({
      toolCalls: [{ id: "scripted-2-1-1" }],
      usage: { inputTokens: 7, outputTokens: 3, estimated: false },
    });
    expect(await run("wrote 3 bytes")).toMatchObject({ toolCalls: [{ id: "scripted-2-2-1" }] });
    expect(await run("")).toMatchObject({
      text: "It answers 200 now.",
      finish: "stop",
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test("says which message it has no answer for", async () => {
    using script = new Script(LOOP);
    await expect(script.ask([user("something else")])).rejects.toThrow(
      'its last message is by the user, "something else"',
    );
    const first = await script.ask([user("health")]);
    const odd = script.ask([user("health"), said(first), result(first, "teapot")]);
    await expect(odd).rejects.toThrow('its last message is the result of read_file, "teapot"');
    await expect(odd).rejects.toBeInstanceOf(ConfigurationError);
  });

  test("without anything to match, goes through its turns in order, in each conversation from the first", async () => {
    using script = new Script("turns: [{ text: one }, { text: two, times: 2 }, { text: three }]");
    const messages: ModelMessage[] = [];
    const texts: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      messages.push(user("go on"));
      const answer = await script.ask(messages);
      texts.push(answer.text);
      messages.push(said(answer));
    }
    expect(texts).toEqual(["one", "two", "two", "three"]);
    expect((await script.ask([user("go on")])).text).toBe("one");
  });

  test("tells conversations apart by the system prompt", async () => {
    using script = new Script(
      "turns: [{ match: { system: planner }, text: a plan }, { match: { system: worker }, text: work, times: always }]",
    );
    for (const [system, text] of [
      ["a worker", "work"],
      ["the planner", "a plan"],
      ["a worker", "work"],
    ]) {
      expect((await script.ask([user("x")], { system: system ?? "" })).text).toBe(text);
    }
  });

  test("fails as often as it says, is tried again, and is past that in the next call", async () => {
    using script = new Script(`
turns:
  - { error: rate_limit, times: 1 }
  - { error: network, times: 1 }
  - tool_calls: [{ tool: read_file }]
  - text: done
`);
    const answer = await script.ask([user("x")]);
    expect(answer.attempts.map(({ error }) => error?.match(/says (\w+)/)?.[1])).toEqual([
      "rate_limit",
      "network",
      undefined,
    ]);
    expect(script.calm.slept).toHaveLength(2);
    const next = await script.ask([user("x"), said(answer), result(answer, "ok")]);
    expect([next.text, next.attempts.length]).toEqual(["done", 1]);
  });

  test.each(["authentication", "unavailable", "context_too_long", "refused", "rejected", "malformed", "timeout"])(
    "%s is not tried again",
    async (kind) => {
      using script = new Script(`turns: [{ error: ${kind}, times: always }]`);
      const error = await failure(script.gateway(), callOf(MODEL, "x"));
      expect([error.kind, error.attempts.length]).toEqual([kind, 1]);
    },
  );

  test("writes word by word, and may break off after some", async () => {
    using script = new Script(
      'turns: [{ text: "Half of ", error: network }, { text: " Half of it\\n and the rest " }]',
    );
    const shown: string[] = [];
    let restarts = 0;
    const answer = await script.gateway().call(
      callOf(MODEL, "x", {
        onText: (text) => shown.push(text),
        onRestart: () => {
          restarts += 1;
          shown.length = 0;
        },
      }),
    );
    expect([restarts, shown.join("")]).toEqual([1, answer.text]);
    expect(shown.length).toBeGreaterThan(3);
  });

  test("takes its time, and can be stopped meanwhile", async () => {
    using script = new Script("turns: [{ text: late, delay_ms: 40 }]");
    expect((await script.ask([user("x")])).text).toBe("late");
    expect(script.calm.slept).toEqual([40]);
    const stop = new AbortController();
    stop.abort();
    expect(await failure(script.gateway(), callOf(MODEL, "x", { signal: stop.signal }))).toMatchObject({
      kind: "cancelled",
    });
  });

  test("is found by the configuration, and offered as an actor", async () => {
    using script = new Script("turns: [{ text: hi }]");
    const gateway = script.gateway({
      "provider.demo.type": "scripted",
      "provider.demo.transcript": join(script.directory, "demo.yaml"),
    });
    expect(gateway.providers.find(({ name }) => name === "demo")?.models).toEqual(["transcript"]);
    expect((await gateway.call(callOf({ provider: "demo", model: "transcript" }, "x"))).text).toBe("hi");
    await expect(gateway.call(callOf({ provider: "scripted", model: "transcript" }, "x"))).rejects.toThrow(
      "has no transcript",
    );
    await expect(gateway.call(callOf({ provider: "scripted", model: "no.yaml" }, "x"))).rejects.toThrow(
      /no\.yaml cannot be read/,
    );
  });

  test("an expression that never ends is an error, not a hang", async () => {
    using script = new Script('turns: [{ match: { user: "/(a+)+$/" }, text: hi }]');
    await expect(script.ask([user(`${"a".repeat(40)}b`)])).rejects.toThrow("takes more than 2 s");
  });

  test("costs nothing unless a price is set", () => {
    using script = new Script("turns: [{ text: hi }]");
    const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000, estimated: false };
    expect(script.gateway().costOf(MODEL, usage)).toBe(0);
    expect(script.gateway({ "provider.scripted.prices": "*=1/2" }).costOf(MODEL, usage)).toBe(3_000_000);
  });
});
