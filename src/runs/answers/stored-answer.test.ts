import { expect, test } from "vitest";
import { answerMessage } from "../../actors/models/model.ts";
import { snapshotBytes } from "../prompt-snapshot.ts";
import { readAnswer, storedAnswer } from "./stored-answer.ts";

const model = { provider: "scripted", model: "demo" };
const call = { id: "1", tool: "read_file", params: { path: "a.txt" }, raw: '{"path":"a.txt"}' };

test("stored tool calls have the key `parameters`, in answers and in snapshots, and are read back as they were", () => {
  const usage = { inputTokens: 1, outputTokens: 1, estimated: false };
  const answer = { text: "", toolCalls: [call], finish: "tool_calls", model, usage } as const;
  const stored = storedAnswer(answer);
  expect(stored.toolCalls).toEqual([
    { id: "1", tool: "read_file", parameters: { path: "a.txt" }, raw: '{"path":"a.txt"}' },
  ]);
  expect(readAnswer(stored)).toEqual(answer);
  const messages = [{ role: "assistant", content: "", toolCalls: [call] }] as const;
  const bytes = snapshotBytes(model, { system: "", messages, tools: [], settings: {} });
  expect(JSON.parse(Buffer.from(bytes).toString("utf8"))).toMatchObject({
    messages: [{ toolCalls: [{ parameters: { path: "a.txt" } }] }],
  });
});

test("the pieces of an answer are stored as they came, and go on with the conversation", () => {
  const usage = { inputTokens: 1, outputTokens: 1, estimated: false };
  const parts = [
    { type: "reasoning", text: "Hm.", providerData: { anthropic: { signature: "sk-ant-0123456789abcdef0123456789" } } },
    { type: "call", id: "1" },
  ] as const;
  const answer = { text: "", toolCalls: [call], parts, finish: "tool_calls", model, usage } as const;
  const read = readAnswer(JSON.parse(JSON.stringify(storedAnswer(answer))) as ReturnType<typeof storedAnswer>);
  expect(read).toEqual(answer);
  expect(answerMessage(read)).toEqual({
    role: "assistant",
    content: "",
    toolCalls: [call],
    original: { model, parts },
  });
});
