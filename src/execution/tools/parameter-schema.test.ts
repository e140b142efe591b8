import { expect, test } from "vitest";
import type { JsonObject } from "../../domain/values/json.ts";
import { ParameterSchema } from "./parameter-schema.ts";

const EDITS = {
  type: "array",
  items: { type: "object", properties: { line: { type: "integer" } }, required: ["line"] },
};
const SCHEMA = new ParameterSchema({
  type: "object",
  properties: { name: { type: "string", minLength: 2 }, edits: EDITS, either: { type: ["string", "null"] } },
  required: ["name"],
  additionalProperties: false,
});

const issues = (params: JsonObject): string[] =>
  SCHEMA.issues(params).map(({ path, message }) => `${path}: ${message}`);

test("every value that does not fit is named by its path, once", () => {
  expect(issues({ name: "ok" })).toEqual([]);
  expect(issues({})).toEqual(["name: is required"]);
  expect(issues({ name: 1, more: 2 })).toEqual([
    "name: is of type number; it must be string",
    "more: is not a parameter",
  ]);
  expect(issues({ name: "x", edits: [{}, { line: "1" }] })).toEqual([
    "name: does not meet minimum length of 2",
    "edits.0.line: is required",
    "edits.1.line: is of type string; it must be integer",
  ]);
  expect(issues({ name: "ok", either: 1 })).toEqual(["either: is of type number; it must be string or null"]);
  expect(SCHEMA.told).toBe("name, edits?, either?");
});

test("a schema that cannot be used is a problem of the call", () => {
  const broken = new ParameterSchema({ type: "object", properties: { a: { $ref: "#/nowhere" } } });
  expect(broken.issues({ a: 1 })).toMatchObject([{ message: expect.stringMatching(/schema is not usable.*nowhere/s) }]);
  const shared = new ParameterSchema({
    type: "object",
    properties: { a: { $ref: "#/$defs/count" } },
    $defs: { count: { type: "integer" } },
  });
  expect(shared.issues({ a: "x" })).toMatchObject([{ path: "a" }]);
  expect(new ParameterSchema({ $schema: "https://example.org/mine", type: "object" }).issues({ a: 1 })).toEqual([]);
  expect(new ParameterSchema({ not: {} }).issues({})).not.toEqual([]);
  expect(new ParameterSchema({}).names).toEqual([]);
});
