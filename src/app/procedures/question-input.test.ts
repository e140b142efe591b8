import { expect, test } from "vitest";
import { UsageError } from "../../domain/errors/errors.ts";
import { parseInput } from "../base/parse-input.ts";
import { depthNumber } from "../queries/context-facts.ts";
import { askedContext, QuestionInput } from "./question-input.ts";

function asked(input: Readonly<Record<string, unknown>>, query = ""): ReturnType<typeof askedContext> {
  return askedContext(query, parseInput(QuestionInput, input));
}

test("everything that is not said has a default", () => {
  expect(asked({})).toEqual({
    question: {
      query: "",
      entities: [],
      focus: [],
      breadth: 2,
      depth: "full",
      strategy: undefined,
      preferredStrategies: [],
      requiredBackends: [],
    },
    budget: undefined,
    model: undefined,
  });
});

test("depths have names, in any spelling, and places", () => {
  for (const text of ["signatures_with_docs", "Signatures-With-Docs", "2"])
    expect(asked({ depth: text }).question.depth).toBe("signatures_with_docs");
  expect(["listing", "full"].map((text) => depthNumber(asked({ depth: text }).question.depth))).toEqual([0, 3]);
  expect(() => asked({ depth: "signaturs" })).toThrow('did you mean "signatures"');
});

test.each([
  [{ depth: "4" }],
  [{ depth: "" }],
  [{ breadth: -1 }],
  [{ breadth: 11 }],
  [{ breadth: 2.5 }],
  [{ budget: "-1" }],
  [{ budget: "ten" }],
  [{ focus: [" "] }],
  [{ focus: ["a\0b"] }],
])("%j is refused", (input) => expect(() => asked(input)).toThrow(UsageError));

test("a question with control characters, or endless, is refused; a budget may be nothing", () => {
  expect(() => asked({}, "\u001b[2J")).toThrow(UsageError);
  expect(() => asked({}, "x".repeat(10_001))).toThrow(UsageError);
  expect(asked({ budget: "0", breadth: 0 })).toMatchObject({ budget: 0, question: { breadth: 0 } });
});
