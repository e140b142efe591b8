import { describe, expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import { ValidationError } from "../errors/errors.ts";
import { parseProject } from "./project.ts";

describe("a project", () => {
  test("has a name and perhaps a description", () => {
    expect(parseProject({ name: "shop" })).toEqual({ name: "local/shop", description: undefined });
    expect(parseProject({ name: "team/shop", description: "" })).toEqual({ name: "team/shop", description: "" });
    expect(parseProject({ name: "prod:team/shop", description: "Sells\nthings" })).toEqual({
      name: "prod:team/shop",
      description: "Sells\nthings",
    });
  });

  test.each(LOADED_WORDS)("may be called %s", (word) => {
    expect(parseProject({ name: word }).name).toBe(`local/${word}`);
  });

  test.each(["system/shop", "google/shop"])("may not be called %s", (name) => {
    expect(() => parseProject({ name })).toThrow(ValidationError);
  });

  test.each(["a\0b", "\ud800", "\u001b[2J", "x".repeat(1_000_000)])(
    "may not be described by number %#",
    (description) => {
      expect(() => parseProject({ name: "shop", description })).toThrow(ValidationError);
      expect(() => parseProject({ name: "shop", description })).toThrow(/description/);
    },
  );

  test("is not called by any hostile string", () => {
    withEveryHostileString((text) => expect(() => parseProject({ name: text })).toThrow(ValidationError));
  });
});
