import { expect, test } from "vitest";
import { snapshotBytes } from "./prompt-snapshot.ts";
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
