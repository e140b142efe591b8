import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ValidationIssue } from "../errors/errors.ts";
import {
  checkText,
  hasHidden,
  lineProblem,
  printable,
  shown,
  storable,
  TEXT_LIMIT,
  textProblem,
  visible,
  visibleJson,
} from "./text.ts";

describe("text from outside", () => {
  test.each(["", "plain", "two\nlines\r\n\tindented", "naïve 🦑 漢字", "e\u0301", "\u200b", "{x}", "'; --", "\u00a0"])(
    "%j is kept as it is",
    (text) => {
      expect(textProblem(text)).toBeUndefined();
    },
  );

  test.each([
    ["a\0b", /NUL/],
    ["\ud800", /surrogate/],
    ["a\udc00", /surrogate/],
    ["\u001b[31m", /control/],
    ["\u0007", /control/],
    ["\u0008", /control/],
    ["\u000b", /control/],
    ["\u000c", /control/],
    ["\u007f", /control/],
  ])("%j is refused, with the reason", (text, reason) => {
    expect(textProblem(text)).toMatch(reason);
  });

  test("the eight-bit control characters are refused too: terminals obey them", () => {
    const codes = Array.from({ length: 0x20 }, (_, i) => 0x80 + i);
    expect(codes.filter((code) => textProblem(String.fromCharCode(code)) === undefined)).toEqual([]);
  });

  test("is limited in length", () => {
    expect(textProblem("x".repeat(TEXT_LIMIT))).toBeUndefined();
    expect(textProblem("x".repeat(TEXT_LIMIT + 1))).toContain(String(TEXT_LIMIT));
    expect(textProblem("xxxx", 3)).toContain("3");
    expect(textProblem("x".repeat(1_000_000))).toBeDefined();
  });

  test("what passes survives being written as UTF-8 and read again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 50 }), (text) => {
        if (textProblem(text) !== undefined) return;
        expect(Buffer.from(text, "utf8").toString("utf8")).toBe(text);
        expect(JSON.parse(JSON.stringify(text))).toBe(text);
      }),
    );
  });

  test("checkText collects the problem under its path", () => {
    const issues: ValidationIssue[] = [];
    expect(checkText("fine", "description", issues)).toBe(true);
    expect(checkText("a\0b", "description", issues)).toBe(false);
    expect(checkText("long", "title", issues, 3)).toBe(false);
    expect(issues.map(({ path }) => path)).toEqual(["description", "title"]);
    expect(issues[0]?.message).toContain("NUL");
  });
});

describe("hidden characters", () => {
  test.each([
    ["a\u001b[2J\u0007\b\u007f", "a<U+001B>[2J<U+0007><U+0008><U+007F>"],
    ["\u0085\u009b", "<U+0085><U+009B>"],
    ["\u202ea\u202c \u2066b\u2069 \u200e\u061c", "<U+202E>a<U+202C> <U+2066>b<U+2069> <U+200E><U+061C>"],
    [
      "\u200b\ufeff\u2060\u00ad\u034f\u115f\u180e\u3164\uffa0",
      "<U+200B><U+FEFF><U+2060><U+00AD><U+034F><U+115F><U+180E><U+3164><U+FFA0>",
    ],
    ["\u{e0041}\u{e0100}", "<U+E0041><U+E0100>"],
    ["\u2028\u2029\ufff9", "<U+2028><U+2029><U+FFF9>"],
    ["\ud83d x\ude00", "<U+D83D> x<U+DE00>"],
    ["one\r\ntwo\rthree\r\r\n", "one\ntwo<U+000D>three<U+000D>\n"],
    ["a\u200db a\u200cb 1\ufe0f", "a<U+200D>b a<U+200C>b 1<U+FE0F>"],
    ["❤\ufe0f\ufe0f 🚀\u200d", "❤\ufe0f<U+FE0F> 🚀<U+200D>"],
  ])("%j is seen", (text, seen) => {
    expect(visible(text)).toBe(seen);
    expect(visible(seen)).toBe(seen);
    expect(hasHidden(text)).toBe(true);
    expect(JSON.parse(visibleJson(JSON.stringify(text)))).toBe(text);
  });

  test.each([
    "tab\tand\nline",
    "naïve 漢字 العربية עברית",
    "👩\u200d💻 👩🏽\u200d💻 🏳\ufe0f\u200d🌈 ❤\ufe0f 1\ufe0f\u20e3",
    "\u00a0",
    "\u0600",
    "<U+001B>",
  ])("%j stays as it is", (text) => {
    expect(visible(text)).toBe(text);
    expect(hasHidden(text)).toBe(false);
  });

  test("are refused in names and texts of one line, and no others", () => {
    expect(lineProblem("a\u202eb")).toBe("contains an invisible character, <U+202E>");
    expect(lineProblem("a\u0007")).toContain("control");
    expect(lineProblem("xxxx", 3)).toContain("3");
    for (const text of ["ann", "two\r\nlines\n", "👩\u200d💻", "日本"]) expect(lineProblem(text)).toBeUndefined();
    expect(lineProblem("a\rb")).toContain("<U+000D>");
  });
});

describe("shown", () => {
  test("quotes, escapes and cuts", () => {
    expect(shown("plain")).toBe('"plain"');
    expect(shown('say "hi"\n')).toBe('"say \\"hi\\"\\n"');
    expect(shown("\u001b[2J")).toBe('"\\u001b[2J"');
    expect(shown("x".repeat(100))).toBe(`"${"x".repeat(60)}…"`);
    expect(shown("abcdef", 3)).toBe('"abc…"');
    expect(shown("\ud800")).toBe('"\ufffd"');
  });

  test("an emoji cut in half does not become half a surrogate pair", () => {
    expect(shown("🦑".repeat(40), 3).isWellFormed()).toBe(true);
  });

  test.each([
    [42, '"42"'],
    [undefined, '"undefined"'],
    [null, '"null"'],
    [true, '"true"'],
    [Symbol("s"), '"Symbol(s)"'],
  ])("takes %s, which is not a string", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test("takes objects that cannot be turned into text", () => {
    for (const value of [
      Object.create(null),
      { toString: 1, valueOf: 1 },
      JSON.parse('{"toString":null,"valueOf":null}'),
    ]) {
      expect(shown(value)).toEqual(expect.any(String));
    }
  });

  test("never lets a control character through to the terminal", () => {
    // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
    const control = /[\u0000-\u001f\u007f-\u009f]/u;
    const codes = Array.from({ length: 0xa0 }, (_, code) => code);
    expect(codes.filter((code) => control.test(shown(String.fromCharCode(code))))).toEqual([]);
  });

  test("is short and valid Unicode for any input", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const result = shown(text);
        expect(result.isWellFormed()).toBe(true);
        expect(result.length).toBeLessThanOrEqual(2 + 6 * 61);
      }),
    );
  });
});

test("what a program printed can be stored and shown once it is made printable, and what could be stays", () => {
  expect(printable("\u001b[31mred\u001b[0m\0\u0007\ttab\r\n\ud800")).toBe("red\ttab\r\n\ufffd");
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (output) => {
      expect(textProblem(printable(output))).toBeUndefined();
      if (textProblem(output) === undefined) expect(printable(output)).toBe(output);
    }),
  );
});

describe("storable", () => {
  test("passes the gate for any output of a program, and keeps text that would have passed anyway", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.integer({ min: 1, max: 200 }), (text, limit) => {
        const stored = storable(text, limit);
        expect(textProblem(stored, limit)).toBeUndefined();
        if (textProblem(text, limit) === undefined) expect(stored).toBe(text);
      }),
    );
    expect(storable("a\u001b[31mred\0\nb\tc", 100)).toBe("ared\nb\tc");
    expect(storable("x".repeat(TEXT_LIMIT + 1))).toHaveLength(TEXT_LIMIT);
  });
});
