import { describe, expect, test } from "vitest";
import { ModelGateway } from "./model-gateway.ts";
import { answerMessage, type ModelCall, type ModelMessage, type ModelTool } from "./models/model.ts";
import { KEYS, patience } from "./testing/model-world.ts";
import { strictServer, strictSettings, type StrictServer, type StrictServerOptions } from "./testing/strict-server.ts";
import type { WireAnswer, WireScript } from "./testing/wires/wire.ts";

const KINDS = [
  { provider: "anthropic", model: "claude-sonnet-4-5" },
  { provider: "openai", model: "gpt-5" },
  { provider: "google", model: "gemini-2.5-pro" },
  { provider: "vllm", model: "qwen3" },
] as const;

const READ: ModelTool = {
  name: "read_file",
  description: "Reads a file",
  parameters: {
    type: "object",
    properties: { path: { type: "string", minLength: 1, format: "path" } },
    required: ["path"],
    $schema: "https://json-schema.org/draft/2020-12/schema",
  },
};

/** Longer than the smallest prompt that providers cache. */
const SYSTEM = `You work on code. ${"Look before you change anything. ".repeat(300)}`;

function gatewayAt(server: StrictServer, more: Readonly<Record<string, string>> = {}): ModelGateway {
  const settings = new Map(Object.entries({ ...strictSettings(server.url), ...more }));
  return new ModelGateway({
    settings,
    environment: KEYS,
    count: (text) => Math.ceil(text.length / 4),
    patience: patience(),
  });
}

/**
 * Reads so many files, one after the other and the first two at once, with thoughts before each, and ends with a
 * sentence.
 */
function reader(turns: number, answer: Partial<Exclude<WireAnswer, { status: number }>> = {}): WireScript {
  return ({ messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length + 1;
    if (turn > turns) return { text: "All read." };
    const call = (path: string): { name: string; input: { path: string } } => ({ name: "read_file", input: { path } });
    const calls = turn === 1 ? [call("a.txt"), call("b.txt")] : [call(`${turn}.txt`)];
    return { reasoning: `I should read ${turn}.`, text: `Reading ${turn}.`, calls, ...answer };
  };
}

/** The loop of an agent, as short as it can be. */
async function converse(
  gateway: ModelGateway,
  first: Partial<ModelCall> & Pick<ModelCall, "model">,
): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [{ role: "user", content: "Read the files." }];
  for (let turn = 0; turn < 30; turn += 1) {
    const { signal } = new AbortController();
    const answer = await gateway.call({
      system: SYSTEM,
      tools: [READ],
      settings: { reasoning: "medium" },
      signal,
      cacheKey: "plan-1",
      ...first,
      messages: [...messages],
    });
    messages.push(answerMessage(answer));
    if (answer.toolCalls.length === 0) return messages;
    for (const { id, tool, params } of answer.toolCalls) {
      const output = `The content of ${JSON.stringify(params?.["path"])}: ${"x".repeat(400)}`;
      messages.push({ role: "tool", callId: id, tool, output, failed: false });
    }
  }
  throw new Error("It does not end.");
}

async function served(script: WireScript, more: Partial<StrictServerOptions> = {}): Promise<StrictServer> {
  return await strictServer({ script, ...more });
}

describe.each(KINDS)("$provider", (model) => {
  test("a conversation with thoughts, texts, parallel calls and results keeps every rule of the wire", async () => {
    await using server = await served(reader(4));
    const messages = await converse(gatewayAt(server), { model });
    expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    expect(server.log).toHaveLength(5);
    expect(messages.at(-1)).toMatchObject({ content: "All read." });
  });

  test("thoughts that are left out are refused by the server, so that the test above means something", async () => {
    await using server = await served(reader(2));
    const gateway = gatewayAt(server);
    const { signal } = new AbortController();
    const call = { model, system: SYSTEM, tools: [READ], settings: { reasoning: "medium" }, signal } as const;
    const messages: ModelMessage[] = [{ role: "user", content: "Read the files." }];
    const { text, toolCalls } = await gateway.call({ ...call, messages });
    const bare = toolCalls.map(({ id, tool, params, raw }) => ({ id, tool, params, raw }));
    const results = toolCalls.map(({ id, tool }): ModelMessage => {
      return { role: "tool", callId: id, tool, output: "x", failed: false };
    });
    const told = [...messages, { role: "assistant", content: text, toolCalls: bare } as const, ...results];
    await expect(gateway.call({ ...call, messages: told })).rejects.toMatchObject({ kind: "rejected" });
  });

  test("another model gets the text and the calls of a conversation, and nothing that only the first can read", async () => {
    await using server = await served(reader(2));
    await using other = await served(() => ({ text: "I go on." }));
    const messages = await converse(gatewayAt(server), { model });
    const { signal } = new AbortController();
    const next = { role: "user", content: "Go on." } as const;
    const another = { provider: model.provider, model: `${model.model}-other` };
    const call = { model: another, system: SYSTEM, tools: [READ], settings: { reasoning: "medium" }, signal } as const;
    const answer = await gatewayAt(other).call({ ...call, messages: [...messages, next] });
    expect(answer.text).toBe("I go on.");
    const sent = JSON.stringify(other.log[0]?.body);
    expect(sent).toContain("Reading 1.");
    expect(sent).not.toMatch(/I should read|signature-|encrypted-/);
  });

  test("most of what a long conversation sends is read from the provider's cache", async () => {
    await using server = await served(reader(20));
    await converse(gatewayAt(server), { model });
    const usage = server.log.flatMap((logged) => logged.usage ?? []);
    const total = usage.reduce((sum, { input }) => sum + input, 0);
    const read = usage.reduce((sum, { cacheRead }) => sum + cacheRead, 0);
    expect(usage).toHaveLength(21);
    expect(read / total).toBeGreaterThan(0.9);
  });

  test("the answer's usage says what was read from the cache and what was written to it", async () => {
    await using server = await served(reader(1));
    const gateway = gatewayAt(server);
    const { signal } = new AbortController();
    const messages = [{ role: "user", content: "Read the files." }] as const;
    const call = { model, system: SYSTEM, messages, tools: [READ], settings: {}, signal, cacheKey: "plan-1" };
    const first = await gateway.call(call);
    const second = await gateway.call(call);
    expect(first.usage.cachedInputTokens ?? 0).toBe(0);
    expect(second.usage.cachedInputTokens).toBeGreaterThan(1_024);
    if (model.provider === "anthropic") expect(first.usage.cacheWriteTokens).toBeGreaterThan(1_024);
  });

  test("a prompt over the window is known as that", async () => {
    await using server = await served(reader(1), { window: 1_500 });
    await expect(converse(gatewayAt(server), { model })).rejects.toMatchObject({ kind: "context_too_long" });
  });
});

test("Anthropic's secret thoughts go back as they came", async () => {
  await using server = await served(reader(3, { redacted: true }));
  await converse(gatewayAt(server), { model: KINDS[0] });
  expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  expect(JSON.stringify(server.log.at(-1)?.body)).toContain("redacted_thinking");
});

test("thoughts are not masked, and texts are", async () => {
  const secret = KEYS.ANTHROPIC_API_KEY;
  await using server = await served(reader(2, { reasoning: `Is ${secret} a key?`, text: `Not ${secret}.` }));
  await converse(gatewayAt(server), { model: KINDS[0] });
  const last = JSON.stringify(server.log.at(-1)?.body);
  expect(last).toContain(`Is ${secret} a key?`);
  expect(last).not.toContain(`Not ${secret}.`);
});
