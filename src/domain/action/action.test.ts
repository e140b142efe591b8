import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import { ACTOR_ROLES, assertAvailable, parseAction, type Action } from "./action.ts";
import { AgentsError, ValidationError } from "../errors/errors.ts";

const MINIMAL = { name: "fix", description: "Fix it", definitionOfDone: "It works", executionActor: "local/worker" };

describe("an action", () => {
  test("needs little; everything else has a default", () => {
    expect(parseAction(MINIMAL)).toEqual({
      name: "local/fix",
      description: "Fix it",
      longDescription: undefined,
      definitionOfDone: "It works",
      actors: { strategy: undefined, execution: "local/worker" },
      arguments: [],
      invariants: [],
      automationProfile: undefined,
      reusable: true,
      readOnly: false,
      stepActors: [],
    });
  });

  test("keeps every field it is given", () => {
    const action = parseAction({
      name: "Team/Fix",
      description: "Fix {area} {{literally}}",
      longDescription: "At length",
      definitionOfDone: "{area} works",
      strategyActor: "a/strategy",
      executionActor: "worker",
      arguments: [
        { name: "area", required: true, description: "Where", pattern: "[a-z]+", min: 1, max: 20 },
        { name: "count", type: "integer", default: "3", min: 1 },
        { name: "tags", type: "list", default: "a,b" },
        { name: "dry", type: "boolean", default: "yes" },
        { name: "ratio", type: "float", default: 0.5 },
      ],
      invariants: ["Tests stay green", "No new dependency"],
      automationProfile: "CI",
      reusable: false,
      readOnly: true,
    });
    expect(action).toMatchObject({
      name: "Team/Fix",
      longDescription: "At length",
      actors: { strategy: "a/strategy", execution: "local/worker" },
      invariants: ["Tests stay green", "No new dependency"],
      automationProfile: "ci",
      reusable: false,
      readOnly: true,
    });
    expect(Object.keys(action.actors)).toEqual([...ACTOR_ROLES]);
    expect(
      action.arguments.map((argument) => [argument.name, argument.type, argument.required, argument.default]),
    ).toEqual([
      ["area", "string", true, undefined],
      ["count", "integer", false, 3],
      ["tags", "list", false, ["a", "b"]],
      ["dry", "boolean", false, true],
      ["ratio", "float", false, 0.5],
    ]);
    expect(action.arguments[0]).toMatchObject({ description: "Where", pattern: "[a-z]+", min: 1, max: 20 });
  });
});

describe("refused", () => {
  test.each(["name", "description", "definitionOfDone"] as const)("without %s", (key) => {
    const { [key]: _, ...rest } = MINIMAL;
    expect(paths(rest)).toEqual([key]);
  });

  test.each([
    ["an unknown key, with a suggestion", { descripton: "x" }, ["descripton"], "description"],
    ["a key in snake case, with a suggestion", { read_only: true }, ["read_only"], "readOnly"],
    ["an unknown key that is like nothing", { zebra: 1 }, ["zebra"], undefined],
    ["an unknown key of an argument", { arguments: [{ name: "a", typ: "string" }] }, ["arguments.0.typ"], "type"],
  ])("%s", (_, more, expected, suggestion) => {
    const { issues } = refusalError({ ...MINIMAL, ...more });
    expect(issues.map(({ path }) => path)).toEqual(expected);
    expect(issues[0]?.suggestion).toBe(suggestion);
  });

  test.each([
    ["a name that is none", { name: "1fix" }, "name"],
    ["a reserved namespace", { name: "system/fix" }, "name"],
    ["a provider's namespace", { name: "openai/fix" }, "name"],
    ["an empty description", { description: " \n" }, "description"],
    ["an empty definition of done", { definitionOfDone: "" }, "definitionOfDone"],
    ["an empty long description", { longDescription: "" }, "longDescription"],
    ["a description with a NUL", { description: "a\0b" }, "description"],
    ["half a surrogate pair", { definitionOfDone: "\ud800" }, "definitionOfDone"],
    ["a description of a megabyte", { description: "x".repeat(1_000_000) }, "description"],
    ["a number as description", { description: 5 }, "description"],
    ["a strategy actor that is not a name", { strategyActor: "a b" }, "strategyActor"],
    ["an execution actor that is not a name", { executionActor: "" }, "executionActor"],
    ["an actor with an empty part", { strategyActor: "a/b//c" }, "strategyActor"],
    ["an actor of ours with three parts", { strategyActor: "local/b/c" }, "strategyActor"],
    ["an actor without a namespace on a server", { strategyActor: "prod:x" }, "strategyActor"],
    ["an actor with a letter that names do not have", { executionActor: "é" }, "executionActor"],
    ["an actor for a role that has no effect", { reviewActor: "local/worker" }, "reviewActor"],
    ["an empty invariant", { invariants: ["fine", ""] }, "invariants.1"],
    ["an invariant with a control character", { invariants: ["\u001b[2J"] }, "invariants.0"],
    ["an unknown profile", { automationProfile: "supervisd" }, "automationProfile"],
    ["a placeholder without an argument", { description: "Fix {area}" }, "description"],
    ["the same in the definition of done", { definitionOfDone: "{area} works" }, "definitionOfDone"],
    ["reusable that is not a boolean", { reusable: "yes" }, "reusable"],
    ["readOnly that is not a boolean", { readOnly: 1 }, "readOnly"],
    ["arguments that are not a list", { arguments: {} }, "arguments"],
    ["an argument without a name", { arguments: [{}] }, "arguments.0.name"],
    ["an argument's bad name", { arguments: [{ name: "1a" }] }, "arguments.0.name"],
    ["an argument called __proto__", { arguments: [{ name: "__proto__" }] }, "arguments.0.name"],
    ["an argument's unknown type", { arguments: [{ name: "a", type: "int" }] }, "arguments.0.type"],
    ["an argument declared twice", { arguments: [{ name: "a" }, { name: "b" }, { name: "a" }] }, "arguments.2.name"],
    ["a minimum above the maximum", { arguments: [{ name: "a", type: "integer", min: 2, max: 1 }] }, "arguments.0.min"],
    ["bounds of a boolean", { arguments: [{ name: "a", type: "boolean", min: 1 }] }, "arguments.0"],
    ["a minimum that is not a number", { arguments: [{ name: "a", min: Number.NaN }] }, "arguments.0.min"],
    ["a pattern that is none", { arguments: [{ name: "a", pattern: "(" }] }, "arguments.0.pattern"],
    ["a pattern of a number", { arguments: [{ name: "a", type: "integer", pattern: "1" }] }, "arguments.0.pattern"],
    ["a default of another type", { arguments: [{ name: "a", type: "integer", default: "x" }] }, "arguments.0.default"],
    [
      "a default out of bounds",
      { arguments: [{ name: "a", type: "integer", default: 5, max: 4 }] },
      "arguments.0.default",
    ],
    [
      "a default against the pattern",
      { arguments: [{ name: "a", default: "A", pattern: "[a-z]" }] },
      "arguments.0.default",
    ],
    ["a default with a NUL", { arguments: [{ name: "a", default: "\0" }] }, "arguments.0.default"],
  ])("%s", (_, more, path) => {
    expect(paths({ ...MINIMAL, ...more })).toEqual([path]);
  });

  test("a name of an argument as long as a megabyte", () => {
    expect(paths({ ...MINIMAL, arguments: [{ name: "a".repeat(1_000_000) }] })).toEqual(["arguments.0.name"]);
  });

  test.each([null, undefined, 5, "text", [], true])("%j instead of an object", (input) => {
    expect(paths(input)).toEqual([""]);
  });

  test("with every problem of meaning in the one error", () => {
    const found = paths({
      ...MINIMAL,
      name: "root/x",
      strategyActor: "!",
      description: "{a} {b}",
      arguments: [{ name: "b", pattern: "(" }],
      automationProfile: "none",
    });
    expect(found.sort()).toEqual(["arguments.0.pattern", "automationProfile", "description", "name", "strategyActor"]);
  });

  test("with every problem of form in the one error", () => {
    expect(paths({ nmae: 1, description: "", arguments: [{ name: 5 }] }).sort()).toEqual([
      "arguments.0.name",
      "definitionOfDone",
      "description",
      "name",
      "nmae",
    ]);
  });

  test("with the problems of form and of meaning together", () => {
    expect(paths({ ...MINIMAL, name: "system/x", descripton: "y" }).sort()).toEqual(["descripton", "name"]);
  });
});

describe("hostile input", () => {
  test.each([
    ["name", (text: string) => ({ ...MINIMAL, name: text })],
    ["actor", (text: string) => ({ ...MINIMAL, executionActor: text })],
    ["profile", (text: string) => ({ ...MINIMAL, automationProfile: text })],
    ["argument's name", (text: string) => ({ ...MINIMAL, arguments: [{ name: text }] })],
    ["key", (text: string) => Object.fromEntries([...Object.entries(MINIMAL), [text, 1]])],
  ])("cannot be an action's %s, and the error's message is fit to be shown", (_, input) => {
    withEveryHostileString((text) => {
      const error = refusalError(input(text));
      expect(error.message.length).toBeLessThan(2_000);
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
      expect(error.message).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/u);
    });
  });

  test.each(LOADED_WORDS)("%s is a name like any other, and no key", (word) => {
    const action = parseAction({ ...MINIMAL, name: word, description: `{${word}}`, arguments: [{ name: word }] });
    expect(action.arguments[0]?.name).toBe(word);
    expect(paths(Object.fromEntries([...Object.entries(MINIMAL), [word, 1]]))).toEqual([word]);
  });

  test("__proto__ as JSON brings it is an unknown key", () => {
    const input: unknown = JSON.parse(JSON.stringify(MINIMAL).replace("{", '{"__proto__": {"readOnly": true},'));
    expect(paths(input)).toEqual(["__proto__"]);
  });

  test("nothing but a ValidationError ever comes out", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(MINIMAL), "arguments", "invariants", "x"), fc.anything()),
        (more) => {
          try {
            parseAction({ ...MINIMAL, ...more });
          } catch (error) {
            expect(error).toBeInstanceOf(ValidationError);
          }
        },
      ),
    );
  });
});

test("an archived action takes no new plans", () => {
  const action: Action = { ...parseAction(MINIMAL), state: "available", version: 1, createdAt: 0, updatedAt: 0 };
  expect(() => assertAvailable(action)).not.toThrow();
  const archived = (): void => assertAvailable({ ...action, state: "archived" });
  expect(archived).toThrow(AgentsError);
  expect(archived).toThrow(/local\/fix.*archived/);
});

function refusalError(input: unknown): ValidationError {
  try {
    parseAction(input);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}

function paths(input: unknown): string[] {
  return refusalError(input).issues.map(({ path }) => path);
}
