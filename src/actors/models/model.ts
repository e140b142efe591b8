/**
 * Our own model of models: a call with messages and tools, an answer with text and tool calls, and its cost. Only one
 * place translates these types into a provider's, so that no other code knows which provider answers.
 */
import type { Settlement } from "../../ledger/budgets.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { Reasoning } from "../../domain/actor/reasoning.ts";
import type { AskWait } from "../../domain/run-event.ts";
import type { ImageFacts } from "../../domain/values/image.ts";
import type { Microdollars } from "../../domain/money/money.ts";

/** Which model, and by whom: "openai" and "gpt-4o", not "openai/gpt-4o". */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
  /** The one endpoint it may be asked at, of an actor that has its own; otherwise that of the provider. */
  readonly baseUrl?: string;
}

export type ModelMessage =
  | {
      readonly role: "user";
      readonly content: string;
      /** Shown after the text. Results of tools have none: not every provider takes them there. */
      readonly images?: readonly ImageFacts[];
    }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls: readonly ModelToolCall[];
      /** The answer as it came, for the model that gave it. */
      readonly original?: AnswerOriginal;
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly tool: string;
      readonly output: JsonValue;
      readonly failed: boolean;
    };

/**
 * A piece of an answer. `providerData` is for the provider alone, such as a signature or an encrypted thought: it is
 * kept and sent back as it came, never read and never masked, because a provider refuses a changed one.
 */
export type AnswerPart =
  | { readonly type: "reasoning" | "text"; readonly text: string; readonly providerData?: JsonObject }
  | { readonly type: "call"; readonly id: string }
  /** Data for the answer as a whole. */
  | { readonly type: "message"; readonly providerData: JsonObject };

/**
 * The pieces of an answer in their order. Only the model that gave it can read its thoughts: another one gets text and
 * calls alone.
 */
export interface AnswerOriginal {
  readonly model: ModelRef;
  readonly parts: readonly AnswerPart[];
}

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
  /** Undefined when what the model wrote is not a JSON object; `raw` has it as it came. */
  readonly params: JsonObject | undefined;
  readonly raw: string;
  /**
   * Data that the provider wants to see again with this call, such as a signature. Stored with the call; no other code
   * reads it.
   */
  readonly providerData?: JsonObject;
}

export interface ModelSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly topP?: number;
  readonly reasoning?: Reasoning;
  /** Handed to the provider as they are, under the name of its kind. */
  readonly providerOptions?: JsonObject;
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
  /** Calls with the same key share the beginning of their prompts, as those of one plan do. */
  readonly cacheKey?: string;
  /** The bytes of an image of its messages, by their hash. */
  readonly imageBytes?: (sha256: string) => Promise<Uint8Array>;
  /** Told before each wait for another try. */
  readonly onWait?: (wait: AskWait) => void;
  /** Text as it arrives. */
  readonly onText?: (text: string) => void;
  /** Its thinking as it arrives, where its provider shows that. */
  readonly onThought?: (text: string) => void;
  /**
   * The text shown through `onText` is void: the connection broke and the answer begins again. Without it, a call of
   * which something was shown is not tried again but fails.
   */
  readonly onRestart?: () => void;
  /** Told once, before anything is sent, exactly what the model is shown: with secrets masked. */
  readonly onShown?: (shown: ShownPrompt) => void;
  /** Asked in this order when the model cannot be reached; before those configured for its provider. */
  readonly fallbacks?: readonly ModelRef[];
  /**
   * Before each try, retries and fallbacks included, with the most it can cost: budgets reserve here. When it rejects,
   * nothing is sent and the call fails so.
   */
  readonly beforeTry?: (model: ModelRef, bound: UpperBound) => Promise<void>;
  /** Called after each try, failed or not: budgets settle here. */
  readonly afterTry?: (attempt: ModelAttempt) => Promise<void>;
  /** Takes the settlement of the try that was answered, to commit it with the answer. */
  readonly settleLater?: (settlement: Settlement) => void;
}

/** All of a call that reaches a model. */
export type ShownPrompt = Pick<ModelCall, "system" | "messages" | "tools" | "responseSchema" | "settings">;

/** The most one try of a call can use. */
export interface UpperBound {
  readonly inputTokens: number;
  /** Undefined when nothing limits what the model may write: give the call `maxOutputTokens`. */
  readonly outputTokens: number | undefined;
  /** Undefined when the price or the output's limit is not known. */
  readonly cost: Microdollars | undefined;
}

export type { Microdollars };

export interface ModelUsage {
  readonly inputTokens: number;
  /** Those of `inputTokens` that the provider had kept from before, which cost less. */
  readonly cachedInputTokens?: number;
  /** Those of `inputTokens` that the provider now keeps for later, which some charge more for. */
  readonly cacheWriteTokens?: number;
  readonly outputTokens: number;
  /** The provider did not say, or not what can be true; counted by the tokenizer. */
  readonly estimated: boolean;
}

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  /** The same with thoughts, in the order in which it came. Recorded by older versions, an answer has none. */
  readonly parts?: readonly AnswerPart[];
  readonly usage: ModelUsage;
  readonly finish: "stop" | "tool_calls" | "length" | "other";
  /** Who answered: another than was asked when that one failed and a fallback was configured. */
  readonly model: ModelRef;
  readonly durationMs: number;
  /** Each try, the last one included: what was billed although it came to nothing is seen here. */
  readonly attempts: readonly ModelAttempt[];
  /** How many secrets were masked in what the model was shown. */
  readonly masked: number;
}

export interface ModelAttempt {
  readonly model: ModelRef;
  readonly durationMs: number;
  /** The reason why the try failed, for people; undefined for the try that answered. */
  readonly error: string | undefined;
  /**
   * Tokens that may be billed; of a try that we ended, counted by the tokenizer. Undefined when the bill is unknown or
   * nothing was sent.
   */
  readonly usage: ModelUsage | undefined;
  /** False only when it is certain to have cost nothing: it was refused, or never got through. */
  readonly mayBeBilled: boolean;
}

/** An answer as the conversation goes on with it. */
export function answerMessage(
  answer: Pick<ModelAnswer, "text" | "toolCalls" | "parts" | "model">,
): Extract<ModelMessage, { role: "assistant" }> {
  const { text, toolCalls, parts, model } = answer;
  return {
    role: "assistant",
    content: text,
    toolCalls,
    ...(parts === undefined ? {} : { original: { model, parts } }),
  };
}

export interface Models {
  call(call: ModelCall): Promise<ModelAnswer>;
}
