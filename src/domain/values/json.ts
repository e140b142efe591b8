import type { ValidationIssue } from "../errors/errors.ts";
import { shown, textProblem } from "../text/text.ts";

/** Any value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export interface JsonLimits {
  /** How deep objects and lists may be nested; the outermost one is 1. */
  readonly depth: number;
  /** Bytes of the value written as JSON. */
  readonly bytes: number;
}

/**
 * A copy of `value` that JSON keeps exactly as it is, or undefined with every reason in `issues`. Values that JSON
 * would silently change on the way through the store (dates, `undefined`, NaN, integers beyond 2^53) are refused
 * instead.
 */
export function parseJson(
  value: unknown,
  path: string,
  limits: JsonLimits,
  issues: ValidationIssue[],
): JsonValue | undefined {
  const walk: Walk = { limits, issues, left: limits.bytes };
  const known = issues.length;
  const copy = copied(walk, value, path, 1);
  const tooLarge =
    walk.left < 0 || (issues.length === known && new TextEncoder().encode(JSON.stringify(copy)).length > limits.bytes);
  if (tooLarge) issues.push({ path, message: `is larger than ${limits.bytes / 1024} KiB` });
  return issues.length === known ? copy : undefined;
}

interface Walk {
  readonly limits: JsonLimits;
  readonly issues: ValidationIssue[];
  /**
   * Bytes left, counted no higher than they are. The walk ends below zero: a value that refers to the same list a
   * thousand times on each of sixteen levels would otherwise never end.
   */
  left: number;
}

function copied(walk: Walk, value: unknown, path: string, depth: number): JsonValue {
  const refused = (message: string): null => {
    walk.issues.push({ path, message });
    return null;
  };
  walk.left -= 1;
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    walk.left -= value.length;
    const problem = walk.left < 0 ? undefined : textProblem(value, walk.limits.bytes);
    return problem === undefined ? value : refused(problem);
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return refused(`is ${value}, which is not a number in JSON`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      return refused("is an integer beyond 2^53, which would not be kept exactly; write it as a string");
    }
    // JSON has no minus zero.
    return value + 0;
  }
  const list = Array.isArray(value);
  if (!list && !isPlainObject(value)) return refused(`is ${kindOf(value)}, which JSON cannot hold`);
  if (depth > walk.limits.depth) return refused(`is nested deeper than ${walk.limits.depth} levels`);
  return list ? copiedList(walk, value, path, depth) : copiedObject(walk, value, path, depth);
}

function copiedList(walk: Walk, list: readonly unknown[], path: string, depth: number): JsonValue {
  const items: JsonValue[] = [];
  for (let index = 0; index < list.length && walk.left >= 0; index += 1) {
    items.push(copied(walk, list[index], `${path}.${index}`, depth + 1));
  }
  return items;
}

function copiedObject(walk: Walk, object: object, path: string, depth: number): JsonValue {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    walk.left -= key.length;
    if (walk.left < 0) break;
    const problem = key === "__proto__" ? "cannot be used as a key" : textProblem(key);
    if (problem !== undefined) walk.issues.push({ path, message: `the key ${shown(key)} ${problem}` });
    else entries.push([key, copied(walk, value, `${path}.${key}`, depth + 1)]);
  }
  return Object.fromEntries(entries);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): string {
  if (typeof value === "object") return "an object of a class";
  return value === undefined ? "undefined" : `a ${typeof value}`;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
