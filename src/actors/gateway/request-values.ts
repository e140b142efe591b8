/** Reading and changing JSON of other programs, of which nothing is certain. The order of keys is kept. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";

export function objectAt(value: JsonObject, key: string): JsonObject | undefined {
  const found = value[key];
  return isJsonObject(found) ? found : undefined;
}

export function listAt(value: JsonObject, key: string): readonly JsonValue[] | undefined {
  const found = value[key];
  return Array.isArray(found) ? (found as readonly JsonValue[]) : undefined;
}

export function textAt(value: JsonObject, key: string): string | undefined {
  const found = value[key];
  return typeof found === "string" ? found : undefined;
}

/** A whole number above zero. */
export function countAt(value: JsonObject, key: string): number | undefined {
  const found = value[key];
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? found : undefined;
}

export function without(value: JsonObject, keys: readonly string[]): JsonObject {
  if (!keys.some((key) => Object.hasOwn(value, key))) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/** The first of the spellings that the object has, else the first. */
export function spelling(value: JsonObject, ...spellings: readonly [string, ...string[]]): string {
  return spellings.find((one) => Object.hasOwn(value, one)) ?? spellings[0];
}
