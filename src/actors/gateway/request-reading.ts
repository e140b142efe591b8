/**
 * Reads a request of an agent program: whether the model is offered tools, which conversation it continues, and what
 * came of the calls of the answer before. Nothing of it is certain, so nothing that counts rests on it alone.
 */
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import type { Dialect } from "./dialects.ts";
import { isMessages } from "./request-pieces.ts";
import { listAt, objectAt, textAt } from "./request-values.ts";

export interface CallResult {
  /** Of the call; "" where the dialect has none. */
  readonly id: string;
  readonly tool: string | undefined;
  readonly text: string;
  readonly failed: boolean;
}

/** Without any, the agent wants a title or a choice of a model, and nothing is done with the answer. */
export function offersTools(body: JsonObject): boolean {
  return (listAt(body, "tools") ?? []).length > 0;
}

/**
 * Names a conversation by the first words of its user: agents change their system prompts and their marks for caches
 * on the way, and these words stay.
 */
export function conversationOf(dialect: Dialect, body: JsonObject): string {
  return hash("sha256", firstWords(dialect, body)).slice(0, 16);
}

/** The first words of the conversation's user, or of the agent that began it. */
export function firstWords(dialect: Dialect, body: JsonObject): string {
  const first = messagesOf(dialect, body).find((message) => textAt(message, "role") === "user");
  return first === undefined ? "" : textsOf(first["content"] ?? first["parts"] ?? null).join("\n");
}

/**
 * Names a question by what the model is shown: a new process of the agent asks the same one with other ids of its own
 * beside it.
 */
export function questionOf(dialect: Dialect, body: JsonObject): string {
  const shown = Object.entries(body).filter(([key]) => isMessages(dialect, key));
  return hash("sha256", JSON.stringify(shown));
}

/** Whether the model has answered in it before. */
export function isBeginning(dialect: Dialect, body: JsonObject): boolean {
  return !messagesOf(dialect, body).some(isAnswer);
}

/** The results of calls at the end of the request. */
export function callResults(dialect: Dialect, body: JsonObject): CallResult[] {
  const messages = messagesOf(dialect, body);
  const last = messages.findLastIndex((message) => resultsIn(message).length === 0 && isAnswer(message));
  return messages.slice(last + 1).flatMap(resultsIn);
}

function isAnswer(message: JsonObject): boolean {
  const role = textAt(message, "role");
  return role === "assistant" || role === "model" || textAt(message, "type")?.endsWith("_call") === true;
}

function messagesOf(dialect: Dialect, body: JsonObject): JsonObject[] {
  const key = { anthropic: "messages", chat: "messages", responses: "input", gemini: "contents" }[dialect];
  const given = body[key];
  if (typeof given === "string") return [{ role: "user", content: given }];
  return (listAt(body, key) ?? []).filter(isJsonObject);
}

function resultsIn(message: JsonObject): CallResult[] {
  if (textAt(message, "role") === "tool")
    return [result(textAt(message, "tool_call_id"), undefined, message["content"], false)];
  if (textAt(message, "type")?.endsWith("_call_output") === true)
    return [result(textAt(message, "call_id"), undefined, message["output"], false)];
  const blocks = [...(listAt(message, "content") ?? []), ...(listAt(message, "parts") ?? [])].filter(isJsonObject);
  return blocks.flatMap((block) => {
    if (textAt(block, "type") === "tool_result")
      return [result(textAt(block, "tool_use_id"), undefined, block["content"], block["is_error"] === true)];
    const response = objectAt(block, "functionResponse");
    if (response === undefined) return [];
    const came = objectAt(response, "response") ?? {};
    return [result(textAt(response, "id"), textAt(response, "name"), came, came["error"] !== undefined)];
  });
}

function result(
  id: string | undefined,
  tool: string | undefined,
  content: JsonValue | undefined,
  failed: boolean,
): CallResult {
  return { id: id ?? "", tool, text: textsOf(content ?? null).join("\n"), failed };
}

function textsOf(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap(textsOf);
  if (!isJsonObject(value)) return [];
  return textAt(value, "text") === undefined && textAt(value, "type") === undefined
    ? [JSON.stringify(value)]
    : [textAt(value, "text") ?? ""];
}
