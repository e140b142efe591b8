import type { JsonObject, JsonValue } from "../../../domain/values/json.ts";
import { WireError } from "./wire.ts";

/** The words of JSON Schema that a provider knows; any other is an error that names the word. */
const COMMON = [
  "type",
  "description",
  "properties",
  "required",
  "items",
  "enum",
  "anyOf",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
];
const KNOWN = {
  anthropic: [...COMMON, "additionalProperties", "$schema"],
  chat: [...COMMON, "additionalProperties"],
  responses: [...COMMON, "additionalProperties"],
  gemini: [...COMMON, "format", "nullable", "additionalProperties"],
} as const;

export function checkSchema(wire: keyof typeof KNOWN, schema: JsonObject, path: string): void {
  const known: readonly string[] = KNOWN[wire];
  for (const [word, value] of Object.entries(schema)) {
    if (!known.includes(word)) throw new WireError(`${path}: Unknown name "${word}": Cannot find field.`);
    if (word === "properties" && isObject(value)) {
      for (const [name, below] of Object.entries(value)) checkBelow(wire, below, `${path}.properties.${name}`);
    } else if (word === "items") checkBelow(wire, value, `${path}.items`);
    else if (word === "anyOf" && Array.isArray(value)) {
      for (const [index, below] of value.entries()) checkBelow(wire, below, `${path}.anyOf.${index}`);
    }
  }
}

function checkBelow(wire: keyof typeof KNOWN, value: JsonValue | undefined, path: string): void {
  if (isObject(value)) checkSchema(wire, value, path);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
