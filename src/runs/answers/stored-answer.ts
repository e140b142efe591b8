/**
 * A model's tool calls as they are stored, in recorded answers and in snapshots of what a model was shown. Stored
 * calls keep the key `parameters`, which the code calls `params`: a plan that an older version began must be able to
 * continue.
 */
import type { Told } from "../../actors/loop/actor-effects.ts";
import type { ModelMessage, ModelToolCall } from "../../actors/models/model.ts";

type StoredToolCall = Omit<ModelToolCall, "params"> & { readonly parameters?: ModelToolCall["params"] };

export type StoredAnswer = Omit<Told, "toolCalls"> & { readonly toolCalls: readonly StoredToolCall[] };

export function storedAnswer(answer: Told): StoredAnswer {
  return { ...answer, toolCalls: answer.toolCalls.map(storedToolCall) };
}

export function readAnswer(stored: StoredAnswer): Told {
  return { ...stored, toolCalls: stored.toolCalls.map(readToolCall) };
}

export function storedMessage(message: ModelMessage): object {
  return message.role === "assistant" ? { ...message, toolCalls: message.toolCalls.map(storedToolCall) } : message;
}

export type StoredMessage =
  | Exclude<ModelMessage, { role: "assistant" }>
  | (Omit<Extract<ModelMessage, { role: "assistant" }>, "toolCalls"> & {
      readonly toolCalls: readonly StoredToolCall[];
    });

export function readMessage(stored: StoredMessage): ModelMessage {
  return stored.role === "assistant" ? { ...stored, toolCalls: stored.toolCalls.map(readToolCall) } : stored;
}

function storedToolCall({ params, ...call }: ModelToolCall): StoredToolCall {
  return { ...call, parameters: params };
}

function readToolCall({ parameters, ...call }: StoredToolCall): ModelToolCall {
  return { ...call, params: parameters };
}
