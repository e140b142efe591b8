/**
 * JSON Schemas of definitions, made from the very schemas that parse them, so that an editor and the parser cannot
 * disagree about a key. A schema that is code says its form itself; it is worked out only when it is asked for.
 */
import * as z from "zod";
import type { JsonObject, JsonValue } from "../values/json.ts";

/** The keys that may be missing here: under its name in an older file, an actor need not repeat them. */
export interface FormRules {
  readonly optional?: readonly string[];
}

type MakeForm = (rules: FormRules) => JsonObject;

const FORMS = new WeakMap<object, MakeForm>();

/** Says the form of the inputs of a schema that is code. */
export function withForm<S extends z.ZodType>(schema: S, form: MakeForm): S {
  FORMS.set(schema, form);
  return schema;
}

/** The JSON Schema of what the schema takes, without the line that names the dialect. */
export function jsonForm(schema: z.ZodType, rules: FormRules = {}): JsonObject {
  const made = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const form = FORMS.get(zodSchema);
      const outermost: object = schema;
      if (form !== undefined) Object.assign(jsonSchema, form(zodSchema === outermost ? rules : {}));
    },
  });
  const { $schema: _, ...form } = JSON.parse(JSON.stringify(made)) as JsonObject;
  return form;
}

/** A form for the values that fit the condition, and perhaps another one for all others. */
export function formWhen(condition: JsonObject, form: JsonObject, otherwise?: JsonObject): JsonObject {
  // Not written as an object with a key "then": an `await` would take that for a promise.
  const parts: [string, JsonObject][] = [
    ["if", condition],
    ["then", form],
  ];
  return Object.fromEntries(otherwise === undefined ? parts : [...parts, ["else", otherwise]]);
}

/** A kind of an object that says in `type` which one it is. */
interface Case {
  readonly words: readonly string[];
  readonly form: JsonObject;
}

/** An object whose keys depend on its `type`, which may also stand in a block of an older file. */
export function typedForm(cases: readonly Case[], block?: string): JsonObject {
  const own = (words: readonly string[]): JsonObject => ({
    properties: { type: { enum: [...words] } },
    required: ["type"],
  });
  const given = (words: readonly string[]): JsonObject =>
    block === undefined
      ? own(words)
      : {
          anyOf: [own(words), { not: { required: ["type"] }, properties: { [block]: own(words) }, required: [block] }],
        };
  const all = given(cases.flatMap(({ words }) => words));
  return { type: "object", allOf: [all, ...cases.map(({ words, form }) => formWhen(given(words), form))] };
}

/** Every part of a form, the form itself last; conditions are left as they are. */
export function mapForm(form: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  const walk = (value: JsonValue): JsonValue => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => walk(item));
    return mapForm(value as JsonObject, change);
  };
  const entries = Object.entries(form).map(([key, value]): [string, JsonValue] =>
    ["if", "not", "enum", "default", "required"].includes(key) ? [key, value] : [key, walk(value)],
  );
  return change(Object.fromEntries(entries));
}
