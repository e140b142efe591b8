import { describe, expect, test } from "vitest";
import { ConfigurationError, UsageError } from "../errors/errors.ts";
import { nextStep } from "../errors/next-step.ts";
import { findSetting, OUTPUT_FORMATS, resolveSetting, SETTINGS, type SettingSources } from "./settings.ts";

const NOTHING: SettingSources = { environment: {}, global: new Map(), project: new Map() };

describe("the list of settings", () => {
  test("has each key and each environment variable once, and defaults that fit", () => {
    expect(new Set(SETTINGS.map(({ key }) => key)).size).toBe(SETTINGS.length);
    expect(new Set(SETTINGS.map(({ env }) => env)).size).toBe(SETTINGS.length);
    for (const setting of SETTINGS) {
      expect(setting.description).not.toBe("");
      expect(setting.default === undefined ? undefined : setting.problem(setting.default)).toBeUndefined();
      expect(findSetting(setting.key)).toBe(setting);
    }
  });

  test("an unknown key is an error, with a suggestion when one is near", () => {
    const unknownKeyError = (key: string): UsageError => {
      try {
        findSetting(key);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
        return error as UsageError;
      }
      throw new Error("It was found.");
    };
    expect(unknownKeyError("core.fromat")).toMatchObject({ detail: { suggestion: "core.format" } });
    expect(unknownKeyError("core.fromat").next).toEqual([nextStep("config.get", { key: "core.format" })]);
    expect(unknownKeyError("zebra").detail).toEqual({ key: "zebra" });
    expect(unknownKeyError("zebra").next).toEqual([nextStep("config.list")]);
    for (const key of ["", "__proto__", "constructor", "CORE.FORMAT"]) expect(unknownKeyError(key).code).toBe("usage");
  });

  test.each([
    ["core.format", [...OUTPUT_FORMATS], ["", "JSON", "xml"]],
    ["core.automation-profile", ["ci", "Manual"], ["", "supervisd"]],
    ["core.user", ["ann", "Ann Other"], ["", "  ", "a\0b", "\ud800", "\u001b[2J", "x".repeat(201)]],
    ["context.strategies.enabled", ["simple-keyword", "a, b"], ["", ",", "A", "a b"]],
    ["context.strategies.own", ["mine=/a/b.mjs", "a=/x, b=/y"], ["", "mine", "mine=b.mjs", "=/a", "M=/a"]],
    ["context.trusted-modules", ["/a", "/a,/b/c.mjs"], ["", "a", "~/a", "/a,b"]],
    ["context.stage.pack", ["/a/pack.mjs"], ["", "pack.mjs", "/a\0"]],
    ["context.model", ["gpt-4o"], ["", " "]],
    ["context.tokenizer", ["o200k_base", "cl100k_base"], ["", "gpt2"]],
    ["context.model-window", ["8000", "128k"], ["", "-1", "many"]],
    ["context.response-reserve", ["0", "4k"], ["", "-1"]],
    ["context.embedding.url", ["http://localhost:11434/v1"], ["", "localhost", "file:///a", "https://me:pw@host"]],
    ["context.embedding.api-key-env", ["OPENAI_API_KEY"], ["", "sk-abc123", "1A"]],
  ])("%s takes %j and refuses %j", (key, good, bad) => {
    const { problem } = findSetting(key);
    expect(good.map((value) => problem(value))).toEqual(good.map(() => undefined));
    for (const value of bad) expect(problem(value)).toEqual(expect.any(String));
  });
});

describe("resolving", () => {
  const profile = findSetting("core.automation-profile");
  const sources: SettingSources = {
    environment: { [profile.env]: "manual" },
    project: new Map([[profile.key, "review"]]),
    global: new Map([[profile.key, "ci"]]),
  };

  test("the strongest level wins, and the chain names all of them", () => {
    expect(resolveSetting(profile, sources, "auto")).toEqual({
      key: profile.key,
      value: "auto",
      level: "flag",
      chain: [
        { level: "flag", value: "auto" },
        { level: "environment", value: "manual" },
        { level: "project", value: "review" },
        { level: "global", value: "ci" },
      ],
    });
    expect(resolveSetting(profile, sources)).toMatchObject({ level: "environment", value: "manual" });
    expect(resolveSetting(profile, { ...sources, environment: {} })).toMatchObject({
      level: "project",
      value: "review",
    });
    expect(resolveSetting(profile, { ...NOTHING, global: sources.global })).toMatchObject({
      level: "global",
      value: "ci",
    });
  });

  test("without any level the default is used, or nothing", () => {
    expect(resolveSetting(profile, NOTHING)).toEqual({
      key: profile.key,
      value: undefined,
      level: "default",
      chain: [],
    });
    expect(resolveSetting(findSetting("core.format"), NOTHING)).toMatchObject({ level: "default", value: "rich" });
  });

  test("an empty environment variable is none", () => {
    expect(resolveSetting(profile, { ...sources, environment: { [profile.env]: "" } }).level).toBe("project");
  });

  test("a project's own value counts only where a project may have one", () => {
    const format = findSetting("core.format");
    expect(resolveSetting(format, { ...NOTHING, project: new Map([[format.key, "json"]]) }).level).toBe("default");
  });

  test.each([
    ["flag", NOTHING, "nonsense", profile.key],
    ["environment", { ...NOTHING, environment: { [profile.env]: "nonsense" } }, undefined, profile.env],
    ["project", { ...NOTHING, project: new Map([[profile.key, "nonsense"]]) }, undefined, profile.key],
    ["global", { ...NOTHING, global: new Map([[profile.key, "nonsense"]]) }, undefined, profile.key],
  ] satisfies [string, SettingSources, string | undefined, string][])(
    "a value that does not fit at the level of the %s is an error that says where it is, never skipped",
    (level, given, flag, named) => {
      const resolve = (): unknown => resolveSetting(profile, given, flag);
      expect(resolve).toThrow(ConfigurationError);
      expect(resolve).toThrow(`of ${named} (${level})`);
    },
  );
});
