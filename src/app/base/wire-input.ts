/**
 * The input of an operation as it comes in from outside: snake_case becomes camelCase along the operation's schema, so
 * that keys which are a caller's own data (records, JSON) stay as they are. Problems are named as the caller spelled
 * the keys.
 */
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { snakeCase, unwrapped } from "./wire.ts";

/** The input in camelCase; it fits the schema. */
export function fromWire(schema: z.ZodType, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input = translated(schema, given, "") as Record<string, unknown>;
  const parsed = schema.safeParse(input);
  if (parsed.success) return input;
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: wirePath(schema, path), message }));
  throw inputError(issues);
}

function translated(schema: z.ZodType, value: unknown, path: string): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const element = inner.element as z.ZodType;
    return value.map((one, index) => translated(element, one, `${path}${index}.`));
  }
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const fields = new Map(Object.keys(inner.shape).map((name) => [snakeCase(name), name]));
  // Built from entries: a key such as __proto__ is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const name = fields.get(key);
      if (name === undefined) throw inputError([unknownKey(path, key, [...fields.keys()])]);
      return [name, translated(inner.shape[name] as z.ZodType, one, `${path}${key}.`)];
    }),
  );
}

interface Issue {
  readonly path: string;
  readonly message: string;
}

function unknownKey(path: string, key: string, known: readonly string[]): Issue {
  const suggestion = nearest(key, known);
  const meant = suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`;
  return { path: `${path}${key.slice(0, 100)}`, message: `is not a key of this input${meant}` };
}

function wirePath(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const [first, ...rest] = path;
  if (first === undefined) return "";
  const inner = unwrapped(schema);
  const [name, next] =
    inner instanceof z.ZodObject
      ? [snakeCase(String(first)), inner.shape[String(first)] as z.ZodType]
      : [String(first), inner instanceof z.ZodArray ? (inner.element as z.ZodType) : inner];
  return rest.length === 0 ? name : `${name}.${wirePath(next, rest)}`;
}

function inputError(issues: readonly Issue[]): UsageError {
  const texts = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return new UsageError(`${texts.join("; ")}.`, { kept: "Nothing was written.", detail: { issues } });
}
