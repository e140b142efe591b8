import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ValidationError } from "../errors/errors.ts";
import { evaluate, holds, parseExpression, type Expression } from "./expression.ts";
import type { JsonObject, JsonValue } from "./json.ts";

const STATE: JsonObject = {
  verdict: "pass",
  attempts: 3,
  ratio: 0.5,
  done: false,
  nothing: null,
  "the-review": { findings: ["slow", "unsafe"], by: { name: "Ada" } },
  list: [[1, 2], { a: 1, b: [null] }, "x"],
  empty: { text: "", list: [], object: {} },
  flag: "👍🏽",
};

const value = (text: string): JsonValue => evaluate(parseExpression(text), STATE);

describe("comes to what it says:", () => {
  test.each<[string, JsonValue]>([
    ["verdict", "pass"],
    ["attempts", 3],
    ["-2.5e3", -2500],
    ["-0 == 0", true],
    ["'it\\'s \\\"so\\\"\\n'", `it's "so"\n`],
    ["true", true],
    ["None", null],
    ["the-review.by.name", "Ada"],
    ["the-review.findings[1]", "unsafe"],
    ["list[0][1]", 2],
    ["list[1].b[0]", null],
    ["verdict == 'pass'", true],
    ["verdict != 'pass'", false],
    ["attempts == '3'", false],
    ["list[1] == list[1]", true],
    ["list[0] == list[1]", false],
    ["attempts < 4 and attempts <= 3 and attempts > 2 and attempts >= 3", true],
    ["'b' > 'a'", true],
    ["'slow' in the-review.findings", true],
    ["'fast' not in the-review.findings", true],
    ["'as' in verdict", true],
    ["'by' in the-review", true],
    ["'constructor' in the-review", false],
    ["done or attempts == 3", true],
    ["done || attempts == 3 && !done", true],
    ["not done and not nothing", true],
    ["not not verdict", true],
    ["not (verdict == 'pass' or done)", false],
    ["verdict == 'pass' or done and nothing", true],
    ["(verdict == 'pass' or done) and nothing", false],
    ["length(the-review.findings)", 2],
    ["length(the-review) == 2 and length(verdict) == 4", true],
    ["length(flag)", 2],
    ["length(nowhere)", 0],
    ["length(attempts)", null],
    ["empty.text or empty.list or empty.object or 0", false],
  ])("%s", (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  test.each(["nowhere", "nowhere.a[0].b", "verdict.length", "list.length", "list[9]", "verdict[0]", "toString"])(
    "%s is not there, so it is null",
    (text) => expect(value(text)).toBeNull(),
  );

  test.each(["nothing < 1", "nothing >= 0", "'1' < 2", "done < true", "list > 1", "1 in 1", "1 in verdict"])(
    "%s compares what has no order, so it does not hold",
    (text) => expect(value(text)).toBe(false),
  );
});

describe("refused with its place is", () => {
  test.each([
    ["", "it ends where a key, a number or a text is expected"],
    ["in == 1", '"in" stands at character 1 where a key, a number or a text is expected'],
    ["a ==", "it ends where a key, a number or a text is expected"],
    ["a = 1", 'cannot be read from character 3 on: "= 1"'],
    ["a b", '"b" stands at character 3 where and, or, or a comparison is expected'],
    ["1 < 2 < 3", '"<" stands at character 7 where "and", because a comparison has two sides is expected'],
    ["(a", 'it ends where ")" is expected'],
    ["a)", '")" stands at character 2 where and, or, or a comparison is expected'],
    ["a.", "it ends where the name of a key is expected"],
    ["a[-1]", '"-1" stands at character 3 where the number of an item, from 0 is expected'],
    ["a['b']", "\"'b'\" stands at character 3 where the number of an item, from 0 is expected"],
    ["exec(1)", 'there is no function "exec"; the only one is length(…)'],
    ["a + 1", 'cannot be read from character 3 on: "+ 1"'],
    ["'open", 'cannot be read from character 1 on: "\'open"'],
    ["'\\x41'", "\\x in the text at character 1 is unknown"],
    ["1e999", "1e999 is too large for a number"],
    ["12px", 'cannot be read from character 1 on: "12px"'],
    [" ".repeat(2001), "is longer than 2000 characters"],
    [`${"(".repeat(33)}a${")".repeat(33)}`, "is nested deeper than 32 levels"],
  ])("%s", (text, message) => {
    let refused: unknown;
    try {
      parseExpression(text, "nodes.0.check");
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(ValidationError);
    expect((refused as ValidationError).issues).toEqual([{ path: "nodes.0.check", message }]);
  });
});

const RESERVED = ["and", "or", "not", "in", "true", "True", "false", "False", "null", "None"];
const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,5}$/).filter((word) => !RESERVED.includes(word));
const scalar: fc.Arbitrary<Expression> = fc.oneof(
  fc
    .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string({ maxLength: 6 }), fc.boolean())
    .map((one): Expression => ({ kind: "value", value: typeof one === "number" ? one + 0 : one })),
  fc.constant<Expression>({ kind: "value", value: null }),
  fc
    .tuple(key, fc.array(fc.oneof(key, fc.nat(99)), { maxLength: 2 }))
    .map(([first, rest]): Expression => ({ kind: "key", path: [first, ...rest] })),
);
const { any } = fc.letrec<{ any: Expression }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    tie("any").map((of): Expression => ({ kind: "length", of })),
    tie("any").map((of): Expression => ({ kind: "not", of })),
    fc
      .tuple(fc.constantFrom("and" as const, "or" as const), fc.array(tie("any"), { minLength: 2, maxLength: 3 }))
      .map(([kind, parts]): Expression => ({ kind, parts })),
    fc
      .tuple(fc.constantFrom("==", "!=", "<", "<=", ">", ">=", "in"), tie("any"), tie("any"))
      .map(([operator, left, right]) => ({ kind: "compare" as const, operator, left, right })),
  ),
}));

/** Every part in parentheses, so that only the parser's own structure can differ. */
function written(expression: Expression): string {
  switch (expression.kind) {
    case "value":
      return typeof expression.value === "string" ? quoted(expression.value) : JSON.stringify(expression.value);
    case "key":
      return expression.path
        .map((step, at) => (typeof step === "number" ? `[${step}]` : `${at ? "." : ""}${step}`))
        .join("");
    case "length":
      return `length(${written(expression.of)})`;
    case "not":
      return `not (${written(expression.of)})`;
    case "compare":
      return `(${written(expression.left)}) ${expression.operator} (${written(expression.right)})`;
    case "and":
    case "or":
      return expression.parts.map((part) => `(${written(part)})`).join(` ${expression.kind} `);
  }
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

test("what is written out and read again is the same expression", () => {
  fc.assert(
    fc.property(any, (expression) => {
      const text = written(expression);
      fc.pre(text.length <= 2000);
      expect(parseExpression(text)).toEqual(expression);
    }),
  );
});

test("every expression comes to something in every state, and the state stays as it is", () => {
  fc.assert(
    fc.property(any, fc.dictionary(key, fc.jsonValue()), (expression, state) => {
      const before = JSON.stringify(state);
      expect(evaluate(expression, state as JsonObject)).toBeDefined();
      expect(typeof holds(expression, state as JsonObject)).toBe("boolean");
      expect(JSON.stringify(state)).toBe(before);
    }),
  );
});

test("equality is that of JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const state = JSON.parse(JSON.stringify({ left, right, again: left })) as JsonObject;
      const equal = (text: string): boolean => holds(parseExpression(text), state);
      expect(equal("left == again")).toBe(true);
      expect(equal("left == right")).toBe(equal("right == left"));
      expect(equal("left == right")).toBe(!equal("left != right"));
    }),
  );
});

test("any text is read or refused, never anything else", () => {
  const pieces = fc.constantFrom(
    "a",
    "(",
    ")",
    "and",
    "!",
    "==",
    "<",
    "in",
    "not",
    ".",
    "[",
    "]",
    "0",
    "'",
    '"',
    "\\",
    " ",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((words) => words.join("")),
      ),
      (text) => {
        try {
          holds(parseExpression(text), STATE);
        } catch (error) {
          expect(error).toBeInstanceOf(ValidationError);
        }
      },
    ),
  );
});
