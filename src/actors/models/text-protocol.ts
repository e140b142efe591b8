/**
 * Tool calls for models that have none: the tools are described in the system prompt, the model writes each call as a
 * fenced block, and results come back as messages of the user. Everything behind this file sees the same tool calls as
 * from any other model.
 */
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelError } from "./model-error.ts";
import type { ModelAnswer, ModelCall, ModelMessage, ModelToolCall } from "./model.ts";
import { prunedSchema } from "./tool-schema.ts";

const FENCE = /^```tool[^\S\n]*\n([\s\S]*?)^```[^\S\n]*$/gm;

const ROLE = `You act by calling tools. To call one, write a block like this, with nothing else inside it:

\`\`\`tool
{"tool": "name", "parameters": {}}
\`\`\`

Write one block for each call, then stop: the results come in the next message. Answer without a block when you are done. The tools:`;

/** The answers of endpoints about a model that cannot be handed tools. */
const NO_TOOLS =
  /does not support tools?\b|support tool use|--enable-auto-tool-choice|tools? (?:is|are) not supported|(?:function|tool) calling is not (?:enabled|supported)/i;

export function refusesTools(error: ModelError): boolean {
  return (error.kind === "rejected" || error.kind === "unavailable") && NO_TOOLS.test(error.message);
}

/** The same call without tools, for a model that reads and writes text alone. */
export function withoutTools(call: ModelCall): ModelCall {
  if (call.tools.length === 0 && !call.messages.some(hasCalls)) return call;
  const tools = call.tools.map(
    ({ name, description, parameters }) =>
      `- ${name}: ${description}\n  parameters: ${JSON.stringify(prunedSchema(parameters))}`,
  );
  const system = [call.system, ROLE, tools.join("\n")].filter((part) => part !== "").join("\n\n");
  return { ...call, system, tools: [], messages: merged(call.messages.map(asText)) };
}

/** An answer with the calls that were written into its text. */
export function callsInText<T extends Pick<ModelAnswer, "text" | "toolCalls" | "finish">>(
  answer: T,
  call: ModelCall,
): T {
  const toolCalls = [...answer.text.matchAll(FENCE)].map(([, raw = ""], index) =>
    readCall(raw.trim(), `text-${call.messages.length}-${index + 1}`),
  );
  if (toolCalls.length === 0) return answer;
  const text = answer.text.replaceAll(FENCE, "").trim();
  const finish = answer.finish === "length" ? answer.finish : "tool_calls";
  return { ...answer, text, toolCalls, parts: undefined, finish };
}

function readCall(raw: string, id: string): ModelToolCall {
  const value = parsed(raw);
  const [, named = ""] = /"tool"\s*:\s*"([^"]*)"/.exec(raw) ?? [];
  if (!isObject(value)) return { id, tool: named, params: undefined, raw };
  const { tool, parameters = {} } = value;
  const params = isObject(parameters) ? parameters : undefined;
  return { id, tool: typeof tool === "string" ? tool : named, params, raw: JSON.stringify(parameters) };
}

function hasCalls(message: ModelMessage): boolean {
  return message.role === "tool" || (message.role === "assistant" && message.toolCalls.length > 0);
}

function asText(message: ModelMessage): ModelMessage {
  if (message.role === "user") return message;
  if (message.role === "assistant") {
    const blocks = message.toolCalls.map(
      ({ tool, params, raw }) =>
        `\`\`\`tool\n${params === undefined ? raw : JSON.stringify({ tool, parameters: params })}\n\`\`\``,
    );
    const content = [message.content, ...blocks].filter((part) => part !== "").join("\n");
    return { role: "assistant", content, toolCalls: [] };
  }
  const output = typeof message.output === "string" ? message.output : JSON.stringify(message.output);
  return { role: "user", content: `${message.failed ? "Failed" : "Result of"} ${message.tool}:\n${output}` };
}

/** Messages of the user in a row become one: many templates of models refuse two. */
export function merged(messages: readonly ModelMessage[]): ModelMessage[] {
  const result: ModelMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (last?.role === "user" && message.role === "user") {
      const images = [...(last.images ?? []), ...(message.images ?? [])];
      const content = `${last.content}\n\n${message.content}`;
      result[result.length - 1] = { role: "user", content, ...(images.length === 0 ? {} : { images }) };
    } else result.push(message);
  }
  return result;
}

function parsed(raw: string): JsonValue | undefined {
  try {
    return JSON.parse(raw) as JsonValue;
  } catch {
    return undefined;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
