import { expect, test } from "vitest";
import { TOOL_DIRECTORIES, toolDirectoriesOf } from "./sandbox-settings.ts";
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
