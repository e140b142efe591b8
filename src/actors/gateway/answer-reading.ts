/** Reads a provider's answer, streamed or whole: the text that was written, the usage it claims, whether it ended. */
import { usageClaim, type ReportedUsage, type UsageClaim } from "../providers/believed-usage.ts";
import type { Dialect } from "./dialects.ts";

export interface ReadAnswer {
  /** All that the model wrote, thoughts and parameters included. */
  readonly written: string;
  readonly claim: UsageClaim | undefined;
  /** It says itself that it is complete. */
  readonly ended: boolean;
}

export type Facts = Readonly<Record<string, unknown>>;

/** The answer as far as it was read. */
interface Reading {
  written: string;
  usage: ReportedUsage;
  ended: boolean;
  /** OpenAI's chat says why it ended before it says what it used. */
  finished: boolean;
  /** Anthropic says its usage in several parts. */
  said: Facts;
}

export function isStreamed(contentType: string): boolean {
  return contentType.includes("text/event-stream");
}

export function readAnswer(dialect: Dialect, body: string, streamed: boolean): ReadAnswer {
  const read = READERS[dialect];
  const usage = { inputTokens: undefined, outputTokens: undefined };
  const reading: Reading = { written: "", usage, ended: false, finished: false, said: {} };
  for (const part of answerParts(body, streamed)) read(part, reading);
  return { written: reading.written, claim: usageClaim(reading.usage), ended: reading.ended };
}

/** The parts of an answer: one, or the data of each event of a stream. */
export function answerParts(body: string, streamed: boolean): Facts[] {
  return (streamed ? events(body) : [parsed(body)]).flat().map(facts);
}

/** The data of a stream of server-sent events. */
function events(body: string): unknown[] {
  return body.split(/\r?\n\r?\n/).flatMap((event) => {
    const lines = event.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []));
    const data = lines.join("\n");
    if (data === "") return [];
    return [data === "[DONE]" ? { done: true } : parsed(data)];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function write(reading: Reading, ...texts: readonly unknown[]): void {
  for (const text of texts) if (typeof text === "string") reading.written += text;
}

const READERS: Readonly<Record<Dialect, (part: Facts, reading: Reading) => void>> = {
  anthropic: readAnthropic,
  chat: readChat,
  responses: readResponses,
  gemini: readGemini,
};

function readAnthropic(part: Facts, reading: Reading): void {
  const { type } = part;
  const message = type === "message_start" ? facts(part["message"]) : part;
  // The beginning says the input, the end the output, and some say all of it twice.
  const said = Object.entries(facts(message["usage"])).filter(([, value]) => typeof value === "number");
  reading.said = { ...reading.said, ...Object.fromEntries(said) };
  const read = tokens(reading.said["cache_read_input_tokens"]) ?? 0;
  const kept = tokens(reading.said["cache_creation_input_tokens"]) ?? 0;
  const fresh = tokens(reading.said["input_tokens"]);
  reading.usage = {
    inputTokens: fresh === undefined ? undefined : fresh + read + kept,
    outputTokens: tokens(reading.said["output_tokens"]),
    inputTokenDetails: { cacheReadTokens: read, cacheWriteTokens: kept },
  };
  if (type === "message_stop" || (type === "message" && typeof part["stop_reason"] === "string")) reading.ended = true;
  for (const block of [...list(part["content"]), part["content_block"], part["delta"]].map(facts)) {
    write(reading, block["text"], block["thinking"], block["partial_json"]);
    if (block["type"] === "tool_use" && type === "message") write(reading, JSON.stringify(block["input"]));
  }
}

function readChat(part: Facts, reading: Reading): void {
  const usage = facts(part["usage"]);
  if (usage["prompt_tokens"] !== undefined) {
    const details = facts(usage["prompt_tokens_details"]);
    reading.usage = {
      inputTokens: tokens(usage["prompt_tokens"]),
      outputTokens: tokens(usage["completion_tokens"]),
      inputTokenDetails: {
        cacheReadTokens: tokens(details["cached_tokens"]),
        cacheWriteTokens: tokens(details["cache_write_tokens"]),
      },
    };
  }
  for (const choice of list(part["choices"]).map(facts)) {
    if (typeof choice["finish_reason"] === "string") reading.finished = true;
    if (reading.finished && choice["message"] !== undefined) reading.ended = true;
    for (const said of [facts(choice["delta"]), facts(choice["message"])]) {
      write(reading, said["reasoning_content"] ?? said["reasoning"], said["content"], said["refusal"]);
      for (const call of list(said["tool_calls"]).map(facts)) {
        const called = facts(call["function"]);
        write(reading, called["name"], called["arguments"]);
      }
    }
  }
  if (part["done"] === true || (reading.finished && reading.usage.inputTokens !== undefined)) reading.ended = true;
}

function readResponses(part: Facts, reading: Reading): void {
  const type = textOf(part["type"]);
  const whole = part["object"] === "response";
  const response = whole ? part : facts(part["response"]);
  if (type.endsWith(".delta")) write(reading, part["delta"]);
  if (whole) for (const item of list(part["output"])) writeItem(facts(item), reading);
  const usage = facts(response["usage"]);
  if (usage["input_tokens"] !== undefined) {
    reading.usage = {
      inputTokens: tokens(usage["input_tokens"]),
      outputTokens: tokens(usage["output_tokens"]),
      inputTokenDetails: { cacheReadTokens: tokens(facts(usage["input_tokens_details"])["cached_tokens"]) },
    };
  }
  const state = whole ? textOf(part["status"]) : type.replace(/^response\./, "");
  // A failure that says what it used is as good as an end.
  const failed = state === "failed" && usage["input_tokens"] !== undefined;
  if (failed || state === "completed" || state === "incomplete") reading.ended = true;
}

function writeItem(item: Facts, reading: Reading): void {
  write(reading, item["arguments"], item["input"]);
  for (const piece of [...list(item["content"]), ...list(item["summary"])].map(facts)) write(reading, piece["text"]);
}

function readGemini(part: Facts, reading: Reading): void {
  const usage = facts(part["usageMetadata"]);
  const prompt = tokens(usage["promptTokenCount"]);
  if (prompt !== undefined) {
    reading.usage = {
      inputTokens: prompt + (tokens(usage["toolUsePromptTokenCount"]) ?? 0),
      outputTokens: (tokens(usage["candidatesTokenCount"]) ?? 0) + (tokens(usage["thoughtsTokenCount"]) ?? 0),
      inputTokenDetails: { cacheReadTokens: tokens(usage["cachedContentTokenCount"]) },
    };
  }
  if (facts(part["promptFeedback"])["blockReason"] !== undefined) reading.ended = true;
  for (const candidate of list(part["candidates"]).map(facts)) {
    if (typeof candidate["finishReason"] === "string") reading.ended = true;
    for (const piece of list(facts(candidate["content"])["parts"]).map(facts)) {
      write(reading, piece["text"]);
      if (piece["functionCall"] !== undefined) write(reading, JSON.stringify(piece["functionCall"]));
    }
  }
}

export function facts(value: unknown): Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facts) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function tokens(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
