import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BUILT_IN, findProfile, PROFILE_NAMES, THRESHOLDS, type AutomationProfile } from "./automation-profile.ts";
import { judgeCall } from "./guards.ts";
import { looserFields, tighterProfile } from "./tighter-profile.ts";
import { TOOL_NAMES } from "../names/tool-names.ts";

const limit = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
const patterns = fc.subarray(["*", "git_*", "shell_execute", "read_file", "*_file", "delete_*"]);
const profiles: fc.Arbitrary<AutomationProfile> = fc
  .record({
    base: fc.constantFrom(...BUILT_IN),
    thresholds: fc.dictionary(fc.constantFrom(...THRESHOLDS), fc.double({ min: 0, max: 1, noNaN: true })),
    requireSandbox: fc.boolean(),
    requireCheckpoints: fc.boolean(),
    requireHumanApproval: fc.boolean(),
    allowUnsafeTools: fc.boolean(),
    maxRetriesPerStep: fc.integer({ min: 0, max: 9 }),
    toolDenylist: patterns,
    toolAllowlist: fc.option(patterns, { nil: undefined }),
    maxToolCalls: limit,
    maxToolCallsPerStep: limit,
    maxCallsPerTool: fc.dictionary(fc.constantFrom("git_*", "shell_execute"), fc.integer({ min: 0, max: 9 })),
    requireApprovalForWrites: fc.boolean(),
    requireApprovalForApply: fc.boolean(),
    maxCostUsd: limit,
  })
  .map(({ base, thresholds, maxCostUsd, toolDenylist, toolAllowlist, ...rest }) => {
    const {
      maxToolCalls,
      maxToolCallsPerStep,
      maxCallsPerTool,
      requireApprovalForWrites,
      requireApprovalForApply,
      ...switches
    } = rest;
    const limits = {
      maxToolCalls,
      maxToolCallsPerStep,
      maxCallsPerTool,
      requireApprovalForWrites,
      requireApprovalForApply,
    };
    return {
      ...base,
      ...switches,
      thresholds: { ...base.thresholds, ...thresholds },
      guards: { toolDenylist, toolAllowlist, ...limits },
      budget: { maxCostUsd },
    };
  });

const strictness = (profile: AutomationProfile): unknown => ({ ...profile, name: "", description: "" });

describe("the stricter of two profiles", () => {
  test("holds back every call that one of them holds back", () => {
    const calls = fc.record({
      tool: fc.constantFrom(...TOOL_NAMES),
      writes: fc.boolean(),
      step: fc.integer({ min: 0, max: 9 }),
      used: fc.integer({ min: 0, max: 9 }),
      failed: fc.integer({ min: 0, max: 9 }),
      approved: fc.boolean(),
    });
    fc.assert(
      fc.property(profiles, profiles, calls, (a, b, { tool, writes, step, used, failed, approved }) => {
        const counts = { tools: new Map([[tool, used]]), step, failed };
        const allows = (profile: AutomationProfile): boolean =>
          judgeCall({ tool, step: "s", writes }, profile, counts, approved) === undefined;
        expect(allows(tighterProfile(a, b))).toBe(allows(a) && allows(b));
      }),
    );
  });

  test("is at least as strict as both, in either order, and nothing stricter than that", () => {
    fc.assert(
      fc.property(profiles, profiles, (a, b) => {
        const both = tighterProfile(a, b);
        expect(looserFields(both, a)).toEqual([]);
        expect(looserFields(both, b)).toEqual([]);
        expect(looserFields(tighterProfile(b, a), both)).toEqual([]);
        expect(looserFields(both, tighterProfile(b, a))).toEqual([]);
        for (const name of THRESHOLDS)
          expect([a, b].map((one) => one.thresholds[name])).toContain(both.thresholds[name]);
      }),
    );
  });

  test.each(PROFILE_NAMES)("of manual and %s is manual", (name) => {
    const manual = findProfile("manual");
    expect(strictness(tighterProfile(findProfile(name), manual))).toEqual(strictness(manual));
  });

  test("names where a profile goes further", () => {
    expect(looserFields(findProfile("full-auto"), findProfile("ci"))).toEqual(
      expect.arrayContaining(["require_sandbox", "require_checkpoints", "allow_unsafe_tools"]),
    );
    expect(looserFields(findProfile("manual"), findProfile("full-auto"))).toEqual([]);
  });

  test("knows a field that is added later by its first word", () => {
    const later = (value: boolean): AutomationProfile =>
      ({ ...findProfile("ci"), requireNewThing: value, allowNewThing: value }) as AutomationProfile;
    expect(tighterProfile(later(false), later(true))).toMatchObject({ requireNewThing: true, allowNewThing: false });
    expect(tighterProfile(later(true), later(false))).toMatchObject({ requireNewThing: true, allowNewThing: false });
  });
});
