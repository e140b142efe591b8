/**
 * camelCase in code, snake_case outside: output is translated here and nowhere else, along an operation's schemas, so
 * that keys which are a user's own data (records, JSON) stay as they are. A value that does not fit its schema is a
 * defect and is refused: no surface sends a key that its description does not name.
 */
import * as z from "zod";
import type { NextStep } from "../../domain/errors/next-step.ts";
import { Next } from "./schemas.ts";

export type SpellStep = (step: NextStep) => unknown;

/** The output of an operation as it goes out; `spell` says the next steps in the surface's own way. */
export function toWire(schema: z.ZodType, value: unknown, spell: SpellStep): unknown {
  return translate(schema, value, spell, "");
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function translate(schema: z.ZodType, value: unknown, spell: SpellStep, path: string): unknown {
  if (value === undefined || value === null) return value;
  const inner = unwrapped(schema);
  if (inner === Next) return spell(value as NextStep);
  if (inner instanceof z.ZodObject) return translateObject(inner, value, spell, path);
  if (inner instanceof z.ZodArray) {
    const element = inner.element as z.ZodType;
    return Array.isArray(value)
      ? value.map((one, index) => translate(element, one, spell, `${path}[${index}]`))
      : value;
  }
  if (inner instanceof z.ZodRecord) {
    const element = inner.valueType as z.ZodType;
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, translate(element, one, spell, `${path}.${key}`)]),
    );
  }
  if (inner instanceof z.ZodUnion) return translate(chosen(inner, value), value, spell, path);
  return value;
}

function translateObject(schema: z.ZodObject, value: unknown, spell: SpellStep, path: string): unknown {
  if (!isObject(value)) return value;
  const made: Record<string, unknown> = {};
  const rest = new Set(Object.keys(value));
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!rest.delete(name)) continue;
    const translated = translate(field as z.ZodType, value[name], spell, `${path}.${name}`);
    if (translated !== undefined) made[snakeCase(name)] = translated;
  }
  for (const key of rest) {
    if (value[key] !== undefined) throw new Error(`"${key}" is not part of the schema at "${path}"`);
  }
  return made;
}

/** The option of a union that the value fits: by its literal keys first, because they tell options apart. */
function chosen(union: z.ZodUnion, value: unknown): z.ZodType {
  const options = union.options as readonly z.ZodType[];
  const fitting = options.find((option) => fits(unwrapped(option), value));
  return fitting ?? options[0] ?? union;
}

function fits(schema: z.ZodType, value: unknown): boolean {
  if (!(schema instanceof z.ZodObject)) return schema.safeParse(value).success;
  if (!isObject(value)) return false;
  return Object.entries(schema.shape).every(([name, field]) => {
    const given = value[name];
    if (given === undefined) return (field as z.ZodType).safeParse(undefined).success;
    const inner = unwrapped(field as z.ZodType);
    return !(inner instanceof z.ZodLiteral) || inner.safeParse(given).success;
  });
}

export function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly) {
    return unwrapped(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodDefault) return unwrapped(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodLazy) return unwrapped(schema.unwrap() as z.ZodType);
  return schema;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
