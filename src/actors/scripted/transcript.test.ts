import { describe, expect, test } from "vitest";
import { ValidationError } from "../../domain/errors/errors.ts";
import { parseTranscript } from "./transcript.ts";

function issuesOf(source: string): ValidationError["issues"] {
  try {
    parseTranscript(source, "demo.yaml");
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    throw error;
  }
  throw new Error("It was accepted.");
}

describe("a transcript", () => {
  test("is a list of turns, each with what it answers to and what it answers", () => {
    const source = `
turns:
  - match: { system: You plan, user: "/health\\\\s+end/i", tool: read_file, result: "200" }
    times: 3
    text: Done.
    tool_calls:
      - tool: write_file
        parameters: { path: a.ts, lines: [1, 2] }
      - tool: git_status
    delay_ms: 5
    usage: { input_tokens: 10, output_tokens: 2 }
  - error: rate_limit
    times: always
`;
    expect(parseTranscript(source, "demo.yaml")).toEqual({
      file: "demo.yaml",
      turns: [
        {
          match: { system: "You plan", user: /health\s+end/i, tool: "read_file", result: "200" },
          times: 3,
          text: "Done.",
          thought: "",
          toolCalls: [
            { tool: "write_file", params: { path: "a.ts", lines: [1, 2] } },
            { tool: "git_status", params: {} },
          ],
          delayMs: 5,
          error: undefined,
          usage: { inputTokens: 10, outputTokens: 2 },
        },
        {
          match: {},
          times: Number.POSITIVE_INFINITY,
          text: "",
          thought: "",
          toolCalls: [],
          delayMs: 0,
          error: "rate_limit",
          usage: { inputTokens: 0, outputTokens: 0 },
        },
      ],
    });
  });

  test.each([
    ["turn: []", { path: "turn", message: "unknown key", suggestion: "turns", line: 1 }],
    ["turns: []", { path: "turns", message: "must have at least one turn", line: 1 }],
    ["turns:\n  - txt: hi", { path: "turns.0.txt", message: "unknown key", suggestion: "text", line: 2 }],
    ["turns:\n  - text: hi\n    match:\n      usr: a", { path: "turns.0.match.usr", suggestion: "user", line: 4 }],
    [
      "turns:\n  - delay_ms: 1",
      { path: "turns.0", message: expect.stringContaining("must answer something"), line: 2 },
    ],
    [
      "turns:\n  - text: a\n    times: 0",
      { path: "turns.0.times", message: 'must be a number from 1, or "always"', line: 3 },
    ],
    [
      "turns:\n  - error: ratelimit",
      { path: "turns.0.error", message: expect.stringContaining("must be one of rate_limit"), line: 2 },
    ],
    ["turns:\n  - error: network\n    tool_calls: [{ tool: a }]", { path: "turns.0.error", line: 2 }],
    [
      "turns:\n  - text: a\n    match: { user: '/(/' }",
      { path: "turns.0.match.user", message: expect.stringContaining("is not a regular expression"), line: 3 },
    ],
    ["turns:\n  - tool_calls: [{ tool: a, parameters: [1] }]", { path: "turns.0.tool_calls.0.parameters", line: 2 }],
    [
      "turns:\n  - tool_calls: [{ parameters: {} }]",
      { path: "turns.0.tool_calls.0.tool", message: "is required", line: 2 },
    ],
    ["- text: hi", { message: "a transcript is a set of key: value lines", line: 1 }],
    ["turns: [", { line: 1 }],
  ])("%j is refused with place and suggestion", (source, issue) => {
    expect(issuesOf(source)).toEqual(
      expect.arrayContaining([expect.objectContaining({ file: "demo.yaml", ...issue })]),
    );
  });
});
