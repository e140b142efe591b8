import { describe, expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import { ValidationError } from "../errors/errors.ts";
import { branchProblem, findResourceType, parseResource, RESOURCE_TYPES, type ResourceInput } from "./resource.ts";

function issuesOf(input: ResourceInput): readonly { path: string; message: string; suggestion?: string }[] {
  try {
    parseResource(input);
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    throw error;
  }
  return [];
}

const checkout = (values: Record<string, string | undefined>): ResourceInput => ({
  type: "git-checkout",
  name: "api",
  arguments: values,
});

describe("a resource", () => {
  test("has a name, a type and what the type wants", () => {
    expect(parseResource(checkout({ path: "/srv/api", branch: "feature/ü-1" }))).toEqual({
      name: "local/api",
      type: "git-checkout",
      description: undefined,
      path: "/srv/api",
      branch: "feature/ü-1",
      sandbox: "git_worktree",
    });
    const directory = { path: "/srv/my data/Ünïcödé 数据", branch: undefined };
    expect(parseResource({ type: "fs-directory", name: "team/Data", description: "d", arguments: directory })).toEqual({
      name: "team/Data",
      type: "fs-directory",
      description: "d",
      path: "/srv/my data/Ünïcödé 数据",
      branch: undefined,
      sandbox: "filesystem_copy",
    });
  });

  test("may have no sandbox, and no sandbox that is another type's", () => {
    expect(parseResource(checkout({ path: "/a", sandbox: "none" })).sandbox).toBe("none");
    expect(issuesOf(checkout({ path: "/a", sandbox: "nonne" }))).toMatchObject([
      { path: "sandbox", suggestion: "none" },
    ]);
    for (const sandbox of ["filesystem_copy", "None", "", "__proto__"])
      expect(issuesOf(checkout({ path: "/a", sandbox }))).toMatchObject([{ path: "sandbox" }]);
  });

  test.each(LOADED_WORDS)("may be called %s, but that is not a type", (word) => {
    expect(parseResource({ ...checkout({ path: "/a" }), name: word }).name).toBe(`local/${word}`);
    expect(issuesOf({ ...checkout({ path: "/a" }), type: word })).toMatchObject([{ path: "type" }]);
    expect(findResourceType(word)).toBeUndefined();
  });

  test("is refused with everything that is wrong at once", () => {
    const input = {
      type: "git-checkuot",
      name: "google/x",
      description: "\u0007",
      arguments: { path: "a", branch: "-b" },
    };
    expect(issuesOf(input).map(({ path }) => path)).toEqual(["name", "description", "type", "path", "branch"]);
    expect(issuesOf(input)[2]).toMatchObject({ suggestion: "git-checkout" });
    expect(() => parseResource(input)).toThrow(/^The resource is not valid: name: .*; description: .*; type: /);
  });

  test("needs what its type requires and takes nothing of another type", () => {
    expect(issuesOf(checkout({}))).toMatchObject([{ path: "path", message: expect.stringContaining("needs it") }]);
    expect(issuesOf({ type: "fs-directory", name: "d", arguments: { path: "/d", branch: "main" } })).toEqual([
      { path: "branch", message: "fs-directory has none, only git-checkout" },
    ]);
    expect(issuesOf(checkout({ path: "/d", brnch: "main" }))).toMatchObject([{ path: "brnch", suggestion: "branch" }]);
    expect(issuesOf(checkout({ path: "/d", toString: "x" }))).toMatchObject([{ path: "toString" }]);
  });

  test("says where to read about its type", () => {
    const next = (input: ResourceInput): unknown => {
      try {
        return parseResource(input);
      } catch (error) {
        return (error as ValidationError).next;
      }
    };
    expect(next(checkout({}))).toEqual([{ operation: "resource.type.show", arguments: { type: "git-checkout" } }]);
    expect(next({ ...checkout({}), type: "x" })).toEqual([{ operation: "resource.type.list" }]);
  });

  test.each(["", "api", "./api", "~/api", "/a\nb", "/a\tb", "/a\0b", "/\ud800", "/\u001b[2J", `/${"x".repeat(4096)}`])(
    "is at no path like number %#",
    (path) => {
      expect(issuesOf(checkout({ path }))).toMatchObject([{ path: "path" }]);
    },
  );

  test("takes no hostile string as name, type or branch without saying so", () => {
    withEveryHostileString((text) => {
      expect(issuesOf({ ...checkout({ path: "/a" }), name: text })).toHaveLength(1);
      expect(issuesOf({ ...checkout({ path: "/a" }), type: text })).toHaveLength(1);
    });
  });
});

describe("a branch", () => {
  test.each(["main", "feature/x", "ünï", "a.b", "v1.0", "a@b", "HEAD2", "x".repeat(250), "refs/heads/x"])(
    "may be called %s",
    (branch) => expect(branchProblem(branch)).toBeUndefined(),
  );

  test.each([
    "",
    "-d",
    "--upload-pack=x",
    "a b",
    "a\u00a0b",
    "a\nb",
    "a..b",
    "a@{1}",
    "@",
    "HEAD",
    "a.",
    "a.lock",
    "a.lock/b",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "a\0b",
    "\u007f",
    "x".repeat(251),
  ])("may not be called number %#", (branch) => expect(branchProblem(branch)).toBeTypeOf("string"));
});

test("the table of types declares each argument once and a path always", () => {
  for (const type of RESOURCE_TYPES) {
    const names: string[] = type.arguments.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(type.arguments[0]).toMatchObject({ name: "path", type: "path", required: true });
    expect(findResourceType(type.name)).toBe(type);
  }
});
