import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelMessage, ModelToolCall } from "../models/model.ts";
import type { ProviderOptions, SdkMessage } from "./sdk-types.ts";
import type { ToolNames } from "./tool-name-encoding.ts";

/** Our messages in the library's words. */
export function sdkMessages(messages: readonly ModelMessage[], names: ToolNames): SdkMessage[] {
  return messages.map((message): SdkMessage => {
    switch (message.role) {
      case "user":
        return { role: "user", content: message.content };
      case "assistant":
        return {
          role: "assistant",
          content: [
            ...(message.content === "" ? [] : [{ type: "text" as const, text: message.content }]),
            ...message.toolCalls.map((call) => ({
              type: "tool-call" as const,
              toolCallId: call.id,
              toolName: names.encode(call.tool),
              input: readable(call),
              ...(call.providerData === undefined ? {} : { providerOptions: call.providerData as ProviderOptions }),
            })),
          ],
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
