import { describe, expect, test } from "vitest";
import { prunedDescription, prunedSchema } from "./tool-schema.ts";

describe("a tool's schema for providers", () => {
  test("bounds that every whole number keeps are left out", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const properties = {
      any: { type: "integer", minimum: -most, maximum: most },
      some: { type: "integer", minimum: 1, maximum: 100 },
    };
    expect(prunedSchema({ type: "object", properties })["properties"]).toEqual({
      any: { type: "integer" },
      some: { type: "integer", minimum: 1, maximum: 100 },
    });
  });

  test("keeps what all of them take and drops the rest, at every depth", () => {
    expect(
      prunedSchema({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $defs: { a: { type: "string" } },
        type: "object",
        title: "Read",
        properties: {
          path: { type: "string", format: "uri", pattern: "^a", minLength: 1, description: "Where" },
          kind: { const: "file" },
          one: {
            oneOf: [
              { type: "string", examples: ["x"] },
              { type: "integer", exclusiveMinimum: 0, minimum: 1 },
            ],
          },
          list: { type: "array", items: { type: "object", properties: { deep: { enum: ["a", "b"], default: "a" } } } },
          map: { type: "object", additionalProperties: { type: "string" } },
          // A property may be called like a keyword.
          format: { type: "string" },
        },
        required: ["path"],
        additionalProperties: false,
      }),
    ).toEqual({
      type: "object",
      properties: {
        path: { type: "string", description: "Where" },
        kind: { enum: ["file"] },
        one: { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] },
        list: { type: "array", items: { type: "object", properties: { deep: { enum: ["a", "b"] } } } },
        map: { type: "object" },
        format: { type: "string" },
      },
      required: ["path"],
      additionalProperties: false,
    });
  });

  test("is that of an object, also when the tool says nothing", () => {
    expect(prunedSchema({})).toEqual({ type: "object", properties: {} });
  });

  test("a nest without end is cut", () => {
    let schema = {};
    for (let depth = 0; depth < 100; depth += 1) schema = { type: "object", properties: { a: schema } };
    expect(JSON.stringify(prunedSchema(schema)).length).toBeLessThan(1_000);
  });

  test("long descriptions are cut", () => {
    expect(prunedDescription("short")).toBe("short");
    expect(prunedDescription("😀".repeat(2_000)).length).toBeLessThanOrEqual(1_024);
    expect(prunedDescription("😀".repeat(2_000)).isWellFormed()).toBe(true);
  });
});
