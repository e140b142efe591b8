import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import {
  ARGUMENT_NAME,
  ARGUMENT_TYPES,
  argumentText,
  coerce,
  resolveArguments,
  wholeMatch,
  type ArgumentSpec,
  type ArgumentType,
  type ArgumentValue,
} from "./arguments.ts";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";

function spec(type: ArgumentType, more: Partial<ArgumentSpec> = {}): ArgumentSpec {
  return {
    name: "value",
    type,
    required: false,
    description: "",
    default: undefined,
    min: undefined,
    max: undefined,
    pattern: undefined,
    ...more,
  };
}

describe("coercion", () => {
  const accepted: [ArgumentType, unknown, ArgumentValue][] = [
    ["string", "", ""],
    ["string", "text", "text"],
    ["string", "42", "42"],
    ["integer", 42, 42],
    ["integer", "42", 42],
    ["integer", "+42", 42],
    ["integer", "-42", -42],
    ["integer", "007", 7],
    ["integer", String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
    ["float", 1.5, 1.5],
    ["float", "1.5", 1.5],
    ["float", "-.5", -0.5],
    ["float", "1.", 1],
    ["float", "1e3", 1_000],
    ["float", "1E-3", 0.001],
    ["float", "42", 42],
    ["boolean", true, true],
    ["boolean", false, false],
    ["boolean", "true", true],
    ["boolean", "YES", true],
    ["boolean", "on", true],
    ["boolean", "1", true],
    ["boolean", "False", false],
    ["boolean", "no", false],
    ["boolean", "OFF", false],
    ["boolean", "0", false],
    ["list", ["a", "b"], ["a", "b"]],
    ["list", [], []],
    ["list", "", []],
    ["list", "a", ["a"]],
    ["list", "a, b ,c", ["a", "b", "c"]],
    ["list", "a,,b", ["a", "", "b"]],
    ["list", '["a,b", "c"]', ["a,b", "c"]],
    ["list", ' ["a"]', ["a"]],
    ["list", "[]", []],
  ];
  test.each(accepted)("a %s given %j is %j", (type, given, expected) => {
    expect(resolveArguments([spec(type)], { value: given }).get("value")).toEqual(expected);
  });

  const refused: [ArgumentType, unknown][] = [
    ["string", 42],
    ["string", true],
    ["string", null],
    ["string", ["a"]],
    ["string", {}],
    ["integer", "4.2"],
    ["integer", 4.2],
    ["integer", "1e3"],
    ["integer", "0x10"],
    ["integer", ""],
    ["integer", " 42"],
    ["integer", "42\n"],
    ["integer", "4_2"],
    ["integer", "٤٢"],
    ["integer", "9007199254740993"],
    ["integer", Number.NaN],
    ["integer", true],
    ["integer", 42n],
    ["float", "abc"],
    ["float", ""],
    ["float", "."],
    ["float", "1e400"],
    ["float", "Infinity"],
    ["float", "NaN"],
    ["float", Number.POSITIVE_INFINITY],
    ["float", "1,5"],
    ["boolean", "maybe"],
    ["boolean", ""],
    ["boolean", 1],
    ["boolean", null],
    ["list", 42],
    ["list", [1]],
    ["list", ["a", null]],
    ["list", { 0: "a", length: 1 }],
    ["list", "[1, 2]"],
    ["list", '["a"'],
    ["list", '[["a"]]'],
    ["list", "[".repeat(100_000)],
  ];
  test.each(refused.map(([type, given]) => ({ type, given, title: JSON.stringify(textual(given)).slice(0, 30) })))(
    "a $type given $title is refused",
    ({ type, given }) => {
      const error = refusalError([spec(type)], { value: given });
      expect(error.issues).toHaveLength(1);
      expect(error.issues[0]).toMatchObject({
        path: "value",
        message: expect.stringMatching(`must be an? ${type}, not `),
      });
      expect(error.message.length).toBeLessThan(500);
    },
  );

  test("an array with holes is refused like one with the wrong items", () => {
    const holes: unknown[] = ["a"];
    holes[2] = "c";
    expect(refusalError([spec("list")], { value: holes }).issues[0]?.path).toBe("value");
  });

  test("numbers and booleans written out come back as themselves", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), (i, d, b) => {
        const read = (type: ArgumentType, given: unknown): unknown => coerce(spec(type), given, []);
        expect(read("integer", String(i))).toBe(i);
        // Minus zero becomes zero: JSON, in which values are kept, has no other.
        expect(read("float", d)).toBe(d + 0);
        expect(Object.is(Number(read("float", String(d))), Number(String(d)))).toBe(true);
        expect(read("boolean", String(b))).toBe(b);
      }),
    );
  });

  test("a list of words without commas survives being joined and read again", () => {
    const word = fc.stringMatching(/^[a-z0-9_.-]{1,10}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 10 }), (words) => {
        expect(coerce(spec("list"), words.join(","), [])).toEqual(words);
        expect(coerce(spec("list"), JSON.stringify(words), [])).toEqual(words);
      }),
    );
  });
});

describe("bounds", () => {
  test.each([
    ["integer", { min: 1, max: 3 }, 0, "less than the minimum 1"],
    ["integer", { min: 1, max: 3 }, 4, "more than the maximum 3"],
    ["float", { min: 0.5 }, 0.4, "less than the minimum 0.5"],
    ["string", { min: 2 }, "a", "has 1 characters, less than the minimum 2"],
    ["string", { max: 2 }, "abc", "has 3 characters, more than the maximum 2"],
    ["list", { min: 1 }, [], "has 0 items, less than the minimum 1"],
    ["list", { max: 1 }, ["a", "b"], "has 2 items, more than the maximum 1"],
  ] as const)("of a %s: %j refuses %j", (type, bounds, given, message) => {
    expect(refusalError([spec(type, bounds)], { value: given }).message).toContain(message);
  });

  test.each([
    ["integer", { min: 1, max: 3 }, 1],
    ["integer", { min: 1, max: 3 }, 3],
    ["float", { min: -1, max: 0 }, -0.5],
    ["string", { min: 2, max: 2 }, "ab"],
    ["list", { min: 0, max: 2 }, []],
  ] as const)("of a %s: %j takes %j", (type, bounds, given) => {
    expect(resolveArguments([spec(type, bounds)], { value: given }).get("value")).toEqual(given);
  });
});

describe("patterns", () => {
  test("must match the whole text, and every item of a list", () => {
    const pattern = "[a-z]+|\\d";
    expect(resolveArguments([spec("string", { pattern })], { value: "abc" }).get("value")).toBe("abc");
    expect(refusalError([spec("string", { pattern })], { value: "abc1" }).message).toContain(pattern);
    expect(refusalError([spec("string", { pattern })], { value: "abc\n" }).message).toContain(pattern);
    expect(resolveArguments([spec("list", { pattern })], { value: ["a", "1"] }).get("value")).toEqual(["a", "1"]);
    expect(refusalError([spec("list", { pattern })], { value: ["a", "A"] }).message).toContain('"A"');
  });

  test("alternatives are all anchored, and characters are whole ones", () => {
    expect(wholeMatch("a|b").test("ab")).toBe(false);
    expect(wholeMatch(".").test("🦑")).toBe(true);
  });

  test.each(["(", "[", "a{2,1}", "\\", "(?<n>a)(?<n>b)", "*"])("%j is not a regular expression", (pattern) => {
    expect(() => wholeMatch(pattern)).toThrow(SyntaxError);
  });

  test("text that is an expression only between added brackets is not one", () => {
    for (const pattern of ["a)|(?:b", "a)(?:b", ")|("]) expect(() => wholeMatch(pattern)).toThrow(SyntaxError);
  });

  test("one that would take for ever is stopped and named", () => {
    const slow = [spec("string", { pattern: "(a+)+" })];
    expect(() => resolveArguments(slow, { value: `${"a".repeat(60)}!` })).toThrow(
      '"value" cannot be checked: the pattern (a+)+ takes more than 2 s',
    );
    expect(resolveArguments(slow, { value: "aaa" }).get("value")).toBe("aaa");
  });

  test("the first item that does not fit is named", () => {
    const list = [spec("list", { pattern: "[a-c]" })];
    expect(() => resolveArguments(list, { value: ["a", "x", "b", "y"] })).toThrow('is "x", which does not match');
  });
});

describe("all at once", () => {
  const specs = [
    spec("string", { name: "file", required: true }),
    spec("integer", { name: "count", min: 1 }),
    spec("boolean", { name: "dry-run", default: false }),
    spec("string", { name: "label" }),
  ];

  test("every problem is in the one error, in a fixed order", () => {
    const error = refusalError(specs, { fiel: "a.ts", count: "0", "dry-run": "maybe", zebra: 1 });
    expect(error.issues.map(({ path }) => path)).toEqual(["fiel", "zebra", "file", "count", "dry-run"]);
    expect(error.issues[0]).toMatchObject({
      suggestion: "file",
      message: expect.stringContaining("known: file, count"),
    });
    expect(error.issues[1]).not.toHaveProperty("suggestion");
    expect(error.issues[2]?.message).toBe('missing required argument "file"');
    expect(error).toMatchObject({ code: "validation", kept: "Nothing was written.", detail: { issues: error.issues } });
  });

  test("values come in the order of the action, defaults included, optional ones left out", () => {
    expect([...resolveArguments(specs, { count: 2, file: "a" })]).toEqual([
      ["file", "a"],
      ["count", 2],
      ["dry-run", false],
    ]);
    expect([...resolveArguments(specs, { file: "a", label: undefined, "dry-run": undefined })]).toEqual([
      ["file", "a"],
      ["dry-run", false],
    ]);
  });

  test("an action without arguments says that it takes none", () => {
    expect(resolveArguments([], {}).size).toBe(0);
    expect(refusalError([], { x: 1 }).message).toContain("the action takes none");
  });

  test("names are case-sensitive, with a suggestion", () => {
    expect(refusalError(specs, { File: "a" }).issues[0]).toMatchObject({ path: "File", suggestion: "file" });
  });
});

describe("hostile input", () => {
  test("as a name is an unknown argument, and as a value it is kept as it is or refused", () => {
    withEveryHostileString((text) => {
      const given = Object.fromEntries([[text, "x"]]);
      expect(refusalError([spec("string")], given).message.length).toBeLessThan(1_000);
      for (const type of ARGUMENT_TYPES) {
        let values: ReadonlyMap<string, ArgumentValue> | undefined;
        try {
          values = resolveArguments([spec(type)], { value: text });
        } catch (error) {
          expect(error).toBeInstanceOf(ValidationError);
          expect((error as ValidationError).message.length).toBeLessThan(1_000);
        }
        if (type === "string" && values !== undefined) expect(values.get("value")).toBe(text);
        // A million items are no more a value than a million characters are.
        expect(JSON.stringify(values?.get("value") ?? "").length).toBeLessThan(500_000);
      }
    });
  });

  test("a list of half a million items is refused", () => {
    expect(refusalError([spec("list")], { value: "a,".repeat(500_000) }).message.length).toBeLessThan(1_000);
  });

  test.each(LOADED_WORDS)("%s is not found on an object's prototype", (name) => {
    expect(ARGUMENT_NAME.test(name)).toBe(true);
    expect(resolveArguments([spec("string", { name })], {}).size).toBe(0);
    expect(refusalError([spec("string", { name, required: true })], {}).message).toContain("missing");
    expect([...resolveArguments([spec("string", { name })], Object.fromEntries([[name, "x"]]))]).toEqual([[name, "x"]]);
  });

  test("__proto__ as JSON brings it is an unknown argument", () => {
    const given = JSON.parse('{"__proto__": {"value": "sneaked in"}}') as Record<string, unknown>;
    expect(refusalError([spec("string")], given).issues[0]?.path).toBe("__proto__");
  });

  test("only a ValidationError is ever thrown, for any value of any type", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ARGUMENT_TYPES),
        fc.dictionary(fc.string(), fc.anything()),
        fc.anything(),
        (type, rest, value) => {
          try {
            const values = resolveArguments([spec(type)], { ...rest, value });
            expect(JSON.parse(JSON.stringify([...values]))).toEqual(
              [...values].map(([name, v]) => [name, v === 0 ? 0 : v]),
            );
          } catch (error) {
            expect(error).toBeInstanceOf(ValidationError);
          }
        },
      ),
    );
  });
});

test("how a value reads inside a text", () => {
  expect([argumentText("a"), argumentText(1.5), argumentText(true), argumentText(["a", "b"])]).toEqual([
    "a",
    "1.5",
    "true",
    "a, b",
  ]);
});

test("coerce reports the one problem and returns nothing", () => {
  const issues: ValidationIssue[] = [];
  expect(coerce(spec("integer", { name: "count" }), "x", issues)).toBeUndefined();
  expect(issues).toEqual([{ path: "count", message: '"count" must be an integer, not "x"' }]);
});

function refusalError(specs: readonly ArgumentSpec[], given: Readonly<Record<string, unknown>>): ValidationError {
  try {
    resolveArguments(specs, given);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}

function textual(value: unknown): unknown {
  return typeof value === "bigint" || typeof value === "number" ? String(value) : value;
}
