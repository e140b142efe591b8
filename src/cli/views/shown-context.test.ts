import { expect, test } from "vitest";
import { readableContext } from "./shown-context.ts";

test("a conversation is read from top to bottom: system, messages with their calls, tools, and the rest", () => {
  const shown = {
    model: { provider: "p", model: "m" },
    system: "You work.\n",
    messages: [
      { role: "user", content: "# Goal\n\nwrite" },
      { role: "assistant", content: "I look.", toolCalls: [{ id: "1", tool: "read_file", parameters: { path: "a" } }] },
      { role: "tool", callId: "1", tool: "read_file", output: { lines: 1 }, failed: false },
      { role: "assistant", content: "", toolCalls: [{ id: "2", tool: "git_log", parameters: {} }] },
      { role: "tool", callId: "2", tool: "git_log", output: "none\n", failed: false },
    ],
    tools: [{ name: "read_file", description: "Read a file", parameters: {} }],
    response_schema: null,
  };
  expect(readableContext(JSON.stringify(shown))).toBe(`=== System

You work.

=== user

# Goal

write

=== assistant

I look.
-> read_file {"path":"a"}

=== tool: read_file

{
  "lines": 1
}

=== assistant

-> git_log {}

=== tool: git_log

none

=== Tools

- read_file: Read a file

=== model

{"provider":"p","model":"m"}

=== response schema

null
`);
});

test("the request of an outside agent has another form, and is shown as it is, with line breaks", () => {
  expect(readableContext('{"input":["hello"]}')).toBe('{\n  "input": [\n    "hello"\n  ]\n}\n');
});
