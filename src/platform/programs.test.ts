import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findProgram, requireProgram, searchPath } from "./programs.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cleveragents-programs-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

function program(directory: string, name = "tool", mode = 0o755): string {
  mkdirSync(join(home, directory), { recursive: true });
  const file = join(home, directory, name);
  writeFileSync(file, "");
  chmodSync(file, mode);
  return file;
}

test("only absolute entries of PATH are searched, in their order, and handed on", () => {
  const file = program("a");
  program("b");
  const before = process.cwd();
  process.chdir(home);
  try {
    const path = `b:./b::.:../${basename(home)}/b:${dirname(file)}:${join(home, "b")}`;
    expect(findProgram("tool", path)).toBe(file);
    expect(searchPath(path)).toBe(`${dirname(file)}:${join(home, "b")}`);
    expect(findProgram("tool", "b:./b::.")).toBeUndefined();
  } finally {
    process.chdir(before);
  }
});

test("a directory, or a file that cannot be executed, is not a program", () => {
  mkdirSync(join(home, "a", "tool"), { recursive: true });
  program("b", "tool", 0o644);
  const file = program("c");
  expect(findProgram("tool", ["a", "b", "c"].map((name) => join(home, name)).join(":"))).toBe(file);
});

test("one is looked for once for each PATH", () => {
  const [first, later] = [join(home, "a"), join(home, "b")];
  const file = program("b");
  expect(findProgram("tool", `${first}:${later}`)).toBe(file);
  program("a");
  expect(findProgram("tool", `${first}:${later}`)).toBe(file);
  expect(findProgram("tool", first)).toBe(join(first, "tool"));
});

test("one that is installed after it was missed is found", () => {
  const path = join(home, "a");
  expect(findProgram("tool", path)).toBeUndefined();
  const file = program("a");
  expect(findProgram("tool", path)).toBe(file);
});

test("without PATH the usual places are searched; a program that is missing is told", () => {
  vi.stubEnv("PATH", undefined);
  expect(searchPath()).toBe("/usr/local/bin:/usr/bin:/bin");
  vi.stubEnv("PATH", home);
  expect(() => requireProgram("cp")).toThrow("The program cp is not in any absolute directory of PATH.");
});
