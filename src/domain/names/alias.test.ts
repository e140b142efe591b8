import { expect, test } from "vitest";
import { LOADED_WORDS, withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import { aliasIssue } from "./alias.ts";

test.each([...LOADED_WORDS, "a", "Api_2-x", "x".repeat(100)])("%s is an alias", (alias) => {
  expect(aliasIssue(alias)).toBeUndefined();
});

test("a hostile string is none", () => {
  withEveryHostileString((text) => expect(aliasIssue(text)).toMatchObject({ path: "alias" }));
  for (const text of ["1st", "-a", "_a", "a b", "a/b", "x".repeat(101)]) expect(aliasIssue(text)).toBeDefined();
});
