import { expect, test } from "vitest";
import { carryRulesOf, TOOL_DIRECTORIES, toolDirectoriesOf } from "./sandbox-settings.ts";
import { findSetting } from "./settings.ts";

test("the usual directories can be added to, replaced and left out", () => {
  expect(toolDirectoriesOf(undefined)).toEqual(TOOL_DIRECTORIES);
  expect(toolDirectoriesOf("default, /apps/gcc")).toEqual([...TOOL_DIRECTORIES, "/apps/gcc"]);
  expect(toolDirectoriesOf(".m2/repository")).toEqual([".m2/repository"]);
  expect(toolDirectoriesOf("none")).toEqual([]);
});

test("a directory is absolute or below the home", () => {
  const { problem } = findSetting("sandbox.tool-directories");
  for (const fine of ["default", "none", "/apps/gcc,.cargo/bin"]) expect(problem(fine)).toBeUndefined();
  for (const wrong of ["", ",", "~/x", "..", "../x", "/", ".", "a/../b"]) expect(problem(wrong)).toBeDefined();
  expect(findSetting("sandbox.unix-sockets").problem("yes")).toBeDefined();
});

test("a value names the parts of a checkout that come along", () => {
  const usual = carryRulesOf(undefined);
  expect(usual).toMatchObject({ names: expect.arrayContaining(["node_modules", ".venv", "target"]), caches: true });
  expect(carryRulesOf("default, .env, fixtures/")).toEqual({ ...usual, paths: [".env", "fixtures"] });
  expect(carryRulesOf("fixtures/big")).toEqual({ names: [], paths: ["fixtures/big"], caches: false });
  expect(carryRulesOf("none")).toEqual({ names: [], paths: [], caches: false });
  const { problem } = findSetting("sandbox.carry");
  for (const value of ["default", "none", "a/b, .env", "fixtures/"]) expect(problem(value)).toBeUndefined();
  for (const value of ["", "/absolute", "../up", "a//b", ".git"]) expect(problem(value)).toBeDefined();
});

test("a value names variables", () => {
  const { problem } = findSetting("sandbox.environment");
  expect(problem("DATABASE_URL, PGHOST")).toBeUndefined();
  for (const value of ["A B", "X=1", "HOME", "PATH"]) expect(problem(value)).toBeDefined();
});
