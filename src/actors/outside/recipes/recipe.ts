/**
 * How a known agent is started, as data. Texts have `{gateway}`, `{token}`, `{model}` and `{home}` in them. An object
 * is written as JSON; where several parts of a recipe have one under the same name, they are merged.
 */
import type { AgentName } from "../../../domain/names/agent-names.ts";
import type { JsonObject } from "../../../domain/values/json.ts";

export interface Recipe {
  readonly agent: AgentName;
  /** Programs that speak the protocol, the preferred one first, each with its words. */
  readonly programs: readonly { readonly program: string; readonly words: readonly string[] }[];
  /** Another program that it needs, by the variable in which it is told where that is. */
  readonly needs?: { readonly program: string; readonly variable: string };
  /** The package to install it from, and the version that was tried last. */
  readonly packages: readonly { readonly name: string; readonly version: string }[];
  /** Always. */
  readonly base: RecipePart;
  /** It never asks for permission, in no mode. */
  readonly neverAsks?: true;
  /** Where permission is asked for. */
  readonly asks: RecipePart;
  /** Where it need not ask: the sandbox is ours. */
  readonly trusts: RecipePart;
  /** Unless its actor wants sub-agents. */
  readonly alone: RecipePart;
  /** The names of models that it treats as its own; another name would cost it tools. */
  readonly note?: string;
}

export interface RecipePart {
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string | JsonObject>>;
  /** By the path in its home. */
  readonly files?: Readonly<Record<string, string | JsonObject>>;
  /** The session mode. */
  readonly mode?: string;
}

/** One part over the other. */
export function mergedParts(parts: readonly RecipePart[]): RecipePart {
  return parts.reduce<RecipePart>(
    (one, other) => ({
      words: [...(one.words ?? []), ...(other.words ?? [])],
      environment: mergedTexts(one.environment, other.environment),
      files: mergedTexts(one.files, other.files),
      ...((other.mode ?? one.mode) === undefined ? {} : { mode: other.mode ?? one.mode ?? "" }),
    }),
    {},
  );
}

type Texts = Readonly<Record<string, string | JsonObject>>;

function mergedTexts(one: Texts = {}, other: Texts = {}): Texts {
  const merged: Record<string, string | JsonObject> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = merged[name];
    merged[name] = typeof value === "object" && typeof before === "object" ? mergedJson(before, value) : value;
  }
  return merged;
}

function mergedJson(one: JsonObject, other: JsonObject): JsonObject {
  const merged: Record<string, JsonObject[string]> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = merged[name];
    merged[name] = isJsonObject(value) && isJsonObject(before) ? mergedJson(before, value) : value;
  }
  return merged;
}

function isJsonObject(value: JsonObject[string] | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
