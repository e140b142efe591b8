/** JSON schemas of inputs and outputs as they are outside: snake_case, next steps spelled as texts. */
import * as z from "zod";
import { Next } from "./schemas.ts";
import { snakeCase } from "./wire.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** `refer` says where a part of the schema is found that several places, or itself, use. */
export function wireSchema(
  schema: z.ZodType,
  io: "input" | "output",
  refer: (part: string) => string,
): { readonly schema: JsonSchema; readonly parts: Readonly<Record<string, JsonSchema>> } {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (Object.is(zodSchema, Next)) jsonSchema.type = "string";
    },
  });
  const { $schema: _, $defs: parts = {}, ...root } = made;
  const spelled = Object.entries(parts).map(([name, part]) => [name, renamed(part as JsonSchema, refer)] as const);
  return { schema: renamed(root, refer), parts: Object.fromEntries(spelled) };
}

function renamed(schema: JsonSchema, refer: (part: string) => string): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "$ref") return [key, refer(String(value).replace(/^#\/\$defs\//, ""))];
      if (key === "properties") return [key, renamedKeys(value as JsonSchema, refer)];
      if (key === "required") return [key, (value as readonly string[]).map(snakeCase)];
      return [key, renamedValue(value, refer)];
    }),
  );
}

function renamedKeys(properties: JsonSchema, refer: (part: string) => string): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [snakeCase(name), renamedValue(field, refer)]),
  );
}

function renamedValue(value: unknown, refer: (part: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => renamedValue(one, refer));
  return typeof value === "object" && value !== null ? renamed(value as JsonSchema, refer) : value;
}
