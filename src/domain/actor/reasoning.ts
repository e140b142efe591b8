import type { JsonObject } from "../values/json.ts";

/**
 * How much a model thinks before it answers: a word that every provider has its own measure for, or a number of tokens.
 */
const EFFORTS = ["off", "low", "medium", "high"] as const;

export type Reasoning = (typeof EFFORTS)[number] | number;

/** Anthropic thinks with at least so many tokens; more than the last number no model takes. */
const LEAST_TOKENS = 1_024;
const MOST_TOKENS = 200_000;

export const REASONING_FORM = `must be one of ${EFFORTS.join(", ")} or a number of tokens from ${LEAST_TOKENS} to ${MOST_TOKENS}`;

/** Undefined for anything else. YAML reads `off` as a word and a number as a number. */
export function parseReasoning(value: unknown): Reasoning | undefined {
  const word = EFFORTS.find((effort) => effort === value);
  if (word !== undefined) return word;
  const tokens =
    typeof value === "number" || (typeof value === "string" && /^\d{1,6}$/.test(value)) ? Number(value) : 0;
  return Number.isInteger(tokens) && tokens >= LEAST_TOKENS && tokens <= MOST_TOKENS ? tokens : undefined;
}

/** The same as a JSON Schema, for the values of a file. */
export function reasoningForm(): JsonObject {
  const tokens = { type: "integer", minimum: LEAST_TOKENS, maximum: MOST_TOKENS };
  return { anyOf: [{ enum: [...EFFORTS, false] }, tokens, { type: "string", pattern: String.raw`^\d{1,6}$` }] };
}
