/**
 * The schemas of an operation as JSON Schema, in the words that go out: snake_case as `wire.ts` translates, and a next
 * step as the text that a surface makes of it.
 */
import * as z from "zod";
import { Next } from "./schemas.ts";
import { snakeCase } from "./wire.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A description that can be sent. */
export type WireSchema = { type: "object" } & Record<string, unknown>;

/** Of the output of an operation. A union is an object too, of one of several forms. */
export function outputSchema(schema: z.ZodType): WireSchema {
  return { ...described(schema, "output"), type: "object" };
}

/** Of an input as its caller writes it. */
export function inputSchema(schema: z.ZodType): WireSchema {
  return { ...described(schema, "input"), type: "object" };
}

/** For a document of many: `refer` says where a part is found that several places of a schema, or itself, use. */
export function wireSchema(
  schema: z.ZodType,
  io: "input" | "output",
  refer: (part: string) => string,
): { readonly schema: JsonSchema; readonly parts: Readonly<Record<string, JsonSchema>> } {
  const { $defs: parts = {}, ...root } = described(schema, io);
  const referring = (value: unknown): unknown => referred(value, refer);
  const found = Object.entries(parts as JsonSchema).map(
    ([name, part]) => [name, referring(part) as JsonSchema] as const,
  );
  return { schema: referring(root) as JsonSchema, parts: Object.fromEntries(found) };
}

function referred(value: unknown, refer: (part: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => referred(one, refer));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]: [string, unknown]) => {
      const isReference = key === "$ref" && typeof one === "string";
      return [key, isReference ? refer(one.replace(/^#\/\$defs\//, "")) : referred(one, refer)];
    }),
  );
}

/** Zod says of each whole number that it is one that JavaScript can hold. */
const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

function described(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod === Next._zod) jsonSchema.type = "string";
      if (jsonSchema.minimum === SAFE.minimum) delete jsonSchema.minimum;
      if (jsonSchema.maximum === SAFE.maximum) delete jsonSchema.maximum;
      const { properties, required } = jsonSchema;
      if (zodSchema._zod.def.type !== "object" || properties === undefined) return;
      jsonSchema.properties = Object.fromEntries(
        Object.entries(properties).map(([key, one]) => [snakeCase(key), one] as const),
      );
      if (required !== undefined) jsonSchema.required = required.map(snakeCase);
    },
  });
  return rest;
}
