import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keptProfile, mustBeApproved, findProfile } from "./automation-profile.ts";
import { judgeCall, NO_GUARDS, tightened, toolMatches, type CallCounts, type Guards } from "./guards.ts";

const NONE: CallCounts = { tools: new Map(), step: 0, failed: 0 };
const CALL = { tool: "write_file", step: "s", writes: true };

function guardFor(guards: Partial<Guards>, counts: Partial<CallCounts> = {}, approved = false): string | undefined {
  const rules = { guards: { ...NO_GUARDS, ...guards }, maxRetriesPerStep: 3 };
  return judgeCall(CALL, rules, { ...NONE, ...counts }, approved)?.guard;
}

describe("patterns", () => {
  test.each([
    ["write_file", "write_file", true],
    ["write-file", "builtin/write_file", true],
    ["*_file", "write_file", true],
    ["*", "anything", true],
    ["w*f*e", "write_file", true],
    ["write", "write_file", false],
    ["write_*", "git_write_x", false],
    ["write.file", "write_file", false],
    ["(a+)+$", "aaaa", false],
    ["", "write_file", false],
  ])("%s and %s: %s", (pattern, tool, fits) => expect(toolMatches(pattern, tool)).toBe(fits));

  test("a pattern without a star fits itself and nothing longer", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("*")),
        fc.string({ minLength: 1 }),
        (text, more) => {
          expect(toolMatches(text, text)).toBe(true);
          expect(toolMatches(text, `builtin/x${text}${more}`)).toBe(false);
        },
      ),
    );
  });
});

describe("judging", () => {
  test("nothing speaks against a call without guards", () => expect(guardFor({})).toBeUndefined());

  test("the order is lists, limits, approval", () => {
    const guards: Guards = {
      toolDenylist: ["write_*"],
      toolAllowlist: ["git_*"],
      maxToolCallsPerStep: 1,
      maxToolCalls: 1,
      maxCallsPerTool: { "*": 1 },
      requireApprovalForWrites: true,
      requireApprovalForApply: true,
    };
    const counts = { tools: new Map([["x", 1]]), step: 1, failed: 4 };
    expect(guardFor(guards, counts)).toBe("tool_denylist");
    const undenied = { ...guards, toolDenylist: [] };
    expect(guardFor(undenied, counts)).toBe("tool_allowlist");
    const allowed = { ...undenied, toolAllowlist: undefined };
    expect(guardFor(allowed, counts)).toBe("max_retries_per_step");
    expect(guardFor(allowed, { ...counts, failed: 3 })).toBe("max_tool_calls_per_step");
    expect(guardFor({ ...allowed, maxToolCallsPerStep: 2 }, { ...counts, failed: 0 })).toBe("max_tool_calls");
    const perTool = { ...allowed, maxToolCallsPerStep: undefined, maxToolCalls: undefined };
    expect(guardFor(perTool, { ...counts, failed: 0 })).toBe("max_calls_per_tool");
    expect(guardFor(perTool)).toBe("require_approval_for_writes");
    expect(guardFor(perTool, {}, true)).toBeUndefined();
  });

  test("a limit of its own counts only tools that fit, and holds back only those", () => {
    const tools = new Map([
      ["read_file", 9],
      ["write-file", 1],
    ]);
    expect(guardFor({ maxCallsPerTool: { "write_*": 2 } }, { tools })).toBeUndefined();
    expect(guardFor({ maxCallsPerTool: { "write_*": 1 } }, { tools })).toBe("max_calls_per_tool");
    expect(guardFor({ maxCallsPerTool: { "read_*": 1 } }, { tools })).toBeUndefined();
  });
});

// oxlint-disable-next-line vitest/expect-expect -- the property is the assertion
test("tightening never allows what was not allowed", () => {
  const limit = fc.option(fc.nat(5), { nil: undefined });
  const list = fc.subarray(["write_file", "read_*", "*"]);
  fc.assert(
    fc.property(limit, limit, list, limit, limit, list, fc.nat(6), fc.nat(6), (a, b, denied, c, d, more, all, step) => {
      const guards = { ...NO_GUARDS, maxToolCalls: a, maxToolCallsPerStep: b, toolDenylist: denied };
      const strict = tightened(guards, { maxToolCalls: c, maxToolCallsPerStep: d, denied: more });
      const counts = { tools: new Map([["x", all]]), step };
      return guardFor(guards, counts) === undefined || guardFor(strict, counts) !== undefined;
    }),
  );
});

test("a profile that was written down before guards existed has none, and asks for no approval", () => {
  const {
    guards: _guards,
    budget: _budget,
    maxRetriesPerStep: _retries,
    requireHumanApproval: _asks,
    ...old
  } = findProfile("trusted");
  expect(keptProfile(JSON.stringify(old))).toEqual(findProfile("trusted"));
  expect(keptProfile(JSON.stringify(findProfile("full-auto")))).toEqual(findProfile("full-auto"));
  expect(mustBeApproved(keptProfile(JSON.stringify(old)))).toBe(false);
});
