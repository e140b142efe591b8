import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fillVariables } from "./environment-text.ts";
import type { ValidationIssue } from "../errors/errors.ts";

const ENVIRONMENT = { NAME: "Ada", COUNT: "12", RATIO: "-0.5", ON: "true", EMPTY: "", VERSION: "1.2.3", ZERO: "007" };

function filled(value: unknown): { value: unknown; issues: ValidationIssue[] } {
  const issues: ValidationIssue[] = [];
  return { value: fillVariables(value, ENVIRONMENT, issues), issues };
}

test.each<[string, unknown]>([
  ["${NAME}", "Ada"],
  ["Dear ${NAME}, ${NAME}!", "Dear Ada, Ada!"],
  ["${COUNT}", 12],
  ["${RATIO}", -0.5],
  ["${ON}", true],
  ["${COUNT} times", "12 times"],
  ["${VERSION}", "1.2.3"],
  ["${ZERO}", "007"],
  ["${EMPTY}", ""],
  ["${UNSET:x}", "x"],
  ["${UNSET:}", ""],
  ["${UNSET:false}", false],
  ["${UNSET:http://127.0.0.1:1/v1}", "http://127.0.0.1:1/v1"],
  ["${EMPTY:x}", ""],
  ["$${NAME}", "${NAME}"],
  ["$NAME ${} ${1} ${NA ME} {NAME}", "$NAME ${} ${1} ${NA ME} {NAME}"],
  ["12", "12"],
])("%s becomes what it says", (text, expected) => {
  expect(filled(text)).toEqual({ value: expected, issues: [] });
});

test("one that is not set is a problem of its place, with what it may have been", () => {
  const { issues } = filled({ a: ["x", { b: "${NAEM} ${OTHER:}" }] });
  expect(issues).toMatchObject([{ path: "a.1.b", suggestion: "NAME" }]);
  expect(issues[0]?.message).toContain("NAEM is not set");
});

test("values are never looked at again, and keys stay as they are", () => {
  const issues: ValidationIssue[] = [];
  expect(fillVariables({ "${A}": "${A}" }, { A: "${B}", B: "x" }, issues)).toEqual({ "${A}": "${B}" });
  expect(issues).toEqual([]);
});

test("many variables of a long value end at the limit", () => {
  const issues: ValidationIssue[] = [];
  fillVariables("${A}".repeat(100_000), { A: "x".repeat(100_000) }, issues);
  expect(issues).toMatchObject([{ message: expect.stringContaining("1 MiB") }]);
});

test("what has no variables comes back equal", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(!JSON.stringify(value).includes("$"));
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      expect(filled(plain)).toEqual({ value: plain, issues: [] });
    }),
  );
});
