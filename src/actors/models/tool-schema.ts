import type { JsonObject, JsonValue } from "../../domain/values/json.ts";

/**
 * Tool schemas as every provider takes them. Providers refuse a whole call over a keyword they do not know (Google over
 * `$schema`, OpenAI over `format: uri`), and a keyword that is left out only means that our own validation says no
 * instead of theirs: so what not all of them take is dropped.
 */
const KEPT: ReadonlySet<string> = new Set([
  "type",
  "description",
  "properties",
  "required",
  "items",
  "enum",
  "anyOf",
  "additionalProperties",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
]);
const DESCRIPTION_LIMIT = 1_024;
const DEPTH_LIMIT = 16;

/** Always the schema of an object: that is what a tool's parameters are. */
export function prunedSchema(schema: JsonObject): JsonObject {
  const pruned = prune(schema, 0);
  return { ...pruned, type: "object", properties: isObject(pruned["properties"]) ? pruned["properties"] : {} };
}

export function prunedDescription(description: string): string {
  return description.length <= DESCRIPTION_LIMIT
    ? description
    : `${description.slice(0, DESCRIPTION_LIMIT - 1).toWellFormed()}…`;
}

function prune(schema: JsonObject, depth: number): JsonObject {
  if (depth > DEPTH_LIMIT) return {};
  const pruned: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(alternatives(schema))) {
    if (!KEPT.has(key)) continue;
    const kept = pruneKeyword(key, value, depth);
    if (kept !== undefined) pruned[key] = kept;
  }
  return pruned;
}

/** `oneOf` and `const` say what `anyOf` and `enum` can say too. */
function alternatives({ oneOf, const: only, ...schema }: JsonObject): JsonObject {
  return {
    ...schema,
    ...(oneOf === undefined || schema["anyOf"] !== undefined ? {} : { anyOf: oneOf }),
    ...(only === undefined ? {} : { enum: [only] }),
  };
}

function pruneKeyword(key: string, value: JsonValue, depth: number): JsonValue | undefined {
  const below = (one: JsonValue): JsonValue => (isObject(one) ? prune(one, depth + 1) : {});
  switch (key) {
    case "properties":
      return isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, below(one)]))
        : undefined;
    case "items":
      return below(value);
    case "anyOf":
      return Array.isArray(value) ? value.map(below) : undefined;
    case "additionalProperties":
      return typeof value === "boolean" ? value : undefined;
    case "description":
      return typeof value === "string" ? prunedDescription(value) : undefined;
    case "minimum":
    case "maximum":
      // The bounds of all whole numbers tell a model nothing, and are ten tokens each in every call.
      return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER ? undefined : value;
    default:
      return value;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
