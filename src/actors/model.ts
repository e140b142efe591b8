/**
 * What a model is to us: a call with messages and tools, an answer with text and tool calls, and what it cost. These are our own words;
 * they become a provider's at one place only, so that no other code knows which provider answers.
 */
import type { JsonObject, JsonValue } from "../domain/json.ts";

/** Which model, and by whom: "openai" and "gpt-4o", not "openai/gpt-4o". */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

export type ModelMessage =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls: readonly ModelToolCall[] }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly tool: string;
      readonly output: JsonValue;
      readonly failed: boolean;
    };

/** A tool as a model may ask for it. Names are ours; providers see them encoded. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonObject;
}

export interface ModelToolCall {
  readonly id: string;
  readonly tool: string;
  /** Undefined when what the model wrote is no JSON object; `raw` has it as it came. */
  readonly parameters: JsonObject | undefined;
  readonly raw: string;
}

export interface ModelSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly topP?: number;
}

export interface ModelCall {
  readonly model: ModelRef;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** JSON Schema the text must fit, where the provider can see to that. */
  readonly responseSchema?: JsonObject;
  readonly settings: ModelSettings;
  readonly signal: AbortSignal;
  /** Text as it arrives. */
  readonly onText?: (text: string) => void;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The provider did not say; counted by the tokenizer. */
  readonly estimated: boolean;
}

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly usage: ModelUsage;
  readonly finish: "stop" | "tool_calls" | "length" | "content_filter" | "other";
  /** Who answered: another than was asked when that one failed and a fallback was configured. */
  readonly model: ModelRef;
  readonly durationMs: number;
  /** Each try, the last one included: what was billed although it came to nothing is seen here. */
  readonly attempts: readonly ModelAttempt[];
}

export interface ModelAttempt {
  readonly model: ModelRef;
  readonly durationMs: number;
  readonly error: string | undefined;
}

export interface Models {
  call(call: ModelCall): Promise<ModelAnswer>;
}
