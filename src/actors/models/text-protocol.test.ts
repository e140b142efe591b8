import { expect, test } from "vitest";
import type { ModelCall, ModelMessage } from "./model.ts";
import { callsInText, merged, withoutTools } from "./text-protocol.ts";

const TOOL = { name: "read", description: "Reads a file.", parameters: { type: "object" } } as const;

function callWith(messages: readonly ModelMessage[], tools: ModelCall["tools"] = []): ModelCall {
  return { model: { provider: "x", model: "m" }, system: "", messages, tools } as ModelCall;
}

function answer(text: string, finish: "stop" | "length" = "stop") {
  return { text, toolCalls: [], finish, parts: undefined };
}

test("a call without tools or results stays as it is", () => {
  const call = callWith([
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi", toolCalls: [] },
  ]);
  expect(withoutTools(call)).toBe(call);
});

test("tools are described in the system prompt, behind the words that are there", () => {
  const { system, tools } = withoutTools({ ...callWith([], [TOOL]), system: "Be brief." });
  expect(tools).toEqual([]);
  expect(system).toMatch(/^Be brief\.\n\nYou act by calling tools\./);
  expect(system).toContain('- read: Reads a file.\n  parameters: {"type":"object","properties":{}}');
  expect(withoutTools(callWith([], [TOOL])).system).toMatch(/^You act by calling tools\./);
});

test("earlier calls and results become texts, those that could not be read as they were written", () => {
  const { messages } = withoutTools(
    callWith([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "",
        toolCalls: [
          { id: "1", tool: "read", params: { path: "a" }, raw: "" },
          { id: "2", tool: "", params: undefined, raw: "{broken" },
        ],
      },
      { role: "tool", id: "1", tool: "read", output: { lines: 2 }, failed: false },
      { role: "tool", id: "2", tool: "read", output: "no JSON", failed: true },
    ] as ModelMessage[]),
  );
  expect(messages).toEqual([
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: '```tool\n{"tool":"read","parameters":{"path":"a"}}\n```\n```tool\n{broken\n```',
      toolCalls: [],
    },
    { role: "user", content: 'Result of read:\n{"lines":2}\n\nFailed read:\nno JSON' },
  ]);
});

test("calls are read out of an answer; what is not JSON keeps the name of its tool", () => {
  const block = (text: string): string => `\`\`\`tool\n${text}\n\`\`\``;
  const blocks = [
    block('{"tool": "read", "parameters": {"path": "a"}}'),
    block('{"tool": "read", "parameters": [1]}'),
    block('{"tool": 3}'),
    block('{"tool": "read", oops'),
    block("[1]"),
  ];
  const { text, toolCalls, finish } = callsInText(answer(`I read.\n${blocks.join("\n")}`), callWith([]));
  expect([text, finish]).toEqual(["I read.", "tool_calls"]);
  expect(toolCalls.map(({ id, tool, params }) => [id, tool, params])).toEqual([
    ["text-0-1", "read", { path: "a" }],
    ["text-0-2", "read", undefined],
    ["text-0-3", "", {}],
    ["text-0-4", "read", undefined],
    ["text-0-5", "", undefined],
  ]);
  expect(callsInText(answer(blocks[0] ?? "", "length"), callWith([])).finish).toBe("length");
  const plain = answer("nothing to call");
  expect(callsInText(plain, callWith([]))).toBe(plain);
});

test("messages of the user in a row become one, with the images of both", () => {
  const image = (name: string) => ({ name, sha256: name, type: "image/png", bytes: 1, width: 1, height: 1 }) as const;
  expect(
    merged([
      { role: "user", content: "a", images: [image("1")] },
      { role: "user", content: "b" },
      { role: "assistant", content: "c", toolCalls: [] },
      { role: "user", content: "d" },
      { role: "user", content: "e", images: [image("2")] },
    ]),
  ).toEqual([
    { role: "user", content: "a\n\nb", images: [image("1")] },
    { role: "assistant", content: "c", toolCalls: [] },
    { role: "user", content: "d\n\ne", images: [image("2")] },
  ]);
});
