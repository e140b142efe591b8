/** The words and calls of an answer are the same, however its dialect writes them. */
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../domain/values/json.ts";
import { answerContent, type AnswerContent } from "./answer-calls.ts";
import type { Dialect } from "./dialects.ts";

const whole = (dialect: Dialect, body: JsonValue): AnswerContent => answerContent(dialect, JSON.stringify(body), false);

function streamed(dialect: Dialect, ...events: readonly JsonValue[]): AnswerContent {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return answerContent(dialect, `${body}data: [DONE]\n\n`, true);
}

describe("parameters", () => {
  const called = (written: string): AnswerContent =>
    whole("chat", {
      choices: [
        { message: { content: null, tool_calls: [{ id: "c1", function: { name: "f", arguments: written } }] } },
      ],
    });

  test.each<[string, string, JsonValue]>([
    ["an object", '{"a":[1]}', { a: [1] }],
    ["none where nothing was written", "", {}],
    ["none where only space was written", " \n", {}],
    ["the text itself where it is not JSON", '{"a":', '{"a":'],
  ])("are %s", (_, written, params) => {
    expect(called(written)).toEqual({ text: "", calls: [{ id: "c1", tool: "f", params }] });
  });

  test("are none where the answer leaves them out", () => {
    expect(whole("anthropic", { content: [{ type: "tool_use", id: "t1", name: "f" }] })).toEqual({
      text: "",
      calls: [{ id: "t1", tool: "f", params: {} }],
    });
    expect(whole("gemini", { candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] } }] })).toEqual({
      text: "",
      calls: [{ id: "", tool: "f", params: {} }],
    });
    const item = { type: "local_shell_call", call_id: "c1" };
    expect(whole("responses", { object: "response", output: [item] })).toEqual({
      text: "",
      calls: [{ id: "c1", tool: "local_shell", params: {} }],
    });
  });
});

describe("a chat", () => {
  test("may call a tool of free text, whose input stays a text", () => {
    const custom = { name: "apply_patch", input: "*** Begin Patch" };
    expect(whole("chat", { choices: [{ message: { tool_calls: [{ id: "c1", type: "custom", custom }] } }] })).toEqual({
      text: "",
      calls: [{ id: "c1", tool: "apply_patch", params: "*** Begin Patch" }],
    });
  });

  test("keeps calls apart whose parameters come in turns, and reads the first choice alone", () => {
    const delta = (...calls: readonly JsonValue[]): JsonValue => ({ choices: [{ delta: { tool_calls: calls } }] });
    const content = streamed(
      "chat",
      { choices: [{ delta: { content: "I " } }, { delta: { content: "no" } }] },
      { choices: [{ delta: { content: "read." } }] },
      delta({ index: 0, id: "c0", function: { name: "f", arguments: '{"a"' } }),
      delta({ index: 1, id: "c1", function: { name: "g", arguments: "" } }),
      delta({ index: 1, function: { arguments: "[2]" } }, { index: 0, function: { arguments: ":1}" } }),
    );
    expect(content).toEqual({
      text: "I read.",
      calls: [
        { id: "c0", tool: "f", params: { a: 1 } },
        { id: "c1", tool: "g", params: [2] },
      ],
    });
  });
});

describe("an answer of the Responses API", () => {
  const message = {
    type: "message",
    content: [{ type: "output_text", text: "He" }, { text: "llo" }, { type: "refusal" }],
  };
  const custom = { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "*** Begin Patch" };
  const shell = { type: "local_shell_call", call_id: "c2", action: { type: "exec", command: ["ls"] } };
  const search = { type: "web_search_call", id: "ws_1", action: { type: "search", query: "x" } };
  const expected = {
    text: "Hello",
    calls: [
      { id: "c1", tool: "apply_patch", params: "*** Begin Patch" },
      { id: "c2", tool: "local_shell", params: { type: "exec", command: ["ls"] } },
    ],
  };

  test("has the calls that the agent answers: not those that the provider runs itself", () => {
    expect(whole("responses", { object: "response", output: [message, custom, shell, search] })).toEqual(expected);
  });

  test("is the same when it is streamed, and each item counts once", () => {
    const items = [message, custom, shell, search];
    const done = items.map((item) => ({ type: "response.output_item.done", item }));
    const completed = { type: "response.completed", response: { object: "response", output: items } };
    expect(streamed("responses", ...done, completed)).toEqual(expected);
    expect(streamed("responses", completed)).toEqual(expected);
  });
});

describe("an answer of Anthropic", () => {
  test("is the same whole and streamed, without what it thought", () => {
    const expected = { text: "I read.", calls: [{ id: "t1", tool: "f", params: { a: 1 } }] };
    const tool = { type: "tool_use", id: "t1", name: "f", input: { a: 1 } };
    const thought = { type: "thinking", thinking: "hm" };
    expect(whole("anthropic", { content: [thought, { type: "text", text: "I read." }, tool] })).toEqual(expected);
    expect(
      streamed(
        "anthropic",
        { index: 0, content_block: { type: "thinking", thinking: "" } },
        { index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
        { index: 1, content_block: { type: "text", text: "I " } },
        { index: 1, delta: { type: "text_delta", text: "read." } },
        { index: 2, content_block: { type: "tool_use", id: "t1", name: "f", input: {} } },
        { index: 2, delta: { type: "input_json_delta", partial_json: '{"a"' } },
        { index: 2, delta: { type: "input_json_delta", partial_json: ":1}" } },
      ),
    ).toEqual(expected);
  });
});

describe("an answer of Gemini", () => {
  test("has no thoughts in its text", () => {
    const parts = [
      { thought: true, text: "hm" },
      { text: "I read." },
      { functionCall: { id: "g1", name: "f", args: { a: 1 } } },
    ];
    const answer = { candidates: [{ content: { parts } }] };
    const expected = { text: "I read.", calls: [{ id: "g1", tool: "f", params: { a: 1 } }] };
    expect(whole("gemini", answer)).toEqual(expected);
    expect(whole("gemini", [answer])).toEqual(expected);
    expect(streamed("gemini", answer)).toEqual(expected);
  });
});
