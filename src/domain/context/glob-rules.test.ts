import { describe, expect, test } from "vitest";
import { globMatcher } from "../../code-index/model/glob-matcher.ts";
import { globProblem, rootedGlobs } from "./glob-rules.ts";

describe("matching as the index does", () => {
  test.each([
    // Without a slash: at any depth, and a directory with all that is in it.
    ["*.min.js", ["a.min.js", "dist/a.min.js"], ["a.js", "a.min.js.map"]],
    ["node_modules", ["node_modules/a/b.js", "x/node_modules/y"], ["my_node_modules/a", "node_modules.txt"]],
    [".env", [".env", "deep/.env"], ["env", ".env.example"]],
    // With one: from the top.
    ["src/*.ts", ["src/a.ts"], ["src/deep/a.ts", "x/src/a.ts"]],
    ["/build", ["build/x", "build"], ["src/build/x"]],
    ["docs/", ["docs/a.md", "x/docs/y"], ["docs.md", "docs"]],
    ["src/**/*.test.ts", ["src/a.test.ts", "src/x/y/a.test.ts"], ["a.test.ts"]],
    ["secrets/**", ["secrets/.env", "secrets/a/b"], ["x/secrets/a"]],
    ["**", ["a", ".github/workflows/x.yml"], []],
    ["file?.[ch]", ["file1.c", "d/file2.h"], ["file.c", "file12.c", "file1.x"]],
    ["{src,lib}/{a,b{1,2}}.ts", ["src/a.ts", "lib/b2.ts"], ["lib/b.ts", "src/c.ts"]],
  ])("%s matches %j and not %j", (pattern, yes, no) => {
    expect(globProblem(pattern)).toBeUndefined();
    const matches = globMatcher(rootedGlobs([pattern]));
    expect(yes.filter((path) => !matches(path))).toEqual([]);
    expect(no.filter(matches)).toEqual([]);
  });
});

describe("what is wrong with a pattern", () => {
  test.each([
    ["", "names nothing"],
    ["/", "names nothing"],
    ["../x", '".."'],
    ["./x", '"."'],
    ["a\\b", "backslash"],
    ["!a", "opposite"],
    ["a\0", "NUL"],
    ["{a,b", "not closed"],
    ["a,b}", "never opened"],
    ["{a}", "without a comma"],
    ["{1..1000000}", "without a comma"],
    ["{a,b}".repeat(20), "more than 64"],
    ["x".repeat(501), "longer than 500"],
  ])("%j: %s", (pattern, problem) => expect(globProblem(pattern)).toContain(problem));
});
