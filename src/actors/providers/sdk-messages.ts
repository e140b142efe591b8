import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelMessage, ModelRef, ModelToolCall } from "../models/model.ts";
import { merged } from "../models/text-protocol.ts";
import type { ProviderOptions, SdkMessage } from "./sdk-types.ts";
import type { ToolNames } from "./tool-name-encoding.ts";

type AnswerMessage = Extract<ModelMessage, { role: "assistant" }>;
type SdkContent = Exclude<Extract<SdkMessage, { role: "assistant" }>["content"], string>;

/**
 * Our messages in the library's words. Messages of the user in a row become one: many templates of models refuse two.
 * An answer goes back as it came to the model that gave it, thoughts and signatures included, and as text and calls to
 * any other, which could not read the rest.
 */
export function sdkMessages(
  messages: readonly ModelMessage[],
  names: ToolNames,
  model: ModelRef,
  pictures: ReadonlyMap<string, Uint8Array> = new Map(),
): SdkMessage[] {
  return merged(messages).map((message): SdkMessage => {
    switch (message.role) {
      case "user":
        return { role: "user", content: [{ type: "text", text: message.content }, ...imageParts(message, pictures)] };
      case "assistant":
        return {
          role: "assistant",
          content: answerContent(message, names, model),
          ...messageOptions(message, model),
        };
      case "tool":
        return {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: message.callId,
              toolName: names.encode(message.tool),
              output: toolOutput(message.output, message.failed),
            },
          ],
        };
    }
  });
}

function imageParts(
  { images = [] }: Extract<ModelMessage, { role: "user" }>,
  pictures: ReadonlyMap<string, Uint8Array>,
): { type: "file"; mediaType: string; data: { type: "data"; data: Uint8Array } }[] {
  return images.map(({ sha256, type: mediaType }) => {
    const data = pictures.get(sha256);
    if (data === undefined) throw new Error(`the bytes of the image ${sha256} were not given with the call`);
    return { type: "file", mediaType, data: { type: "data", data } };
  });
}

function answerContent(message: AnswerMessage, names: ToolNames, model: ModelRef): SdkContent {
  const { original, content, toolCalls } = message;
  const own = original === undefined || isSame(original.model, model);
  const callPart = (call: ModelToolCall): SdkContent[number] => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: names.encode(call.tool),
    input: readable(call),
    ...(own ? optionsOf(call.providerData) : {}),
  });
  if (original === undefined || !own) {
    return [...(content === "" ? [] : [{ type: "text" as const, text: content }]), ...toolCalls.map(callPart)];
  }
  return original.parts.flatMap((part): SdkContent => {
    if (part.type === "message") return [];
    if (part.type !== "call") return [{ type: part.type, text: part.text, ...optionsOf(part.providerData) }];
    const call = toolCalls.find(({ id }) => id === part.id);
    return call === undefined ? [] : [callPart(call)];
  });
}

function messageOptions({ original }: AnswerMessage, model: ModelRef): { providerOptions?: ProviderOptions } {
  if (original === undefined || !isSame(original.model, model)) return {};
  const whole = original.parts.find((part) => part.type === "message");
  return optionsOf(whole?.providerData);
}

function isSame(a: ModelRef, b: ModelRef): boolean {
  return a.provider === b.provider && a.model === b.model && a.baseUrl === b.baseUrl;
}

function optionsOf(data: JsonObject | undefined): { providerOptions?: ProviderOptions } {
  return data === undefined ? {} : { providerOptions: data as ProviderOptions };
}

/** Providers refuse a history in which a call has no object; the model still sees what it had written. */
function readable(call: ModelToolCall): JsonObject {
  return call.params ?? { unreadable: call.raw };
}

type ToolOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: Exclude<JsonValue, readonly JsonValue[]> };

function toolOutput(output: JsonValue, failed: boolean): ToolOutput {
  if (typeof output === "string") return { type: failed ? "error-text" : "text", value: output };
  const value = output as Exclude<JsonValue, readonly JsonValue[]>;
  return { type: failed ? "error-json" : "json", value };
}
