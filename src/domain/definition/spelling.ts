import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { ValidationIssue } from "../errors/errors.ts";
import { parseJson, type JsonLimits, type JsonObject, type JsonValue } from "../values/json.ts";
import { jsonForm, withForm, type FormRules } from "./json-form.ts";
import { collect, filled, REQUIRED, suggested } from "./checked-schema.ts";
import { shown } from "../text/text.ts";

/**
 * Schemas of objects whose keys have more than one spelling: the keys of a shape are those of the domain (`baseUrl`),
 * authors write them with underscores (`base_url`) or as older files do. A problem is reported where its author wrote
 * the value.
 */

/** How authors write the keys of an object. */
export interface Form {
  /** Older spellings, by the key of the shape. */
  readonly older?: Readonly<Record<string, readonly string[]>>;
  /** An older form keeps the keys of a kind in a block of this name; keys beside the block come first. */
  readonly block?: string;
  /** Keys that stand in the block and not beside it. */
  readonly inBlock?: readonly string[];
  /** Keys whose first spelling wins. Of all others, two spellings that disagree are refused. */
  readonly firstWins?: readonly string[];
  /** Keys that would have no effect, each with the reason. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Other keys are left to another schema. */
  readonly open?: boolean;
}

/** A value of a definition, and its place in the object. */
interface Found {
  readonly value: unknown;
  readonly path: Path;
}

/** Reports a problem of the value, or of a part of it. */
export type Say = (message: string, at?: { path?: Path; suggestion?: string }) => undefined;

const LINES = "must be a set of key: value lines";

/** Reports problems whose places are dotted paths. */
export function sayAll(issues: readonly ValidationIssue[], say: Say): void {
  for (const { path, message, ...rest } of issues) say(message, { ...rest, path: path === "" ? [] : path.split(".") });
}

/**
 * A schema from a function that returns the value, or undefined once it said why not. `form` is the JSON Schema of the
 * values it takes.
 */
export function reading<T>(
  read: (value: unknown, say: Say) => T | undefined,
  form: (rules: FormRules) => JsonObject = () => ({}),
) {
  const schema = z.unknown().transform((value, context): T => {
    const say: Say = (message, { path = [], suggestion } = {}) => {
      context.issues.push({ code: "custom", message, path: [...path], params: { suggestion }, input: value });
    };
    const made = value === undefined ? say(REQUIRED) : read(value, say);
    return made === undefined ? z.NEVER : made;
  });
  return withForm(schema, form);
}

/** The value that a schema makes of a part; its problems are reported at the place of that part. */
export function part<T>(schema: z.ZodType<T>, value: unknown, say: Say, place: Place = (path) => path): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const suggestion: unknown = issue.code === "custom" ? issue.params?.["suggestion"] : undefined;
    const path = place(issue.path);
    say(issue.message, typeof suggestion === "string" ? { path, suggestion } : { path });
  }
  return undefined;
}

export type Path = readonly PropertyKey[];
type Place = (path: Path) => Path;

/** An object with these keys, in every spelling of the form. `make` may judge the values together. */
export function spelled<S extends z.ZodRawShape, T = z.output<z.ZodObject<S>>>(
  shape: S,
  form: Form = {},
  make: (values: z.output<z.ZodObject<S>>, say: Say) => T | undefined = (values) => values as T,
) {
  const object = z.object(shape);
  const keys = Object.keys(shape);
  const exact = new Set(keys.filter((key) => shape[key] instanceof z.ZodExactOptional));
  return reading<T>(
    (value, say) => {
      if (!isObject(value)) return say(LINES);
      if (form.open !== true) judgeKeys(value, keys, form, say);
      const found = new Map(keys.map((key) => [key, find(value, key, form)]));
      const place: Place = ([key = "", ...rest]) => [
        ...(found.get(String(key))?.path ?? [written(String(key))]),
        ...rest,
      ];
      // A key that is missing becomes one that is undefined, except where the domain leaves it out.
      const given = [...found].filter(([key, one]) => one !== undefined || !exact.has(key));
      const values = part(object, Object.fromEntries(given.map(([key, one]) => [key, one?.value])), say, place);
      if (values === undefined) return undefined;
      return make(values, (message, at = {}) => say(message, { ...at, path: place(at.path ?? []) }));
    },
    spelledForm(shape, form),
  );
}

/** Every spelling of a key is a property; the older ones are marked, so that an editor does not offer them first. */
function spelledForm(shape: z.ZodRawShape, form: Form): (rules: FormRules) => JsonObject {
  const { block, open = false } = form;
  return ({ optional = [] }) => {
    const own: Record<string, JsonObject> = {};
    const inner: Record<string, JsonObject> = {};
    const required: string[] = [];
    const needed: JsonObject[] = [];
    for (const [key, schema] of Object.entries(shape)) {
      const value = jsonForm(schema as z.ZodType);
      const words = wordsOf(key, form, []);
      for (const one of words) own[one] = one === written(key) ? value : { ...value, deprecated: true };
      const blockWords = block === undefined ? [] : wordsOf(key, form, [block]);
      for (const one of blockWords) inner[one] = value;
      if (optional.includes(key) || mayBeMissing(schema as z.ZodType)) continue;
      const inBlock = blockWords.map((one) => ({
        required: [block ?? ""],
        properties: { [block ?? ""]: { required: [one] } },
      }));
      const ways: JsonObject[] = [...words.map((one) => ({ required: [one] })), ...inBlock];
      if (ways.length === 1) required.push(written(key));
      else needed.push({ anyOf: ways });
    }
    if (block !== undefined) {
      own[block] = { type: "object", properties: inner, additionalProperties: open, deprecated: true };
    }
    return {
      type: "object",
      properties: own,
      additionalProperties: open,
      required,
      ...(needed.length === 0 ? {} : { allOf: needed }),
    };
  };
}

function mayBeMissing(schema: z.ZodType): boolean {
  return schema instanceof z.ZodExactOptional || schema.safeParse(undefined).success;
}

/** The value of a key: the first that the object has. */
export function find(value: unknown, key: string, form: Form): Found | undefined {
  return everyOne(value, key, form)[0];
}

function everyOne(value: unknown, key: string, form: Form): Found[] {
  return places(value, form).flatMap(({ values, path }) => {
    const words = wordsOf(key, form, path).filter((word) => Object.hasOwn(values, word) && values[word] !== undefined);
    return words.map((word) => ({ value: values[word], path: [...path, word] }));
  });
}

/** Every key must be known, and its spellings must agree. */
function judgeKeys(value: Record<string, unknown>, keys: readonly string[], form: Form, say: Say): void {
  const { block, firstWins = [], refused = {} } = form;
  const blocks = block === undefined ? [] : [block];
  for (const one of blocks) if (value[one] !== undefined && !isObject(value[one])) say(LINES, { path: [one] });
  for (const key of keys.filter((one) => !firstWins.includes(one))) {
    const [first, ...others] = everyOne(value, key, form);
    const other = others.find((one) => !isDeepStrictEqual(one.value, first?.value));
    const message = `says something else than ${first?.path.join(".")}; keep one of them`;
    if (other !== undefined) say(message, { path: other.path });
  }
  for (const { values, path } of places(value, form)) {
    const known = new Set([...keys.flatMap((key) => wordsOf(key, form, path)), ...(path.length === 0 ? blocks : [])]);
    for (const [word, one] of Object.entries(values)) {
      // A program left an undefined value out; a file cannot contain one.
      if (known.has(word) || one === undefined) continue;
      const reason = Object.hasOwn(refused, word) ? refused[word] : undefined;
      say(reason ?? "unknown key", { path: [...path, word], ...(reason === undefined ? suggested(word, known) : {}) });
    }
  }
}

/** The object itself and its block. */
function places(value: unknown, { block }: Form): { values: Record<string, unknown>; path: readonly string[] }[] {
  if (!isObject(value)) return [];
  const own = { values: value, path: [] };
  const inner = block === undefined ? undefined : value[block];
  return block !== undefined && isObject(inner) ? [own, { values: inner, path: [block] }] : [own];
}

function wordsOf(key: string, { older = {}, inBlock = [] }: Form, path: readonly string[]): string[] {
  return path.length === 0 && inBlock.includes(key) ? [] : [written(key), ...(older[key] ?? [])];
}

function written(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value that may be missing, and is undefined then. */
export function maybe<T>(schema: z.ZodType<T>) {
  return schema.optional().transform((value) => value);
}

/** One of these words; older words are turned into theirs. */
export function word<W extends string>(words: readonly W[], older: Readonly<Record<string, NoInfer<W>>> = {}) {
  return reading<W>(
    (value, say) => {
      const text = typeof value === "string" ? value : "";
      const known = words.find((one) => one === text) ?? (Object.hasOwn(older, text) ? older[text] : undefined);
      if (known !== undefined) return known;
      const message = `is ${shown(value)}; it must be one of ${words.join(", ")}`;
      return say(message, suggested(text, [...words, ...Object.keys(older)]));
    },
    () => ({ enum: [...words, ...Object.keys(older)] }),
  );
}

export function number(min: number, max: number, whole: "whole" | "any" = "any") {
  return reading<number>(
    (value, say) => {
      const fits = typeof value === "number" && value >= min && value <= max;
      // There is no minus zero in JSON.
      if (fits && (whole === "any" || Number.isInteger(value))) return value + 0;
      return say(`must be a ${whole === "any" ? "" : "whole "}number from ${min} to ${max}, not ${shown(value)}`);
    },
    () => ({ type: whole === "any" ? "number" : "integer", minimum: min, maximum: max }),
  );
}

export const yesOrNo = z.boolean({ error: ({ input }) => `must be true or false, not ${shown(input)}` });

export function list<T>(items: z.ZodType<T>, limit: number) {
  const message = `must be a list of at most ${limit}`;
  return z
    .array(items, { error: ({ input }) => (input === undefined ? REQUIRED : "must be a list") })
    .max(limit, message);
}

/** Values under keys of the author's own. */
export function map<T>(
  values: z.ZodType<T>,
  limit: number,
  keyProblem: (key: string) => string | undefined = () => undefined,
) {
  return reading<Readonly<Record<string, T>>>(
    (value, say) => {
      if (!isObject(value)) return say(LINES);
      const given = Object.entries(value).filter(([, one]) => one !== undefined);
      if (given.length > limit) return say(`must not have more than ${limit} keys`);
      return Object.fromEntries(
        given.flatMap(([key, one]) => {
          const problem = keyProblem(key);
          if (problem !== undefined) say(problem, { path: [key] });
          const made = part(values, one, say, (path) => [key, ...path]);
          return made === undefined ? [] : [[key, made] as const];
        }),
      );
    },
    () => ({ type: "object", additionalProperties: jsonForm(values), maxProperties: limit }),
  );
}

export function json(limits: JsonLimits) {
  return reading<JsonValue>((value, say) => {
    const issues: ValidationIssue[] = [];
    const copy = parseJson(value, "", limits, issues);
    for (const { path, message } of issues) say(message, { path: path.split(".").slice(1) });
    return copy;
  });
}

export function jsonObject(limits: JsonLimits) {
  const any = json(limits);
  return reading<JsonObject>(
    (value, say) => (isObject(value) ? (part(any, value, say) as JsonObject | undefined) : say(LINES)),
    () => ({ type: "object" }),
  );
}

/** A text that a parser of its own understands. */
export function parsedBy<T>(parse: (text: string) => T) {
  return filled.transform((text, context): T => {
    const issues: ValidationIssue[] = [];
    const parsed = collect(() => parse(text), issues);
    for (const { message } of issues) context.issues.push({ code: "custom", message, input: text });
    return parsed ?? z.NEVER;
  });
}
