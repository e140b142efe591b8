import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ValidationError } from "../errors/errors.ts";
import { checkTemplate, placeholders, renderTemplate, shellProblems } from "./template.ts";

const render = (template: string, values: Record<string, string> = {}): string =>
  renderTemplate(template, new Map(Object.entries(values)), "description");

describe("rendering", () => {
  test.each([
    ["Fix {area} in {file}", { area: "parser", file: "a.ts" }, "Fix parser in a.ts"],
    ["{a}{a}{b}", { a: "1", b: "2" }, "112"],
    ["no placeholder", {}, "no placeholder"],
    ["", {}, ""],
    ["{optional}", {}, ""],
    ["{{area}}", { area: "x" }, "{area}"],
    ["{{{area}}}", { area: "x" }, "{{area}}"],
    ["{{area} }", { area: "x" }, "{x }"],
    ["{area", { area: "x" }, "{area"],
    ["{ area }", { area: "x" }, "{ area }"],
    ["{}", {}, "{}"],
    ["{1}", {}, "{1}"],
    ["{a.b} {a[0]} {a()} {a|upper}", { a: "x" }, "{a.b} {a[0]} {a()} {a|upper}"],
    ["function() { return 1; }", {}, "function() { return 1; }"],
    ["{a-b} {a_b}", { "a-b": "1", a_b: "2" }, "1 2"],
    ["{A}", { a: "x" }, ""],
  ])("%j with %j is %j", (template, values, expected) => {
    expect(render(template, values)).toBe(expected);
  });

  test("is a single pass: what a value says is never looked at again", () => {
    expect(render("{a} {b}", { a: "{b}", b: "{a}" })).toBe("{b} {a}");
    expect(render("{a}b}", { a: "{" })).toBe("{b}");
    expect(render("{a}", { a: "{{b}}" })).toBe("{{b}}");
    expect(render("{a}", { a: "$& $1 $` $'" })).toBe("$& $1 $` $'");
  });

  test("knows only its own arguments, also for words that JavaScript knows", () => {
    expect(render("{constructor}{toString}{hasOwnProperty}")).toBe("");
  });

  test("of text without braces is that text, and every value appears unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (text, value) => {
        const plain = text.replaceAll(/[{}]/g, "");
        expect(render(plain)).toBe(plain);
        expect(render(`${plain}{v}${plain}`, { v: value })).toBe(`${plain}${value}${plain}`);
      }),
    );
  });

  test("is limited", () => {
    const limit = 256 * 1024;
    expect(render("{a}", { a: "x".repeat(limit) })).toHaveLength(limit);
    const error = refusalError(() => render("{a}!", { a: "x".repeat(limit) }));
    expect(error.issues).toEqual([{ path: "description", message: expect.stringContaining(String(limit)) }]);
  });

  test("is limited before it takes memory: many placeholders of a long value are an error like any other", () => {
    const error = refusalError(() => render("{a}".repeat(20_000), { a: "x".repeat(64 * 1024) }));
    expect(error.issues[0]?.path).toBe("description");
  });
});

describe("checking", () => {
  test("finds each placeholder that names no argument, with a suggestion when one is near", () => {
    const issues = checkTemplate("{file} {fiel} {zebra} {{literal}} { none }", "description", ["file"]);
    expect(issues.map(({ path, suggestion }) => [path, suggestion])).toEqual([
      ["description", "file"],
      ["description", undefined],
    ]);
    expect(issues[0]?.message).toContain("{fiel}");
    expect(issues[0]?.message).toContain("{{fiel}}");
  });

  test("a template without problems has none", () => {
    expect(checkTemplate("{a} {{b}}", "description", ["a"])).toEqual([]);
  });
});

function refusalError(work: () => unknown): ValidationError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}

describe("arguments in commands", () => {
  test.each(["it's", "$(echo run)", "`echo run`", "a\nb", "-rf *", "\\", '"', "", "'; echo run; '", "ü ★"])(
    "%j is one word for a shell",
    (value) => {
      const command = renderTemplate("printf '%s|' {x|sh} end", new Map([["x", value]]), "command");
      expect(execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" })).toBe(`${value}|end|`);
    },
  );

  test("{{x|sh}} is the literal text, and the name is known", () => {
    expect(renderTemplate("{{x|sh}} {x|upper}", new Map([["x", "v"]]), "t")).toBe("{x|sh} {x|upper}");
    expect(placeholders("{a|sh} {b} {{c|sh}}")).toEqual(["a", "b"]);
    expect(checkTemplate("{a|sh}", "t", ["b"])).toHaveLength(1);
  });

  test.each([
    ["echo {x}", "unquoted"],
    ["echo '{x}'", "unquoted"],
    ['echo "{x|sh}"', "inside quotes"],
    ["echo 'a {x|sh}'", "inside quotes"],
    ['echo \\\' "a\\"{x|sh}"', "inside quotes"],
  ])("%s is warned about", (command, problem) => {
    expect(shellProblems(command)).toEqual([expect.stringContaining(problem)]);
  });

  test.each(["echo {x|sh}", "echo 'a'{x|sh}\"b\"", "echo \\' {x|sh}", "echo {{x}}", "awk '{print $1}'"])(
    "%s is not",
    (command) => expect(shellProblems(command)).toEqual([]),
  );
});
