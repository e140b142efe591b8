import { describe, expect, test } from "vitest";
import {
  checkViewPolicy,
  CONTEXT_VIEWS,
  DEFAULT_MAX_FILE_SIZE,
  DEFAULT_MAX_TOTAL_SIZE,
  parseCountLimit,
  parseSizeLimit,
  parseTokens,
  parseView,
  resolveView,
  viewChain,
} from "./context-policy.ts";
import { UsageError, ValidationError } from "../errors/errors.ts";

const KNOWN = ["simple-keyword", "symbol-rank"];

describe("inheriting", () => {
  test("each view takes what it does not set from the one before it", () => {
    expect(viewChain("execute")).toEqual(["execute", "strategize", "default"]);
    const policy = {
      default: { include: ["src"], maxFiles: 10, maxFileSize: null },
      strategize: { exclude: ["*.md"], budget: 9_000 },
      execute: { include: [], maxFiles: 20 },
    };
    expect(resolveView(policy, "default")).toMatchObject({
      include: ["src"],
      exclude: [],
      maxFiles: 10,
      budget: undefined,
    });
    expect(resolveView(policy, "strategize")).toMatchObject({ include: ["src"], exclude: ["*.md"], maxFiles: 10 });
    const execute = resolveView(policy, "execute");
    expect(execute).toMatchObject({ view: "execute", include: [], exclude: ["*.md"], maxFiles: 20, budget: 9_000 });
    expect(execute).toMatchObject({ maxFileSize: undefined, maxTotalSize: DEFAULT_MAX_TOTAL_SIZE });
    expect(execute.from).toEqual({
      include: "execute",
      exclude: "strategize",
      maxFileSize: "default",
      maxTotalSize: "built in",
      maxFiles: "execute",
      strategies: "built in",
      budget: "strategize",
    });
  });

  test("without a policy the limits are on; null lifts one, and a later view may set it again", () => {
    for (const view of CONTEXT_VIEWS) {
      expect(resolveView({}, view)).toMatchObject({
        maxFileSize: DEFAULT_MAX_FILE_SIZE,
        maxTotalSize: DEFAULT_MAX_TOTAL_SIZE,
        maxFiles: undefined,
      });
    }
    const policy = { default: { maxTotalSize: null }, execute: { maxTotalSize: 5 } };
    expect(resolveView(policy, "strategize").maxTotalSize).toBeUndefined();
    expect(resolveView(policy, "execute").maxTotalSize).toBe(5);
  });
});

describe("what is refused", () => {
  test.each([
    [{ maxFileSize: 0 }, "must be a whole number of at least 1, not 0"],
    [{ maxTotalSize: -1 }, "not -1"],
    [{ maxFiles: 1.5 }, "not 1.5"],
    [{ budget: 0 }, "the budget must be"],
    [{ include: ["../x"] }, ".."],
    [{ exclude: Array.from({ length: 101 }, (_, index) => `f${index}`) }, "more than 100 patterns"],
    [{ strategies: ["symbol-rnak"] }, 'there is no strategy "symbol-rnak"'],
    [{ strategies: ["symbol-rank", "symbol-rank"] }, "named twice"],
  ])("%j: %s", (policy, message) => expect(() => checkViewPolicy(policy, KNOWN)).toThrow(message));

  test("every problem is told at once, a mistyped strategy with what was meant", () => {
    try {
      checkViewPolicy({ maxFiles: 0, include: [""], strategies: ["simple-keywrod"] }, KNOWN);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ValidationError);
      const { issues } = error as ValidationError;
      expect(issues.map(({ path }) => path)).toEqual(["include", "maxFiles", "strategies"]);
      expect(issues[2]).toMatchObject({ suggestion: "simple-keyword" });
    }
  });

  test("null is fine", () => {
    const policy = { maxFileSize: null, maxTotalSize: null, maxFiles: null, include: [], strategies: ["symbol-rank"] };
    expect(checkViewPolicy(policy, KNOWN)).toBe(policy);
  });

  test("an unknown view is an error with a suggestion; the case does not matter", () => {
    expect(parseView("Execute")).toBe("execute");
    expect(() => parseView("excute")).toThrow('did you mean "execute"');
    for (const text of ["", "__proto__", "review", "apply"]) expect(() => parseView(text)).toThrow(UsageError);
  });
});

describe("quantities", () => {
  test("sizes count in 1,024s, numbers and tokens in thousands", () => {
    expect(
      ["1", "512k", "1m", "1.5MiB", "2G", "3 kb", "none", "None"].map((text) => parseSizeLimit(text, "--x")),
    ).toEqual([1, 524_288, 1_048_576, 1_572_864, 2_147_483_648, 3_072, null, null]);
    expect(["7", "10k", "none"].map((text) => parseCountLimit(text, "--x"))).toEqual([7, 10_000, null]);
    expect(["8000", "32k", "1m", "0.5k"].map((text) => parseTokens(text, "--x"))).toEqual([
      8_000, 32_000, 1_000_000, 500,
    ]);
    expect(parseTokens("0", "--x", 0)).toBe(0);
  });

  test.each(["", "0", "-1", "-5k", "k", "12x", "1e9", "0x10", "1 2", "NaN", "99999999999999999999"])(
    "%j is refused",
    (text) => {
      for (const parse of [parseSizeLimit, parseCountLimit, parseTokens]) {
        expect(() => parse(text, "--budget")).toThrow(UsageError);
        expect(() => parse(text, "--budget")).toThrow("--budget");
      }
    },
  );

  test("tokens cannot be lifted", () => expect(() => parseTokens("none", "--budget")).toThrow(UsageError));
});
