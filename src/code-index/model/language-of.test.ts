import { expect, test } from "vitest";
import { languageOf } from "./language-of.ts";

test.each([
  ["src/a.ts", "typescript"],
  ["a.d.mts", "typescript"],
  ["A.TSX", "tsx"],
  ["a.jsx", "javascript"],
  ["a.pyi", "python"],
  ["main.go", "go"],
  ["lib.rs", "rust"],
  ["A.java", "java"],
  ["a.h", "cpp"],
  ["a.c++", "cpp"],
  ["README.md", "markdown"],
  ["Makefile", "text"],
  [".gitignore", "text"],
  [".ts", "text"],
  ["a.constructor", "text"],
  ["dir.ts/notes", "text"],
  ["logo.PNG", undefined],
  ["bun.lockb", undefined],
  ["font.woff2", undefined],
])("%s is %s", (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test.each([
  ["#!/usr/bin/env node", "javascript"],
  ["#!/usr/bin/env -S python3 -u", "python"],
  ["#! /usr/bin/python3.12", "python"],
  ["#!/bin/sh", "text"],
  ["#!", "text"],
  ["print()", "text"],
])("a script that begins with %s is %s", (firstLine, language) => {
  expect(languageOf("bin/run", firstLine)).toBe(language);
});

test("the name comes before the first line", () => {
  expect(languageOf("a.ts", "#!/usr/bin/env python3")).toBe("typescript");
});
