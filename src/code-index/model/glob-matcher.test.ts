import * as fc from "fast-check";
import { matchesGlob } from "node:path";
import { describe, expect, test } from "vitest";
import { globMatcher } from "./glob-matcher.ts";

describe("globs", () => {
  test.each([
    ["src/**", "src/a/b.ts", true],
    ["src/**", "source/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "a/b/c.ts", true],
    ["*.ts", "a/b.ts", false],
    ["**/*.pem", ".ssh/key.pem", true],
    ["**/*.pem", "a/.key.pem", true],
    ["**", ".env", true],
    ["*", ".env", true],
    ["{src,test}/**/*.{ts,tsx}", "test/a/b.tsx", true],
    ["{src,test}/**/*.{ts,tsx}", "test/a/b.js", false],
    ["[!a]*.ts", "b.ts", true],
    ["[!a]*.ts", "a.ts", false],
    ["[!a]b", "/b", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["a.b", "axb", false],
    ["a+(b)", "a+(b)", true],
    ["\\*.ts", "*.ts", true],
    ["\\*.ts", "a.ts", false],
    ["{a", "{a", true],
    ["a}", "a}", true],
    ["{a,{b}", "a", false],
    ["[a", "[a", true],
    ["ü*/😀?.ts", "über/😀é.ts", true],
    ["a\nb*", "a\nbc", true],
    ["", "a", false],
  ])("%j matches %j: %j", (pattern, path, expected) => {
    expect(globMatcher([pattern])(path)).toBe(expected);
  });

  test("agree with Node for all names that do not begin with a dot", () => {
    const piece = fc.constantFrom("a", "b", "ab", "*", "?", "a*", "*b", "**", "{a,b}", "[ab]", "[!a]", "{a*,b?}");
    const pattern = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("/"));
    const path = fc.array(fc.constantFrom("a", "b", "ab", "ba", "aab"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pattern, path, (glob, parts) => {
        const text = parts.join("/");
        expect(globMatcher([glob])(text)).toBe(matchesGlob(text, glob));
      }),
      { numRuns: 5_000 },
    );
  });

  test("never throw, and end soon, for any pattern", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (pattern, path) => {
        expect(typeof globMatcher([pattern])(path)).toBe("boolean");
      }),
    );
    const started = performance.now();
    expect(globMatcher(["**/".repeat(50) + "x"])("a/".repeat(500))).toBe(false);
    expect(globMatcher(["*a".repeat(30)])("a".repeat(60) + "b")).toBe(false);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
