import { describe, expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import {
  DEFAULT_PROFILE,
  findProfile,
  keptProfile,
  PROFILE_NAMES,
  THRESHOLDS,
  type Threshold,
} from "./automation-profile.ts";
import { ValidationError } from "../errors/errors.ts";

describe("the built-in profiles", () => {
  test.each(PROFILE_NAMES)("%s says something about every threshold", (name) => {
    const profile = findProfile(name);
    expect(Object.keys(profile.thresholds)).toEqual([...THRESHOLDS]);
    for (const value of Object.values(profile.thresholds)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
    expect(profile.description).not.toBe("");
    expect(profile.allowUnsafeTools).toBe(!profile.requireSandbox);
    expect(profile.requireCheckpoints).toBe(profile.requireSandbox);
    expect(profile.requireConfinement).toBe(name !== "full-auto");
  });

  test("only full-auto holds nothing back, and only it and ci apply without asking", () => {
    expect(PROFILE_NAMES.filter((name) => findProfile(name).allowUnsafeTools)).toEqual(["full-auto"]);
    expect(PROFILE_NAMES.filter((name) => findProfile(name).thresholds.autoApply < 1)).toEqual(["ci", "full-auto"]);
  });

  test.each<[string, Partial<Record<Threshold, number>>]>([
    [
      "manual",
      { autoDecisionsStrategize: 1, autoExecute: 1, autoApply: 1, autoValidationFix: 1, autoStrategyRevision: 1 },
    ],
    [
      "review",
      { autoDecisionsStrategize: 1, autoExecute: 0, autoApply: 1, autoValidationFix: 0, autoStrategyRevision: 1 },
    ],
    [
      "supervised",
      { autoDecisionsStrategize: 0, autoExecute: 1, autoApply: 1, autoValidationFix: 0, autoStrategyRevision: 1 },
    ],
    [
      "cautious",
      { autoDecisionsStrategize: 0.8, autoExecute: 0.8, autoApply: 1, autoValidationFix: 0, autoStrategyRevision: 0.8 },
    ],
    [
      "trusted",
      { autoDecisionsStrategize: 0, autoExecute: 0, autoApply: 1, autoValidationFix: 0, autoStrategyRevision: 1 },
    ],
    [
      "auto",
      { autoDecisionsStrategize: 0, autoExecute: 0, autoApply: 1, autoValidationFix: 0, autoStrategyRevision: 0 },
    ],
    ["ci", { autoDecisionsStrategize: 0, autoExecute: 0, autoApply: 0, autoValidationFix: 0, autoStrategyRevision: 0 }],
    [
      "full-auto",
      { autoDecisionsStrategize: 0, autoExecute: 0, autoApply: 0, autoValidationFix: 0, autoStrategyRevision: 0 },
    ],
  ])("%s", (name, thresholds) => {
    expect(findProfile(name).thresholds).toEqual(thresholds);
  });

  test("the default is one of them, and names are found in any case", () => {
    expect(PROFILE_NAMES).toContain(DEFAULT_PROFILE);
    expect(findProfile("Full-AUTO").name).toBe("full-auto");
  });
});

test("a profile that was stored with thresholds that had no effect is read without them", () => {
  const now = findProfile("cautious");
  const old = { ...now, thresholds: { autoStrategize: 0.8, ...now.thresholds, autoChildPlans: 0.8 } };
  expect(keptProfile(JSON.stringify(old))).toEqual(now);
});

test("a profile that was written down before confinement could be required requires it, unless it is full-auto", () => {
  const kept = (name: string, own = name): boolean => {
    const { requireConfinement: _unknown, ...old } = findProfile(name);
    return keptProfile(JSON.stringify({ ...old, name: own })).requireConfinement;
  };
  expect(PROFILE_NAMES.filter((name) => !kept(name))).toEqual(["full-auto"]);
  expect(kept("full-auto", "local/mine")).toBe(true);
  const free = { ...findProfile("trusted"), requireConfinement: false };
  expect(keptProfile(JSON.stringify(free)).requireConfinement).toBe(false);
});

describe("an unknown profile", () => {
  test("is an error with a suggestion, never another profile", () => {
    expect(refusalError("supervisd").issues[0]).toMatchObject({ path: "automation_profile", suggestion: "supervised" });
    expect(refusalError("zebra", "core.profile").issues[0]).toMatchObject({ path: "core.profile" });
    expect(refusalError("zebra").issues[0]).not.toHaveProperty("suggestion");
    expect(refusalError("zebra").message).toContain(PROFILE_NAMES.join(", "));
  });

  test.each(LOADED_WORDS)("is %s", (word) => {
    expect(refusalError(word).message).toContain(word);
  });

  test("is any hostile string, and its message is fit to be shown", () => {
    withEveryHostileString((text) => {
      const { message } = refusalError(text);
      expect(message.length).toBeLessThan(1_000);
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
      expect(message).not.toMatch(/[\u0000-\u001f]/u);
      expect(message.isWellFormed()).toBe(true);
    });
  });
});

function refusalError(name: string, path?: string): ValidationError {
  try {
    findProfile(name, path);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}
