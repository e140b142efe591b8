import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import { ValidationError } from "../errors/errors.ts";
import { nameKey, nameParts, parseOwnName, parseQualifiedName } from "./qualified-name.ts";

describe("the documented forms", () => {
  test.each([
    ["fix", "local/fix", { server: undefined, namespace: "local", name: "fix" }],
    ["team/fix", "team/fix", { server: undefined, namespace: "team", name: "fix" }],
    ["prod:team/fix", "prod:team/fix", { server: "prod", namespace: "team", name: "fix" }],
    ["Fix-It_2", "local/Fix-It_2", { server: undefined, namespace: "local", name: "Fix-It_2" }],
    ["local/fix", "local/fix", { server: undefined, namespace: "local", name: "fix" }],
    ["a", "local/a", { server: undefined, namespace: "local", name: "a" }],
  ])("%s is %s", (text, full, parts) => {
    const name = parseQualifiedName(text);
    expect(name).toBe(full);
    expect(nameParts(name)).toEqual(parts);
    expect(parseQualifiedName(name)).toBe(name);
  });

  test("any parts that follow the rule make a name that comes back as it was", () => {
    const part = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/);
    fc.assert(
      fc.property(fc.option(part, { nil: undefined }), part, part, (server, namespace, name) => {
        const text = `${server === undefined ? "" : `${server}:`}${namespace}/${name}`;
        expect(parseQualifiedName(text)).toBe(text);
        expect(nameParts(parseQualifiedName(text))).toEqual({ server, namespace, name });
        expect(nameKey(parseQualifiedName(text))).toBe(text.toLowerCase());
      }),
    );
  });

  test("case is kept, and makes no difference to which name it is", () => {
    const written = parseQualifiedName("Team/Fix");
    expect(written).toBe("Team/Fix");
    expect(nameKey(written)).toBe(nameKey(parseQualifiedName("tEAM/fIX")));
    expect(nameKey(parseQualifiedName("FIX"))).toBe(nameKey(parseQualifiedName("local/fix")));
  });

  test.each(LOADED_WORDS)("%s is a name like any other", (word) => {
    expect(nameParts(parseOwnName(`${word}/${word}`))).toEqual({ server: undefined, namespace: word, name: word });
  });
});

describe("refused, naming the bad part", () => {
  test.each([
    ["", /its name is empty/],
    ["team/", /its name is empty/],
    ["/fix", /its namespace is empty/],
    [":team/fix", /its server is empty/],
    ["prod:fix", /a server needs a namespace/],
    ["1fix", /its name "1fix"/],
    ["te am/fix", /its namespace "te am"/],
    ["9prod:team/fix", /its server "9prod"/],
    ["a/b/c", /its name "b\/c"/],
    ["a:b:c/d", /its namespace "b:c"/],
    ["-fix", /its name "-fix"/],
    ["_fix", /its name "_fix"/],
    ["fix.it", /its name "fix\.it"/],
    ["fix\n", /its name "fix\\n"/],
    ["x".repeat(101), /its name is longer than 100/],
    [`${"x".repeat(101)}/a`, /its namespace is longer than 100/],
    [`${"x".repeat(101)}:a/a`, /its server is longer than 100/],
  ])("%j", (text, message) => {
    const error = refusalError(() => parseQualifiedName(text, "action"));
    expect(error.message).toMatch(message);
    expect(error.issues).toEqual([{ path: "action", message: error.message }]);
  });

  test("100 characters are still a part", () => {
    expect(parseQualifiedName("x".repeat(100))).toBe(`local/${"x".repeat(100)}`);
  });
});

describe("namespaces that no user may have", () => {
  test.each(["system", "internal", "admin", "root", "SYSTEM", "Root"])("%s is reserved", (namespace) => {
    expect(refusalError(() => parseOwnName(`${namespace}/fix`)).message).toContain("is reserved");
    expect(refusalError(() => parseOwnName(`prod:${namespace}/fix`)).message).toContain("is reserved");
    expect(parseQualifiedName(`${namespace}/fix`)).toBe(`${namespace}/fix`);
  });

  test.each([
    "openai",
    "anthropic",
    "google",
    "gemini",
    "deepseek",
    "mistral",
    "perplexity",
    "qwen",
    "amazon",
    "OpenAI",
  ])("%s belongs to a model provider", (namespace) => {
    expect(refusalError(() => parseOwnName(`${namespace}/fix`)).message).toContain("belongs to a model provider");
    expect(parseQualifiedName(`${namespace}/gpt-4`)).toBe(`${namespace}/gpt-4`);
  });

  test("the same words are fine as names and as servers", () => {
    expect(parseOwnName("system")).toBe("local/system");
    expect(parseOwnName("openai:team/root")).toBe("openai:team/root");
    expect(parseOwnName("systems/fix")).toBe("systems/fix");
  });
});

describe("hostile strings", () => {
  test("are not a name and not part of one", () => {
    withEveryHostileString((text) => {
      for (const variant of [text, `${text}/fix`, `team/${text}`, `${text}:team/fix`]) {
        const error = refusalError(() => parseOwnName(variant));
        expect(error.message.length).toBeLessThan(1_000);
      }
    });
  });

  test("nothing but a ValidationError ever comes out", () => {
    const hostile = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.string({ maxLength: 40 }));
    fc.assert(
      fc.property(hostile, (text) => {
        try {
          expect(parseQualifiedName(parseOwnName(text))).toBe(parseOwnName(text));
        } catch (error) {
          expect(error).toBeInstanceOf(ValidationError);
        }
      }),
    );
  });
});

function refusalError(parse: () => unknown): ValidationError {
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}
