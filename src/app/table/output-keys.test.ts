/** Machine output names a plan and a session in one way everywhere (docs/library.md). */
import { expect, test } from "vitest";
import * as z from "zod";
import type { TableEntry } from "../base/operation.ts";
import { OPERATIONS } from "./operation-table.ts";

const EXCEPTIONS = [
  // The filter of the list is repeated as its caller gave it.
  "audit.list: filters.plan",
  // A decision, which also has a phase and a state.
  "plan.explain: decision.id",
];
/** A tree of decisions is a schema that has itself in it. */
const DEEPEST = 12;

interface Place {
  readonly path: string;
  readonly keys: ReadonlyMap<string, z.ZodType>;
}

/** Every object in a schema, with the keys it has. */
function objectsIn(schema: z.ZodType, path = "", depth = 0): Place[] {
  if (depth > DEEPEST || schema instanceof z.ZodLazy) return [];
  if (schema instanceof z.ZodObject) {
    const keys = new Map(Object.entries(schema.shape) as [string, z.ZodType][]);
    const inner = [...keys].flatMap(([key, one]) => objectsIn(one, path === "" ? key : `${path}.${key}`, depth + 1));
    return [{ path, keys }, ...inner];
  }
  if (schema instanceof z.ZodUnion)
    return (schema.options as readonly z.ZodType[]).flatMap((one) => objectsIn(one, path, depth + 1));
  if (schema instanceof z.ZodArray) return objectsIn(schema.element as z.ZodType, path, depth + 1);
  if (schema instanceof z.ZodRecord) return objectsIn(schema.valueType as z.ZodType, path, depth + 1);
  const inner = wrapped(schema);
  return inner === undefined ? [] : objectsIn(inner, path, depth + 1);
}

function wrapped(schema: z.ZodType): z.ZodType | undefined {
  const wraps =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodDefault;
  return wraps ? (schema.unwrap() as z.ZodType) : undefined;
}

function isText(schema: z.ZodType): boolean {
  const inner = wrapped(schema);
  return inner === undefined ? schema instanceof z.ZodString : isText(inner);
}

/** The keys that break the rule. */
function broken({ path, keys }: Place): string[] {
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const references = ["plan", "session"].filter((key) => {
    const value = keys.get(key);
    return value !== undefined && isText(value);
  });
  const isPlan = keys.has("phase") && keys.has("state");
  return [...references, ...(isPlan && keys.has("id") ? ["id"] : [])].map(at);
}

const ENTRIES: readonly (readonly [string, TableEntry])[] = Object.entries(OPERATIONS);

test.each(ENTRIES)("%s says plan_id and session_id", async (name, { load }) => {
  const places = objectsIn((await load()).operation.output);
  const found = places.flatMap(broken).map((key) => `${name}: ${key}`);
  expect(found.filter((one) => !EXCEPTIONS.includes(one))).toEqual([]);
});

test("the rule would see a plan that is called id, and a reference that is called plan", () => {
  const row = z.object({ id: z.string(), phase: z.string(), state: z.string(), session: z.string().nullable() });
  const output = z.object({ plans: z.array(row).readonly(), last: z.record(z.string(), row.optional()) });
  expect(objectsIn(output).flatMap(broken)).toEqual(["plans.session", "plans.id", "last.session", "last.id"]);
});
