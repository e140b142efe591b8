import { expect, test } from "vitest";
import { ValidationError } from "../errors/errors.ts";
import { parseValidation } from "./validation.ts";

const base = { name: "tests", description: "All tests pass" };

function problems(input: unknown): string[] {
  try {
    parseValidation(input);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.issues.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("a command or a read-only tool, required unless said otherwise", () => {
  expect(parseValidation({ ...base, command: "npm test" })).toEqual({
    name: "local/tests",
    description: "All tests pass",
    mode: "required",
    check: { kind: "command", command: "npm test", cwd: undefined, timeoutMs: 600_000 },
  });
  const tool = { ...base, mode: "informational", tool: "search-files", params: { pattern: "x" } };
  expect(parseValidation(tool)).toMatchObject({
    mode: "informational",
    check: { kind: "tool", tool: "search_files", params: { pattern: "x" } },
  });
  expect(parseValidation({ ...base, command: "x", cwd: ".", timeout_ms: 1 }).check).toMatchObject({ timeoutMs: 1 });
});

test("every problem is told at once", () => {
  expect(problems({ name: "a b", mode: "requierd", command: " ", cwd: "/x", timeout_ms: 1.5, more: 1 })).toEqual([
    "description: is required",
    "command: must not be empty",
    "timeout_ms: must be a whole number of milliseconds",
    "more: unknown key",
    expect.stringContaining('name: "a b" is not a usable name'),
    'mode: is "requierd"; it must be required or informational',
    'cwd: "/x" is absolute',
  ]);
  expect(problems(null)).not.toEqual([]);
  expect(problems([])).not.toEqual([]);
  expect(problems({ ...base, command: 5 })).not.toEqual([]);
  expect(problems({ ...base, tool: "git_status", params: [] })).toEqual([
    "params: must be a set of parameters, name: value",
  ]);
  expect(problems({ ...base, name: "openai/x", command: "x" })).toEqual([expect.stringContaining("model provider")]);
});
