/** The table's words and the schemas of the operations describe the same inputs. */
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Parameter, TableEntry } from "../base/operation.ts";
import { OPERATIONS } from "./operation-table.ts";

/** A text of the command line becomes a value of this JSON type; a schema may also read something else from "text". */
const TYPES: Readonly<Record<NonNullable<Parameter["kind"]>, readonly string[]>> = {
  text: ["string"],
  words: ["string"],
  flag: ["boolean"],
  integer: ["integer", "number"],
  number: ["number"],
  pairs: ["object"],
  path: ["string"],
  document: ["object"],
  command: ["array"],
  here: ["string"],
};

interface Described {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Described[];
  readonly items?: Described;
}

async function schemaOf(name: string): Promise<{
  readonly keys: Readonly<Record<string, Described>>;
  readonly required: readonly string[];
  readonly input: z.ZodType;
}> {
  const entry: TableEntry | undefined = Object.entries<TableEntry>(OPERATIONS).find(([key]) => key === name)?.[1];
  if (entry === undefined) throw new Error(`There is no operation ${name}.`);
  const { input } = (await entry.load()).operation;
  const described = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return { keys: (described.properties ?? {}) as Record<string, Described>, required: described.required ?? [], input };
}

function typesOf(described: Described): string[] {
  if (described.anyOf !== undefined) return described.anyOf.flatMap(typesOf);
  return described.type === undefined ? [] : [described.type];
}

describe.each(Object.entries<TableEntry>(OPERATIONS))("%s", (name, { parameters = [], example }) => {
  test("each parameter is a key of the schema, of a type that its words can have", async () => {
    const { keys } = await schemaOf(name);
    for (const { name: key, kind = "text", many, choices } of parameters) {
      const described = keys[key];
      expect(described, key).toBeDefined();
      if (described === undefined) continue;
      const wanted = many === true ? ["array"] : TYPES[kind];
      expect(
        typesOf(described).some((type) => wanted.includes(type)),
        `${key} is ${typesOf(described).join()}`,
      ).toBe(true);
      if (choices !== undefined && described.enum !== undefined)
        expect(described.enum.toSorted()).toEqual(choices.toSorted());
    }
  });

  test("each key of the schema has a parameter, and what is required is required in both", async () => {
    const { keys, required } = await schemaOf(name);
    const named = new Set(parameters.map((parameter) => parameter.name));
    const unreachable = Object.keys(keys).filter((key) => !named.has(key));
    expect(unreachable).toEqual([]);
    const always = parameters.filter((one) => one.required === true || one.kind === "here").map((one) => one.name);
    expect(required.filter((key) => !always.includes(key))).toEqual([]);
  });

  test("the example fits the schema", async () => {
    const { input, keys } = await schemaOf(name);
    // A surface fills in what is never spelled: the caller's directory, and the text of a file.
    const here = parameters.filter(({ kind }) => kind === "here").map((one) => [one.name, "/somewhere"] as const);
    const files = parameters
      .filter((one) => one.kind === "document" && Object.hasOwn(example, one.name))
      .map((one) => [one.name, { text: "name: x", ...(example[one.name] as object) }] as const);
    const parsed = input.safeParse({ ...example, ...Object.fromEntries([...here, ...files]) });
    expect(parsed.error?.issues ?? []).toEqual([]);
    expect(Object.keys(example).filter((key) => !(key in keys))).toEqual([]);
  });
});
