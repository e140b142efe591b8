import type { Reducer } from "../../domain/actor/actor.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { NodeFailure } from "./graph-error.ts";

/**
 * The state that nodes share. It never changes: each round makes the next state from it, by taking in the nodes'
 * results one after the other in the order of the file. Which node finished first makes no difference.
 */
export type GraphState = JsonObject;

/** Undefined when there is nothing under the key; what every object has by birth does not count. */
export function valueAt(state: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(state, key) ? state[key] : undefined;
}

/** The value under a key, or below one by a path with dots: `review.passed`, `findings.0`. */
export function valueBelow(state: JsonObject, path: string): JsonValue | undefined {
  const own = valueAt(state, path);
  if (own !== undefined) return own;
  let value: JsonValue | undefined = state;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = isList(value) ? value[/^\d+$/.test(step) ? Number(step) : -1] : valueAt(value, step);
  }
  return value;
}

/** The state with one more update. */
export function updated(state: GraphState, update: { key: string; value: JsonValue; reducer: Reducer }): GraphState {
  const { key, value, reducer } = update;
  const reduced = deeplyFrozen(reduce(reducer, valueAt(state, key), value, key));
  // Not by assignment: a key may be called "__proto__".
  return Object.freeze(Object.fromEntries([...Object.entries(state), [key, reduced]]));
}

function reduce(reducer: Reducer, known: JsonValue | undefined, value: JsonValue, key: string): JsonValue {
  switch (reducer) {
    case "replace":
      return value;
    case "append":
      return [...listUnder(known, key), ...(isListValue(value) ? value : [value])];
    case "merge":
      return { ...objectOf(known ?? {}, key), ...objectOf(value, key) };
    case "sum":
      return numberOf(known ?? 0, key) + numberOf(value, key);
  }
}

function listUnder(known: JsonValue | undefined, key: string): readonly JsonValue[] {
  if (known === undefined) return [];
  if (isListValue(known)) return known;
  throw new NodeFailure(`"${key}" is appended to, but the state has ${kindOf(known)} there and not a list`);
}

function objectOf(value: JsonValue, key: string): JsonObject {
  if (typeof value === "object" && value !== null && !isList(value)) return value;
  throw new NodeFailure(`"${key}" is merged, which takes objects and not ${kindOf(value)}`);
}

function numberOf(value: JsonValue, key: string): number {
  if (typeof value === "number") return value;
  throw new NodeFailure(`"${key}" is summed up, which takes numbers and not ${kindOf(value)}`);
}

export function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "object") return isList(value) ? "a list" : "an object";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}

function isListValue(value: JsonValue): value is readonly JsonValue[] {
  return typeof value === "object" && value !== null && isList(value);
}

/** `Array.isArray` does not tell a readonly array from an object. */
export function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Nodes of one round read the same values, and a tool that is handed one must not change it for the others. */
export function deeplyFrozen<T extends JsonValue>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deeplyFrozen(item);
  return Object.freeze(value);
}
