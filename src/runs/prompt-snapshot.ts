import type { ModelMessage, ModelRef, ShownPrompt } from "../actors/models/model.ts";
import { readMessage, storedMessage } from "./answers/stored-answer.ts";

/**
 * Exactly what a model was shown, as bytes: JSON with its keys in order and without spaces, so that the same question
 * is always the same bytes and has the same hash.
 */
export function snapshotBytes(model: ModelRef, shown: ShownPrompt): Uint8Array {
  const { system, messages, tools, settings, responseSchema } = shown;
  const snapshot = {
    model,
    system,
    messages: messages.map(storedMessage),
    tools,
    settings,
    response_schema: responseSchema ?? null,
  };
  return Buffer.from(JSON.stringify(sorted(JSON.parse(JSON.stringify(snapshot)))), "utf8");
}

/** The part of a snapshot with which a conversation continues. */
export function readSnapshot(bytes: Uint8Array): {
  readonly model: ModelRef;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
} {
  const snapshot = JSON.parse(Buffer.from(bytes).toString("utf8")) as {
    model: ModelRef;
    system: string;
    messages: readonly Parameters<typeof readMessage>[0][];
  };
  return { model: snapshot.model, system: snapshot.system, messages: snapshot.messages.map(readMessage) };
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
