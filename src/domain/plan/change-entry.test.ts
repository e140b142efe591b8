import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import {
  CHANGE_OPERATIONS,
  parseChangeEntry,
  relativePathProblem,
  type HashedEntryInput,
  type ChangeOperation,
} from "./change-entry.ts";
import { ValidationError } from "../errors/errors.ts";

const BEFORE = { hash: "a".repeat(64), mode: 0o100644 };
const AFTER = { hash: "b".repeat(64), mode: 0o100755 };

const IMAGES: Record<ChangeOperation, [before: boolean, after: boolean]> = {
  create: [false, true],
  modify: [true, true],
  delete: [true, false],
  rename: [true, true],
  mode: [true, true],
};

describe("operations and images", () => {
  const combinations = CHANGE_OPERATIONS.flatMap((operation) =>
    [false, true].flatMap((before) =>
      [false, true].flatMap((after) => [false, true].map((from) => ({ operation, before, after, from }))),
    ),
  );

  test.each(combinations)("$operation with before $before, after $after, fromPath $from", (one) => {
    const input: HashedEntryInput = {
      resource: "api",
      path: "src/new.ts",
      operation: one.operation,
      ...(one.before ? { before: BEFORE } : {}),
      ...(one.after ? { after: AFTER } : {}),
      ...(one.from ? { fromPath: "src/old.ts" } : {}),
    };
    const [before, after] = IMAGES[one.operation];
    const wrong = [
      ...(one.from === (one.operation === "rename") ? [] : ["fromPath"]),
      ...(one.before === before ? [] : ["before"]),
      ...(one.after === after ? [] : ["after"]),
    ];
    if (wrong.length > 0) {
      expect(paths(input)).toEqual(wrong);
    } else {
      expect(parseChangeEntry(input)).toEqual({
        resource: "api",
        path: "src/new.ts",
        fromPath: input.fromPath,
        operation: one.operation,
        before: input.before,
        after: input.after,
        toolInvocation: undefined,
        decision: undefined,
      });
    }
  });

  test("the tool call and the decision it is credited to are kept", () => {
    const entry = parseChangeEntry({ ...create("a"), toolInvocation: "call-1", decision: "01ABC" });
    expect([entry.toolInvocation, entry.decision]).toEqual(["call-1", "01ABC"]);
  });

  test.each([0o100644, 0o100755, 0o120000])("mode %o is one that git knows", (mode) => {
    expect(parseChangeEntry({ ...create("a"), after: { ...AFTER, mode } }).after?.mode).toBe(mode);
  });

  test.each([0, 0o644, 0o755, 0o040000, 0o160000, 0o100777, -1, 1.5, Number.NaN])("mode %d is none", (mode) => {
    expect(paths({ ...create("a"), after: { ...AFTER, mode } })).toEqual(["after"]);
  });

  test.each(["", "a".repeat(63), "a".repeat(65), "A".repeat(64), "g".repeat(64), `${"a".repeat(64)}\n`, "sha256:"])(
    "%j is not a hash",
    (hash) => {
      expect(paths({ ...create("a"), after: { ...AFTER, hash } })).toEqual(["after"]);
    },
  );

  test("an unknown operation", () => {
    for (const operation of ["chmod", "", "__proto__", "constructor", "CREATE"]) {
      expect(paths({ ...create("a"), operation: operation as ChangeOperation })).toEqual(["operation"]);
    }
  });

  test("every problem is in the one error", () => {
    const error = refusalError({
      resource: "1",
      path: "/etc/passwd",
      operation: "modify",
      fromPath: "x",
      toolInvocation: "\0",
      decision: "x".repeat(201),
    });
    expect(error.issues.map(({ path }) => path)).toEqual([
      "resource",
      "path",
      "fromPath",
      "before",
      "after",
      "toolInvocation",
      "decision",
    ]);
  });
});

describe("paths", () => {
  test.each([
    "README.md",
    "src/a/b/c.ts",
    ".gitignore",
    ".github/workflows/ci.yml",
    "git",
    "a.git/x",
    ".git-blame-ignore-revs",
    "..a",
    "a..",
    "...",
    "-rf",
    "a b/c d",
    "naïve/漢字/🦑.md",
    "e\u0301",
    "constructor",
    "__proto__",
    "ab:c",
  ])("%j lies below a resource's root", (path) => {
    expect(relativePathProblem(path)).toBeUndefined();
    expect(parseChangeEntry(create(path)).path).toBe(path);
  });

  test.each([
    ["", /empty/],
    ["/", /absolute/],
    ["/etc/passwd", /absolute/],
    ["C:/x", /absolute/],
    ["c:x", /absolute/],
    ["C:\\x", /absolute/],
    ["..", /"\.\."/],
    ["../x", /"\.\."/],
    ["a/../../x", /"\.\."/],
    ["a/..", /"\.\."/],
    [".", /empty segment/],
    ["./a", /empty segment/],
    ["a/./b", /empty segment/],
    ["a//b", /empty segment/],
    ["a/", /empty segment/],
    ["a\\b", /\\/],
    ["..\\x", /\\/],
    ["a\0b", /NUL/],
    ["a\nb", /line break/],
    ["a\tb", /tab/],
    ["a\rb", /line break/],
    ["\u001b[2J", /control/],
    ["\ud800", /surrogate/],
    [".git", /\.git/],
    [".git/config", /\.git/],
    ["sub/.git/hooks/pre-commit", /\.git/],
    [".GIT/config", /\.git/],
    [".Git", /\.git/],
    ["．git", /\.git/],
    [".ｇｉｔ/config", /\.git/],
  ])("%j does not", (path, reason) => {
    expect(relativePathProblem(path)).toMatch(reason);
    const error = refusalError(create(path));
    expect(error.issues.map((issue) => issue.path)).toEqual(["path"]);
    expect(error.message.length).toBeLessThan(1_000);
    const rename = { ...create("fine"), operation: "rename", before: BEFORE, fromPath: path } as const;
    expect(paths(rename)).toEqual(["fromPath"]);
  });

  test("4,096 characters are still a path", () => {
    expect(relativePathProblem("x".repeat(4_096))).toBeUndefined();
    expect(relativePathProblem("x".repeat(4_097))).toMatch(/longer/);
  });

  test("200 segments are still a path", () => {
    expect(relativePathProblem(Array.from({ length: 200 }, () => "d").join("/"))).toBeUndefined();
    expect(relativePathProblem(Array.from({ length: 201 }, () => "d").join("/"))).toBe("has more than 200 segments");
  });

  test("what names .git on some file system lies inside it on all", () => {
    const aliases = [
      // HFS+ ignores zero-width characters and the byte order mark.
      ".g\u200cit/config",
      ".\u200dgit/config",
      ".git\ufeff/config",
      // NTFS drops trailing dots and spaces, has short names, and streams of the directory itself.
      ".git./config",
      ".git /config",
      "git~1/config",
      "GIT~1",
      ".git::$INDEX_ALLOCATION/config",
    ];
    expect(aliases.filter((path) => relativePathProblem(path) === undefined)).toEqual([]);
  });

  test("a path that passes never leads out of its root", () => {
    const segment = fc.oneof(
      fc.constantFrom("..", ".", "", "a", ".git", "C:", "\\", "\0"),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
        const path = segments.join("/");
        if (relativePathProblem(path) !== undefined) return;
        const resolved = new URL(`file:///sandbox/${path.split("/").map(encodeURIComponent).join("/")}`).pathname;
        expect(resolved.startsWith("/sandbox/")).toBe(true);
        expect(path.split("/").every((part) => part !== "" && part !== "." && part !== "..")).toBe(true);
      }),
    );
  });
});

describe("hostile input", () => {
  test("is not a resource", () => {
    withEveryHostileString((text) => expect(paths({ ...create("a"), resource: text })).toEqual(["resource"]));
  });

  test("as a path, a tool call or a decision it is kept as it is or refused", () => {
    withEveryHostileString((text) => {
      for (const key of ["path", "toolInvocation", "decision"] as const) {
        const input = { ...create("a"), [key]: text };
        try {
          expect(parseChangeEntry(input)[key]).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ValidationError);
          expect((error as ValidationError).message.length).toBeLessThan(1_000);
        }
      }
    });
  });

  test("anything that is not what it should be is a ValidationError", () => {
    const inputs: unknown[] = [
      { ...create("a"), resource: 5 },
      { ...create("a"), path: 5 },
      { ...create("a"), path: null },
      { ...create("a"), after: null },
      { ...create("a"), after: "hash" },
      { ...create("a"), after: {} },
      { ...create("a"), toolInvocation: 5 },
      { ...create("a"), decision: null },
      { ...create("a"), operation: "rename", before: BEFORE, fromPath: 5 },
      { ...create("a"), resource: { toString: 1, valueOf: 1 } },
      {},
    ];
    for (const input of inputs) {
      const title = JSON.stringify(input);
      let error: unknown;
      try {
        parseChangeEntry(input as HashedEntryInput);
      } catch (thrown) {
        error = thrown;
      }
      expect({ title, name: error instanceof Error ? error.name : "none" }).toEqual({ title, name: "ValidationError" });
    }
  });
});

function create(path: string): HashedEntryInput {
  return { resource: "api", path, operation: "create", after: AFTER };
}

function refusalError(input: HashedEntryInput): ValidationError {
  try {
    parseChangeEntry(input);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}

function paths(input: HashedEntryInput): string[] {
  return refusalError(input).issues.map(({ path }) => path);
}
