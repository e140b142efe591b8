import { afterEach, expect, test, vi } from "vitest";
import { loginName } from "./user.ts";

afterEach(() => vi.unstubAllEnvs());

const noUser = (): never => {
  throw new Error("no such user");
};

test("the login name, or what is known when there is none", () => {
  expect(loginName(() => ({ username: "ann" }))).toBe("ann");
  vi.stubEnv("USER", "bob");
  expect(loginName(noUser)).toBe("bob");
  vi.stubEnv("USER", "");
  expect(loginName(noUser)).toMatch(/^uid \w+$/);
  expect(loginName()).not.toBe("");
});
