/** The words and the tool calls of an answer, streamed or whole, in any of the four dialects. */
import type { JsonValue } from "../../domain/values/json.ts";
import { answerParts, facts, list, textOf, type Facts } from "./answer-reading.ts";
import type { Dialect } from "./dialects.ts";

export interface AnswerCall {
  /** By which the next request names its result; "" where the dialect has none. */
  readonly id: string;
  readonly tool: string;
  readonly params: JsonValue;
}

export interface AnswerContent {
  readonly text: string;
  readonly calls: readonly AnswerCall[];
}

export function answerContent(dialect: Dialect, body: string, streamed: boolean): AnswerContent {
  const parts = answerParts(body, streamed);
  switch (dialect) {
    case "anthropic":
      return streamed ? anthropicStream(parts) : anthropicBlocks(parts.flatMap((part) => list(part["content"])));
    case "chat":
      return chat(parts);
    case "responses":
      return responses(parts);
    case "gemini":
      return gemini(parts);
  }
}

/** A call whose parameters come in pieces. */
interface OpenCall {
  id: string;
  tool: string;
  written: string;
}

function closed({ id, tool, written }: OpenCall): AnswerCall {
  return { id, tool, params: readParams(written) };
}

/** Models write parameters as JSON; what is not JSON stays as it is. */
function readParams(written: string): JsonValue {
  if (written.trim() === "") return {};
  try {
    return JSON.parse(written) as JsonValue;
  } catch {
    return written;
  }
}

function anthropicBlocks(blocks: readonly unknown[]): AnswerContent {
  const known = blocks.map(facts);
  return {
    text: known.map((block) => (block["type"] === "text" ? textOf(block["text"]) : "")).join(""),
    calls: known.flatMap((block) =>
      block["type"] === "tool_use"
        ? [{ id: textOf(block["id"]), tool: textOf(block["name"]), params: (block["input"] ?? {}) as JsonValue }]
        : [],
    ),
  };
}

function anthropicStream(parts: readonly Facts[]): AnswerContent {
  const calls = new Map<unknown, OpenCall>();
  let text = "";
  for (const part of parts) {
    const [block, delta] = [facts(part["content_block"]), facts(part["delta"])];
    if (block["type"] === "tool_use")
      calls.set(part["index"], { id: textOf(block["id"]), tool: textOf(block["name"]), written: "" });
    const call = calls.get(part["index"]);
    if (call !== undefined) call.written += textOf(delta["partial_json"]);
    if (block["type"] === "text") text += textOf(block["text"]);
    if (delta["type"] === "text_delta") text += textOf(delta["text"]);
  }
  return { text, calls: [...calls.values()].map(closed) };
}

function chat(parts: readonly Facts[]): AnswerContent {
  const calls = new Map<unknown, OpenCall>();
  let text = "";
  for (const choice of parts.flatMap((part) => list(part["choices"]).slice(0, 1)).map(facts)) {
    for (const said of [facts(choice["delta"]), facts(choice["message"])]) {
      text += textOf(said["content"]);
      for (const [position, one] of list(said["tool_calls"]).map(facts).entries()) {
        const index = one["index"] ?? position;
        const call = calls.get(index) ?? { id: "", tool: "", written: "" };
        const called = facts(one["function"] ?? one["custom"]);
        call.id ||= textOf(one["id"]);
        call.tool ||= textOf(called["name"]);
        call.written += textOf(called["arguments"] ?? called["input"]);
        calls.set(index, call);
      }
    }
  }
  return { text, calls: [...calls.values()].map(closed) };
}

function responses(parts: readonly Facts[]): AnswerContent {
  const done = parts.flatMap((part) => (part["type"] === "response.output_item.done" ? [part["item"]] : []));
  const whole = parts.flatMap((part) =>
    list((part["object"] === "response" ? part : facts(part["response"]))["output"]),
  );
  const items = (done.length > 0 ? done : whole).map(facts);
  return {
    text: items.map((item) => (item["type"] === "message" ? messageText(item) : "")).join(""),
    calls: items.flatMap((item) => {
      if (!textOf(item["type"]).endsWith("_call") || item["call_id"] === undefined) return [];
      const tool = textOf(item["name"]) || textOf(item["type"]).replace(/_call$/, "");
      const given = item["arguments"] ?? item["input"];
      const params = typeof given === "string" ? readParams(given) : ((item["action"] ?? {}) as JsonValue);
      return [{ id: textOf(item["call_id"]), tool, params }];
    }),
  };
}

function messageText(item: Facts): string {
  return list(item["content"])
    .map((piece) => textOf(facts(piece)["text"]))
    .join("");
}

function gemini(parts: readonly Facts[]): AnswerContent {
  const pieces = parts
    .flatMap((part) => list(part["candidates"]).slice(0, 1))
    .flatMap((candidate) => list(facts(facts(candidate)["content"])["parts"]))
    .map(facts);
  return {
    text: pieces.map((piece) => (piece["thought"] === true ? "" : textOf(piece["text"]))).join(""),
    calls: pieces.flatMap((piece) => {
      if (piece["functionCall"] === undefined) return [];
      const called = facts(piece["functionCall"]);
      return [{ id: textOf(called["id"]), tool: textOf(called["name"]), params: (called["args"] ?? {}) as JsonValue }];
    }),
  };
}
